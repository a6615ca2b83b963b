import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import { ResearchError } from '../errors.ts';
import { changeTitle, showProject } from '../present.ts';
import { freeName } from '../privacy/hidden-names.ts';
import { checkRange, cleanName } from '../project/checks.ts';
import { memoToStore } from '../project/memo.ts';
import { shownName } from '../project/source-text.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile } from '../session.ts';
import { segmentShape } from '../views.ts';
import { id, showSegment } from './shapes.ts';
import { undoOfCall } from './undo.ts';

const TYPES = ['text', 'audio', 'video', 'image', 'pdf'];

export const listSources = defineResearchTool({
  name: 'list_sources',
  title: 'List sources',
  summary: 'List all sources with metadata.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project', 'validation_error'],
  input: z.object({
    source_type: z.string().optional().describe("Filter: 'text', 'audio', 'video', 'image', 'pdf'"),
  }),
  output: z.object({
    count: z.int(),
    sources: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        type: z.string(),
        status: z.string(),
        file_path: z.string().nullable(),
        memo: z.string(),
        file_size: z.int(),
        origin: z.string().nullable(),
        code_count: z.int(),
        owner: z.string(),
        created_at: z.string(),
      }),
    ),
  }),

  async run({ source_type }, context) {
    const { lens } = await openSession(context);
    if (source_type !== undefined && !TYPES.includes(source_type)) {
      throw new ToolError(
        'validation_error',
        `Unknown source type "${source_type}". Use one of ${TYPES.join(', ')}.`,
      );
    }
    const counts = lens.reader.sourceCodingCounts();
    const sources = lens.reader
      .sources()
      .filter(({ type }) => source_type === undefined || type === source_type);
    return {
      count: sources.length,
      sources: sources.map((source) => ({
        id: source.id,
        name: lens.mask(source.name),
        type: source.type,
        status: counts.has(source.id) ? 'coded' : 'imported',
        file_path: source.mediaPath === null ? null : lens.mask(source.mediaPath),
        memo: lens.mask(source.memo),
        file_size: source.bytes,
        origin: null,
        code_count: counts.get(source.id) ?? 0,
        owner: lens.mask(source.owner),
        created_at: source.date,
      })),
    };
  },
});

export const readSourceContent = defineResearchTool({
  name: 'read_source_content',
  title: 'Read a source',
  summary:
    'Read document text with pagination. Positions are Unicode code points of the original text; where names were replaced, `replacements` maps the shown text to them. The next page starts at end_pos.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found', 'invalid_position'],
  input: z.object({
    source_id: id('Source ID'),
    start_pos: z.int().default(0),
    end_pos: z.int().optional(),
    max_length: z.int().default(50000),
  }),
  output: z.object({
    source_id: z.int(),
    source_name: z.string(),
    content: z.string(),
    start_pos: z.int(),
    end_pos: z.int(),
    total_length: z.int(),
    has_more: z.boolean(),
    replacements: z
      .array(
        z.object({
          content_start: z.int(),
          content_end: z.int(),
          start_pos: z.int(),
          end_pos: z.int(),
        }),
      )
      .optional(),
  }),

  async run({ source_id, start_pos, end_pos, max_length }, context) {
    const { lens } = await openSession(context, source_id);
    const source = lens.source(source_id);
    const { length } = lens.text(source_id);
    if (max_length < 1) throw new ToolError('validation_error', 'max_length must be 1 or more.');
    if (start_pos < 0 || start_pos > length || (end_pos !== undefined && end_pos < start_pos)) {
      throw new ResearchError(
        'invalid_position',
        `Source ${source_id} has ${length} characters; start_pos ${start_pos} and end_pos ${end_pos ?? length} do not lie in it in this order.`,
        { detail: { source_id, total_length: length } },
      );
    }
    const end = Math.min(end_pos ?? length, start_pos + max_length, length);
    const { content, replacements } = lens.passage(source_id, start_pos, end);
    return {
      source_id,
      source_name: lens.mask(source.name),
      content,
      start_pos,
      end_pos: end,
      total_length: length,
      has_more: end < length,
      ...(lens.masked ? { replacements: [...replacements] } : {}),
    };
  },
});

