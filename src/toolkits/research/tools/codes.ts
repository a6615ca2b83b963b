import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { PresentationBlock } from '../../../contract/presentation.ts';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import {
  changeTitle,
  codeNamed,
  codeQuoted,
  memoBlock,
  segments,
  segmentTable,
  showProject,
} from '../present.ts';
import { refuseHiddenNames } from '../privacy/hidden-names.ts';
import { type PrivacyView, personPrivacyView } from '../privacy/privacy-view.ts';
import { nameTaken, noCode } from '../project/checks.ts';
import { memoToStore, publicMemo } from '../project/memo.ts';
import type { Code } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile } from '../session.ts';
import { codeShape } from '../views.ts';
import { id, showCodes } from './shapes.ts';
import { undoOfCall } from './undo.ts';

/** Segments shown with a code that is changed. */
const EXAMPLES = 3;

export const listCodes = defineResearchTool({
  name: 'list_codes',
  title: 'List codes',
  summary: 'Get all codes in the codebook.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project'],
  input: z.object({}),
  output: z.array(codeShape),

  async run(_, context) {
    const { lens } = await openSession(context);
    return showCodes(lens, lens.reader.codes());
  },
});

export const getCode = defineResearchTool({
  name: 'get_code',
  title: 'Get a code',
  summary: 'Get details for a specific code.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  errors: ['no_project', 'code_not_found'],
  input: z.object({ code_id: id() }),
  output: codeShape,

  async run({ code_id }, context) {
    const { lens } = await openSession(context);
    const code = lens.reader.code(code_id);
    const [shown] = code ? showCodes(lens, [code]) : [];
    if (!shown) throw noCode(code_id);
    return shown;
  },
});

export const createCode = defineResearchTool({
  name: 'create_code',
  title: 'Create a code',
  summary: 'Create a new code with name and color.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'conflict', 'validation_error', 'not_found', 'busy'],
  input: z.object({
    name: z.string(),
    color: z.string().default('#808080'),
    memo: z.string().optional(),
    category_id: id().optional(),
  }),
  output: z.object({
    code_id: z.int(),
    name: z.string(),
    color: z.string(),
    memo: z.string(),
    category_id: z.int().nullable(),
  }),

  async present({ name, color, memo = '', category_id }, context) {
    const { target, asker, reader } = await showProject(context);
    const same = asker.reader.codes().find((one) => one.name.toLowerCase() === name.trim().toLowerCase());
    if (same) throw nameTaken('code', asker.mask(same.name), same.id);
    const category = reader.reader.categories().find((one) => one.id === category_id);
    return {
      ...changeTitle('Create', 'Created', `${codeQuoted(name)} in ${target.label}`, target),
      act: 'create',
      kind: 'label',
      gist: publicMemo(memo),
      effect: {
        text: '1 code added',
        detail: category ? `Under ${reader.mask(category.name)}` : 'At the top level',
      },
      body: [
        { type: 'document', title: 'Code', heading: name, text: publicMemo(memo), source: 'agent' },
        ...(color === '#808080' ? [] : [colorBlock(color)]),
      ],
      covers: ['name', 'memo', 'category_id', 'color'],
    };
  },

  check: ({ name, memo }, services, principal) => refuseHiddenNames([name, memo], services, principal),

  rollback: undoOfCall,

  async run({ name, color, memo, category_id }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'create_code');
    return session.project.store.write(by, (project) => {
      // QualCoder distinguishes names by case; no one wants two codes that differ in nothing else.
      const same = project.codes().find((code) => code.name.toLowerCase() === name.trim().toLowerCase());
      if (same) throw nameTaken('code', session.lens.mask(same.name), same.id);
      const kept = memoToStore(context.principal, memo ?? '');
      const code = project.addCode({ name, color, memo: kept, categoryId: category_id ?? null });
      const made = project.code(code);
      return {
        code_id: code,
        name: made?.name ?? name,
        color: made?.color ?? color,
        memo: kept,
        category_id: made?.categoryId ?? null,
      };
    });
  },

  reconcile: ({ name, color, memo, category_id }, context) =>
    reconcile(context, (change) => ({
      code_id: addedIds(change, 'code_name')[0] ?? null,
      name,
      color,
      memo: memo ?? '',
      category_id: category_id ?? null,
    })),
});

