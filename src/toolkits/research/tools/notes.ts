import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import { presentNote } from '../present-codings.ts';
import { refuseHiddenNames } from '../privacy/hidden-names.ts';
import { checkRange, noCode, noSource, requireCoding } from '../project/checks.ts';
import { memoToStore } from '../project/memo.ts';
import type { ProjectReader, ProjectWriter } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile, sessionOf } from '../session.ts';
import { id, page, pageOf } from './shapes.ts';
import { undoOfCall } from './undo.ts';

const KINDS = ['project', 'source', 'code', 'case', 'segment', 'annotation'] as const;

export const listMemos = defineResearchTool({
  name: 'list_memos',
  title: 'List memos',
  summary: 'Read memos of the project, sources, codes, cases and segments, and annotations of the text.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found'],
  input: z.object({
    kind: z.enum(KINDS).optional(),
    source_id: id('Only the memo, segments and annotations of this source').optional(),
    ...page,
  }),
  output: z.object({
    total: z.int(),
    has_more: z.boolean(),
    memos: z.array(
      z.object({
        kind: z.enum(KINDS),
        id: z.int().nullable(),
        name: z.string(),
        memo: z.string(),
        owner: z.string(),
        source_id: z.int().optional(),
        start_pos: z.int().optional(),
        end_pos: z.int().optional(),
      }),
    ),
  }),

  async run({ kind, source_id, limit, offset }, context) {
    const { lens } = await openSession(context, source_id ?? 'all');
    if (source_id !== undefined) lens.source(source_id);
    const found = memosOf(lens.reader, source_id).filter(
      (item) => item.memo.trim() !== '' && (kind === undefined || item.kind === kind),
    );
    const shown = pageOf(found, limit, offset);
    return {
      total: found.length,
      has_more: offset + shown.length < found.length,
      memos: shown.map((item) => ({
        ...item,
        name: lens.mask(item.name),
        memo: lens.mask(item.memo),
        owner: lens.mask(item.owner),
      })),
    };
  },
});

function memosOf(reader: ProjectReader, sourceId: number | undefined) {
  const of = sourceId === undefined ? {} : { sourceId };
  const isOf = (item: { readonly id: number }) => sourceId === undefined || item.id === sourceId;
  const names = new Map(reader.codes().map((code) => [code.id, code.name]));
  const { memo, name, coderName } = reader.info();
  const whole =
    sourceId === undefined ? [{ kind: 'project' as const, id: null, name, memo, owner: coderName }] : [];
  const plain = <K extends 'source' | 'code' | 'case'>(
    kind: K,
    items: readonly { id: number; name: string; memo: string; owner: string }[],
  ) => items.map((item) => ({ kind, id: item.id, name: item.name, memo: item.memo, owner: item.owner }));
  const place = (item: { sourceId: number; start: number; end: number }) => ({
    source_id: item.sourceId,
    start_pos: item.start,
    end_pos: item.end,
  });
  return [
    ...whole,
    ...plain('source', reader.sources().filter(isOf)),
    ...(sourceId === undefined ? [...plain('code', reader.codes()), ...plain('case', reader.cases())] : []),
    ...reader.codings(of).map((item) => ({
      kind: 'segment' as const,
      id: item.id,
      name: names.get(item.codeId) ?? '',
      memo: item.memo,
      owner: item.owner,
      ...place(item),
    })),
    ...reader.annotations(sourceId).map((item) => ({
      kind: 'annotation' as const,
      id: item.id,
      name: '',
      memo: item.memo,
      owner: item.owner,
      ...place(item),
    })),
  ];
}

const TARGETS = ['project', 'source', 'code', 'case', 'segment'] as const;

export const updateMemo = defineResearchTool({
  name: 'update_memo',
  title: 'Write a memo',
  summary:
    'Write the memo of the project, a source, code, case or segment. The private part of a memo stays as it is.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'code_not_found', 'not_found', 'validation_error', 'busy'],
  input: z.object({
    target: z.enum(TARGETS),
    id: id('ID of the source, code, case or segment').optional(),
    memo: z.string(),
  }),
  output: z.object({ target: z.string(), id: z.int().nullable(), memo: z.string() }),

  present: ({ target, memo }, context) =>
    presentNote(
      { verb: 'Write', done: 'Wrote', what: `the memo of a ${target}`, text: memo },
      ['target', 'memo'],
      context,
    ),
  rollback: undoOfCall,

  async check({ target, id: of, memo }, services, principal) {
    if (target !== 'project' && of === undefined)
      throw new ToolError('validation_error', `Give the id of the ${target}.`);
    oldMemo((await sessionOf(services, principal)).lens.reader, target, of ?? 0);
    await refuseHiddenNames([memo], services, principal);
  },

  async run({ target, id: of = 0, memo }, context) {
    const session = await openSession(context);
    oldMemo(session.lens.reader, target, of);
    const by = await changeBy(context, session, 'update_memo');
    const kept = await session.project.store.write(by, (project) => {
      const text = memoToStore(context.principal, memo, oldMemo(project, target, of));
      writeMemo(project, target, of, text);
      return text;
    });
    return { target, id: target === 'project' ? null : of, memo: session.lens.tell(kept) };
  },

  reconcile: ({ target, id: of, memo }, context) =>
    reconcile(context, () => ({ target, id: of ?? null, memo })),
});

