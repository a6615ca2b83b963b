import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { noCode } from '../project/checks.ts';
import { pickSources } from '../retrieval/groups.ts';
import { findPassages, type Passage } from '../retrieval/passages.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { attributeFilter, contextChars, id, page, pageOf, passageShape, showPassage } from './shapes.ts';

const codeIds = (doc: string) => z.array(id()).optional().describe(doc);

export const listSegmentsForCode = defineResearchTool({
  name: 'list_segments_for_code',
  title: 'List all segments of a code',
  summary: 'Get every passage coded with a code, in the order of the sources, with the text around it.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project', 'code_not_found', 'source_not_found'],
  input: z.object({ code_id: id(), source_id: id().optional(), context_chars: contextChars(), ...page }),
  output: z.object({
    code_id: z.int(),
    code_name: z.string(),
    memo: z.string(),
    total: z.int(),
    has_more: z.boolean(),
    segments: z.array(passageShape.extend({ memo: z.string(), owner: z.string(), important: z.boolean() })),
  }),

  async run({ code_id, source_id, context_chars, limit, offset }, context) {
    const { lens } = await openSession(context, 'all');
    const code = lens.reader.code(code_id);
    if (!code) throw noCode(code_id);
    if (source_id !== undefined) lens.source(source_id);
    const codings = lens.reader.codings({
      codeId: code_id,
      ...(source_id === undefined ? {} : { sourceId: source_id }),
    });
    const shown = pageOf(codings, limit, offset);
    return {
      code_id,
      code_name: lens.mask(code.name),
      memo: lens.mask(code.memo),
      total: codings.length,
      has_more: offset + shown.length < codings.length,
      segments: shown.map((coding) => ({
        ...showPassage(lens, { ...coding, codeIds: [coding.codeId], segmentIds: [coding.id] }, context_chars),
        memo: lens.mask(coding.memo),
        owner: lens.mask(coding.owner),
        important: coding.important,
      })),
    };
  },
});

export const searchSegments = defineResearchTool({
  name: 'search_segments',
  title: 'Search coded passages',
  summary:
    'Find passages by codes: all_of (AND), any_of (OR), none_of (NOT), where codes overlap or occur in the same source; limited to sources, cases or attribute values.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project', 'code_not_found', 'source_not_found', 'not_found', 'validation_error'],
  input: z.object({
    all_of: codeIds('Every one of these codes (AND).'),
    any_of: codeIds('At least one of these codes (OR).'),
    none_of: codeIds('None of these codes (NOT).'),
    relation: z
      .enum(['overlap', 'same_source'])
      .default('overlap')
      .describe(
        'overlap: the codes share text, and the shared part is returned; same_source: both are in the source.',
      ),
    source_ids: z.array(id()).optional(),
    case_ids: z.array(id()).optional(),
    attributes: attributeFilter(),
    context_chars: contextChars(),
    ...page,
  }),
  output: z.object({
    total: z.int(),
    source_count: z.int(),
    has_more: z.boolean(),
    passages: z.array(passageShape),
  }),

  async run(
    { all_of = [], any_of = [], none_of = [], relation, context_chars, limit, offset, ...where },
    context,
  ) {
    const { lens } = await openSession(context, 'all');
    if (all_of.length + any_of.length === 0)
      throw new ToolError('validation_error', 'Give all_of or any_of: at least one code to look for.');
    for (const code of [...all_of, ...any_of, ...none_of]) if (!lens.reader.code(code)) throw noCode(code);
    const within = pickSources(lens, where);
    const found: Passage[] = findPassages(
      lens.reader.codings().filter((coding) => within(coding)),
      { allOf: all_of, anyOf: any_of, noneOf: none_of, relation },
    );
    const shown = pageOf(found, limit, offset);
    return {
      total: found.length,
      source_count: new Set(found.map(({ sourceId }) => sourceId)).size,
      has_more: offset + shown.length < found.length,
      passages: shown.map((passage) => showPassage(lens, passage, context_chars)),
    };
  },
});