export const updateCode = defineResearchTool({
  name: 'update_code',
  title: 'Update a code',
  summary: 'Update code name, color, memo or category. Omitted fields stay.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'conflict', 'validation_error', 'not_found', 'busy'],
  input: z.object({
    code_id: id(),
    name: z.string().optional(),
    color: z.string().optional(),
    memo: z.string().optional(),
    category_id: id().optional(),
  }),
  output: z.object({
    code_id: z.int(),
    name: z.string(),
    color: z.string(),
    memo: z.string(),
    category_id: z.int().nullable(),
  }),

  async present({ code_id, name, color, memo, category_id }, context) {
    const { target, asker, reader } = await showProject(context);
    const known = codeNamed(asker, code_id);
    const now = codeNamed(reader, code_id);
    const used = reader.reader.codingCounts().get(code_id) ?? 0;
    const category = reader.reader.categories().find((one) => one.id === category_id);
    const rows = [
      ...(name === undefined ? [] : [['Name', now.name, name]]),
      ...(color === undefined ? [] : [['Colour', now.color ?? '', color]]),
      ...(memo === undefined ? [] : [['Memo', publicMemo(now.memo), publicMemo(memo)]]),
      ...(category_id === undefined
        ? []
        : [['Category', '', category ? reader.mask(category.name) : 'unknown']]),
    ];
    if (rows.length === 0)
      throw new ToolError('validation_error', 'Nothing to change: give name, color, memo or category_id.');
    return {
      ...(name === undefined
        ? changeTitle('Change', 'Changed', `${codeQuoted(known.name)} in ${target.label}`, target)
        : changeTitle('Rename', 'Renamed', `${quoted(known.name, 20)} to ${quoted(name, 20)}`, target)),
      act: 'change',
      kind: 'label',
      gist: rows.map(([field = '', , after = '']) => `${field}: ${after}`).join(', '),
      effect: { text: '1 code changed', detail: `Used for ${segments(used)}, which stay` },
      body: [
        { type: 'table', title: 'Changes', columns: ['Field', 'Now', 'After'], rows, source: 'countersign' },
        ...memoBlock(now),
        ...segmentTable(reader, 'Segments', reader.reader.codings({ codeId: code_id }).slice(0, EXAMPLES)),
      ],
      covers: ['code_id', 'name', 'color', 'memo', 'category_id'],
    };
  },

  check: ({ name, memo }, services, principal) => refuseHiddenNames([name, memo], services, principal),

  rollback: undoOfCall,

  async run({ code_id, name, color, memo, category_id }, context) {
    const session = await openSession(context);
    if (name === undefined && color === undefined && memo === undefined && category_id === undefined) {
      throw new ToolError('validation_error', 'Nothing to change: give name, color, memo or category_id.');
    }
    const by = await changeBy(context, session, 'update_code');
    const code = await session.project.store.write(by, (project) => {
      const old = project.code(code_id);
      if (!old) throw noCode(code_id);
      const folded = name?.trim().toLowerCase();
      const same = project
        .codes()
        .find((other) => other.id !== code_id && other.name.toLowerCase() === folded);
      if (same) throw nameTaken('code', session.lens.mask(same.name), same.id);
      project.updateCode(code_id, {
        name,
        color,
        memo: memo === undefined ? undefined : memoToStore(context.principal, memo, old.memo),
        categoryId: category_id,
      });
      return project.code(code_id) ?? old;
    });
    return answer(session.lens, session.lens.reader.code(code.id) ?? code);
  },

  reconcile: ({ code_id }, context) =>
    reconcile(context, (_, project) => {
      const code = project.code(code_id);
      return code ? answer(personPrivacyView(project), code) : null;
    }),
});

const colorBlock = (color: string): PresentationBlock => ({
  type: 'fields',
  title: 'Colour',
  source: 'agent',
  rows: [{ name: 'color', label: 'Colour', depth: 0, type: 'text', text: color }],
});

/** As create_code answers. */
const answer = (lens: PrivacyView, { id: code_id, name, color, memo, categoryId }: Code) => ({
  code_id,
  name: lens.mask(name),
  color,
  memo: lens.mask(memo),
  category_id: categoryId,
});