/** The memo as it is, or the error that says what does not exist. */
function oldMemo(project: ProjectReader, target: (typeof TARGETS)[number], of: number): string {
  switch (target) {
    case 'project':
      return project.info().memo;
    case 'source': {
      const source = project.source(of);
      if (!source) throw noSource(of);
      return source.memo;
    }
    case 'code': {
      const code = project.code(of);
      if (!code) throw noCode(of);
      return code.memo;
    }
    case 'segment':
      return requireCoding(project, of).memo;
    case 'case': {
      const found = project.cases().find((item) => item.id === of);
      if (!found) throw new ToolError('not_found', `Case ${of} not found.`, { detail: { case_id: of } });
      return found.memo;
    }
    default:
      return target satisfies never;
  }
}

function writeMemo(project: ProjectWriter, target: (typeof TARGETS)[number], of: number, memo: string): void {
  if (target === 'project') project.setProjectMemo(memo);
  else if (target === 'source') project.updateSource(of, { memo });
  else if (target === 'code') project.updateCode(of, { memo });
  else if (target === 'segment') project.updateCoding(of, { memo });
  else project.updateCase(of, { memo });
}

export const addAnnotation = defineResearchTool({
  name: 'add_annotation',
  title: 'Annotate a passage',
  summary: 'Add a note to a range of text, without a code.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'invalid_position', 'validation_error', 'conflict', 'busy'],
  input: z.object({ source_id: id(), start_pos: z.int(), end_pos: z.int(), memo: z.string() }),
  output: z.object({ annotation_id: z.int() }),

  present: ({ memo }, context) =>
    presentNote({ verb: 'Annotate', done: 'Annotated', what: 'a passage', text: memo }, ['memo'], context),
  rollback: undoOfCall,

  async check({ source_id, start_pos, end_pos, memo }, services, principal) {
    if (!memo.trim()) throw new ToolError('validation_error', 'The annotation is empty.');
    const { lens } = await sessionOf(services, principal, source_id);
    checkRange(lens.text(source_id), source_id, start_pos, end_pos);
    await refuseHiddenNames([memo], services, principal);
  },

  async run({ source_id, start_pos, end_pos, memo }, context) {
    const session = await openSession(context, source_id);
    session.lens.text(source_id);
    const by = await changeBy(context, session, 'add_annotation');
    const memoStored = memoToStore(context.principal, memo);
    const annotation = { sourceId: source_id, start: start_pos, end: end_pos, memo: memoStored };
    const annotation_id = await session.project.store.write(
      by,
      (project) => project.addAnnotation(annotation),
      [source_id],
    );
    return { annotation_id };
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({ annotation_id: addedIds(change, 'annotation')[0] ?? null })),
});

export const listJournal = defineResearchTool({
  name: 'list_journal',
  title: 'List journal entries',
  summary: 'Read journal entries. Agents see the entries of agents; the rest is the diary of the researcher.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  errors: ['no_project'],
  input: z.object({ ...page }),
  output: z.object({
    total: z.int(),
    has_more: z.boolean(),
    entries: z.array(
      z.object({ id: z.int(), name: z.string(), entry: z.string(), owner: z.string(), date: z.string() }),
    ),
  }),

  async run({ limit, offset }, context) {
    const { lens } = await openSession(context);
    const found = lens.reader.journals();
    const shown = pageOf(found, limit, offset);
    return {
      total: found.length,
      has_more: offset + shown.length < found.length,
      entries: shown.map((item) => ({
        ...item,
        name: lens.tell(item.name),
        entry: lens.tell(item.entry),
        owner: lens.mask(item.owner),
      })),
    };
  },
});

export const addJournalEntry = defineResearchTool({
  name: 'add_journal_entry',
  title: 'Add a journal entry',
  summary: 'Add an entry to the journal of the project, such as why a code was split.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'validation_error', 'conflict', 'busy'],
  input: z.object({ name: z.string(), entry: z.string() }),
  output: z.object({ journal_id: z.int(), name: z.string() }),

  present: ({ name, entry }, context) =>
    presentNote(
      { verb: 'Add', done: 'Added', what: `journal entry ${quoted(name)}`, text: entry },
      ['name', 'entry'],
      context,
    ),
  rollback: undoOfCall,

  check: ({ name, entry }, services, principal) => refuseHiddenNames([name, entry], services, principal),

  async run({ name, entry }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'add_journal_entry');
    const kept = memoToStore(context.principal, entry);
    const journal_id = await session.project.store.write(by, (project) => {
      // An agent must not learn from a collision what the researcher calls an entry.
      const taken = new Set(project.journals().map((item) => item.name));
      let free = name.trim();
      for (let at = 2; context.principal.kind !== 'person' && taken.has(free); at += 1)
        free = `${name.trim()} (${at})`;
      return project.addJournal({ name: free, entry: kept });
    });
    return { journal_id, name: name.trim() };
  },

  reconcile: ({ name }, context) =>
    reconcile(context, (change) => ({ journal_id: addedIds(change, 'journal')[0] ?? null, name })),
});
