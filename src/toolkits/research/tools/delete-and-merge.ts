import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { quoted } from '../../../lib/words.ts';
import {
  changeTitle,
  codeGist,
  codeNamed,
  codeQuoted,
  memoBlock,
  segments,
  segmentTable,
  showProject,
} from '../present.ts';
import { noCode, selfMerge } from '../project/checks.ts';
import type { Coding, ProjectReader } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { changeBy, openSession, reconcile, sessionOf } from '../session.ts';
import { filedShape } from '../suggestions/decide.ts';
import { createProposer, filedNote, storedValues } from '../suggestions/propose.ts';
import { id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

const CODED = ['code_text', 'code_image', 'code_av'];

export const deleteCode = defineResearchTool({
  name: 'delete_code',
  title: 'Delete a code',
  summary: 'Delete a code. A code in use is deleted only with delete_segments. Can be undone.',
  effect: 'destroy',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'conflict', 'busy'],
  input: z.object({ code_id: id(), delete_segments: z.boolean().default(false) }),
  output: z.object({
    code_id: z.int(),
    name: z.string(),
    segments_removed: z.int(),
    deleted: z.boolean(),
  }),

  async present({ code_id }, context) {
    const { target, asker, reader } = await showProject(context);
    const { name } = codeNamed(asker, code_id);
    // All of them are lost, also those that the requester may not see.
    const used = reader.reader.codingCounts().get(code_id) ?? 0;
    const known = asker.reader.codingCounts().get(code_id) ?? 0;
    const own = known === 1 ? 'segment' : segments(known);
    const rest = known > 0 ? `${codeQuoted(name)} and its ${own}` : codeQuoted(name);
    return {
      ...changeTitle('Delete', 'Deleted', rest, target),
      act: 'delete',
      kind: 'label',
      gist: codeGist(asker, code_id),
      effect: { text: used > 0 ? `${segments(used)} lost` : '1 code removed', detail: 'The texts stay' },
      body: [
        ...memoBlock(codeNamed(reader, code_id)),
        ...segmentTable(reader, 'Segments that go with it', reader.reader.codings({ codeId: code_id })),
      ],
      covers: ['code_id', 'delete_segments'],
    };
  },

  rollback: undoOfCall,

  async check({ code_id, delete_segments }, services, principal) {
    const { lens } = await sessionOf(services, principal);
    if (!lens.reader.code(code_id)) throw noCode(code_id);
    requireUnused(lens.reader, code_id, delete_segments);
  },

  async run({ code_id, delete_segments }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'delete_code');
    return session.project.store.write(by, (project) => {
      const code = project.code(code_id);
      if (!code) throw noCode(code_id);
      // What the caller may not see is not counted; the researcher who approved saw all of it.
      const { reader } = session.lens;
      requireUnused(reader, code_id, delete_segments);
      const segments_removed = reader.codingCounts().get(code_id) ?? 0;
      project.removeCode(code_id);
      return { code_id, name: session.lens.mask(code.name), segments_removed, deleted: true };
    });
  },

  reconcile: ({ code_id }, context) =>
    reconcile(context, (change) => ({
      code_id,
      name: '',
      segments_removed: change.rows.filter((row) => row.kind === 'delete' && CODED.includes(row.table))
        .length,
      deleted: true,
    })),
});

function requireUnused(project: ProjectReader, code_id: number, delete_segments: boolean): void {
  const used = project.codingCounts().get(code_id) ?? 0;
  if (used === 0 || delete_segments) return;
  throw new ToolError(
    'conflict',
    `Code ${code_id} is used by ${used} segment(s). Set delete_segments to delete them too, or merge the code.`,
    { detail: { code_id, segment_count: used } },
  );
}

/** Both codes, or the error that names the one that is missing. */
function mergedCodes(project: ProjectReader, sourceId: number, targetId: number) {
  const source = project.code(sourceId);
  const target = project.code(targetId);
  if (!source) throw noCode(sourceId);
  if (!target) throw noCode(targetId);
  if (sourceId === targetId) throw selfMerge(sourceId);
  return { source, target };
}