export const listSegmentsForSource = defineResearchTool({
  name: 'list_segments_for_source',
  title: 'List coded segments of a source',
  summary: 'Get coded text segments for a source, with who made each.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found'],
  input: z.object({ source_id: id() }),
  output: z.array(segmentShape),

  async run({ source_id }, context) {
    const { project, lens } = await openSession(context, source_id);
    lens.source(source_id);
    const codings = lens.reader.codings({ sourceId: source_id });
    const names = new Map(lens.reader.codes().map((code) => [code.id, code.name]));
    const makers = await project.store.journal.makers('code_text', codings);
    return codings.map((coding) =>
      showSegment(lens, coding, names.get(coding.codeId) ?? '', makers.get(coding.id)),
    );
  },
});

export const navigateToSegment = defineResearchTool({
  name: 'navigate_to_segment',
  title: 'Show a passage to the researcher',
  summary: 'Navigate UI to a specific position. Says whether a page was open to show it.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found', 'invalid_position'],
  input: z.object({
    source_id: id(),
    start_pos: z.int(),
    end_pos: z.int(),
    highlight: z.boolean().default(true),
  }),
  output: z.object({
    navigated_to: z.object({
      source_id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
      highlight: z.boolean(),
    }),
    shown: z.boolean(),
    message: z.string(),
  }),

  async run({ source_id, start_pos, end_pos, highlight }, context) {
    const { project, lens } = await openSession(context, source_id);
    checkRange(lens.text(source_id), source_id, start_pos, end_pos);
    const place = { source_id, start_pos, end_pos, highlight };
    const { listeners, watching } = await context.services.events.publish(
      'research.navigate',
      { ...place, project: project.id },
      `research:${project.id}`,
    );
    return {
      navigated_to: place,
      shown: watching > 0,
      message:
        watching > 0
          ? 'The open page shows the passage.'
          : listeners > 0
            ? 'Another page of the web app is open; it offers the researcher a link to the passage.'
            : 'No page is open; the researcher can open one in the web app.',
    };
  },
});

export const addSource = defineResearchTool({
  name: 'add_source',
  title: 'Add a text source',
  summary: 'Add a text source to the project. Line ends become LF; origin is stored in the memo.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'conflict', 'validation_error', 'busy'],
  input: z.object({
    name: z.string(),
    content: z.string(),
    memo: z.string().optional(),
    origin: z.string().optional(),
  }),
  output: z.object({
    source_id: z.int(),
    name: z.string(),
    type: z.string(),
    status: z.string(),
    file_size: z.int(),
    total_length: z.int(),
  }),

  async present({ name, content, memo, origin }, context) {
    const { target } = await showProject(context);
    return {
      ...changeTitle('Add', 'Added', `source ${quoted(name)} to ${target.label}`, target),
      act: 'add',
      kind: 'file',
      gist: content,
      effect: { text: '1 source added', detail: `${content.length.toLocaleString('en-US')} characters` },
      body: [
        { type: 'document', title: 'Source', heading: name, text: content, source: 'agent' },
        ...[memo && `Memo: ${memo}`, origin && `Origin: ${origin}`]
          .filter((one) => typeof one === 'string' && one !== '')
          .map((text) => ({
            type: 'document' as const,
            title: 'Note',
            text: String(text),
            source: 'agent' as const,
          })),
      ],
      covers: ['name', 'content', 'memo', 'origin'],
    };
  },

  check({ content }) {
    if (!content.trim()) throw new ToolError('validation_error', 'content is empty; a source needs text.');
  },

  rollback: undoOfCall,

  async run({ name, content, memo, origin }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'add_source');
    const note = [memo ?? '', origin ? `Origin: ${origin}` : ''].filter(Boolean).join('\n');
    const kept = memoToStore(context.principal, note);
    return session.project.store.write(by, (project) => {
      const free = freeName(cleanName(name, 'source'), project, session.lens);
      const source = project.addSource({ name: free, text: content, memo: kept });
      const made = project.source(source);
      return {
        source_id: source,
        name: shownName(made?.name ?? name),
        type: made?.type ?? 'text',
        status: 'imported',
        file_size: made?.bytes ?? 0,
        total_length: project.text(source)?.length ?? 0,
      };
    });
  },

  reconcile: ({ name }, context) =>
    reconcile(context, (change, project) => {
      const source = addedIds(change, 'source')[0] ?? 0;
      return {
        source_id: source,
        name,
        type: project.source(source)?.type ?? 'text',
        status: 'imported',
        file_size: project.source(source)?.bytes ?? 0,
        total_length: project.text(source)?.length ?? 0,
      };
    }),
});