export const mergeCodes = defineResearchTool({
  name: 'merge_codes',
  title: 'Merge two codes',
  summary:
    'Merge two codes into one: segments move to the target, identical ones become one, both memos are retained, the source code is deleted. Can be undone.',
  effect: 'destroy',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'busy'],
  input: z.object({ source_code_id: id(), target_code_id: id() }),
  output: z.object({
    source_code_id: z.int(),
    target_code_id: z.int(),
    source_code_name: z.string(),
    target_code_name: z.string(),
    segments_moved: z.int(),
    duplicates_joined: z.int(),
  }),

  async present({ source_code_id, target_code_id }, context) {
    const { target, asker, reader } = await showProject(context);
    const from = codeNamed(asker, source_code_id);
    const into = codeNamed(asker, target_code_id);
    const counts = reader.reader.codingCounts();
    const { moved, joined } = mergeCounts(reader.reader, source_code_id, target_code_id);
    const both = joined > 0 ? `; ${segments(joined)} with both codes kept once` : '';
    return {
      ...changeTitle('Merge', 'Merged', `${quoted(from.name, 24)} into ${quoted(into.name, 24)}`, target),
      act: 'merge',
      kind: 'label',
      gist: `${from.name}: ${codeGist(asker, source_code_id)}; ${into.name}: ${codeGist(asker, target_code_id)}`,
      effect: {
        text: `${segments(moved)} ${moved === 1 ? 'moves' : 'move'}`,
        detail: `${from.name} is deleted; ${into.name} has ${segments(counts.get(target_code_id) ?? 0)}${both}`,
      },
      body: [
        ...memoBlock(codeNamed(reader, source_code_id)),
        ...memoBlock(codeNamed(reader, target_code_id)),
        ...segmentTable(reader, 'Segments that move', reader.reader.codings({ codeId: source_code_id })),
      ],
      covers: ['source_code_id', 'target_code_id'],
    };
  },

  rollback: undoOfCall,

  async check({ source_code_id, target_code_id }, services, principal) {
    const { lens } = await sessionOf(services, principal);
    mergedCodes(lens.reader, source_code_id, target_code_id);
  },

  async run({ source_code_id, target_code_id }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'merge_codes');
    return session.project.store.write(by, (project) => {
      const { source, target } = mergedCodes(project, source_code_id, target_code_id);
      // What the caller may not see is not counted.
      const seen = mergeCounts(session.lens.reader, source_code_id, target_code_id);
      const all = project.mergeCodes(source_code_id, target_code_id);
      const { moved, joined } = seen.moved + seen.joined < all.moved + all.joined ? seen : all;
      return {
        source_code_id,
        target_code_id,
        source_code_name: session.lens.mask(source.name),
        target_code_name: session.lens.mask(target.name),
        segments_moved: moved,
        duplicates_joined: joined,
      };
    });
  },

  reconcile: ({ source_code_id, target_code_id }, context) =>
    reconcile(context, (change, project) => ({
      source_code_id,
      target_code_id,
      source_code_name: '',
      target_code_name: project.code(target_code_id)?.name ?? '',
      segments_moved: change.rows.filter((row) => row.kind === 'update' && 'cid' in row.after).length,
      duplicates_joined: change.rows.filter((row) => row.kind === 'delete' && row.table !== 'code_name')
        .length,
    })),
});

/** What merging does to the segments of a code: those that the other code has too, at the same place and by the same coder, are joined. */
function mergeCounts(reader: ProjectReader, from: number, into: number): { moved: number; joined: number } {
  const place = ({ sourceId, start, end, owner }: Coding) => JSON.stringify([sourceId, start, end, owner]);
  const there = new Set(reader.codings({ codeId: into }).map(place));
  const joined = reader.codings({ codeId: from }).filter((coding) => there.has(place(coding))).length;
  return { moved: (reader.codingCounts().get(from) ?? 0) - joined, joined };
}

export const suggestMergeCodes = defineResearchTool({
  name: 'suggest_merge_codes',
  title: 'Suggest merging two codes',
  summary: 'Suggest merging two codes (requires approval).',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found'],
  input: z.object({
    source_code_id: id('Code to merge FROM (deleted)'),
    target_code_id: id('Code to merge INTO (kept)'),
    rationale: z.string(),
  }),
  output: z.object({
    status: z.string(),
    requires_approval: z.boolean(),
    merge_suggestion_id: z.string(),
    merge_source_id: z.int(),
    merge_target_id: z.int(),
    rationale: z.string(),
    ...filedShape,
  }),

  async run({ source_code_id, target_code_id, rationale }, context) {
    const session = await openSession(context);
    const { source, target } = mergedCodes(session.lens.reader, source_code_id, target_code_id);
    const proposer = await createProposer(context, session);
    const counts = session.lens.reader.codingCounts();
    const filed = await proposer.file({
      tool: 'merge_codes',
      args: { source_code_id, target_code_id },
      summary: `Merge "${source.name}" (${counts.get(source.id) ?? 0} segments) into "${target.name}" (${counts.get(target.id) ?? 0})`,
      rationale,
    });
    return {
      status: 'pending_approval',
      requires_approval: true,
      merge_suggestion_id: filed.approval.uuid,
      merge_source_id: source_code_id,
      merge_target_id: target_code_id,
      rationale: filed.alreadyPending ? storedValues(filed, session.lens).rationale : rationale,
      ...filedNote(filed, session.lens),
    };
  },
});
