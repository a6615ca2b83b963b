import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { speakerTurns } from '../analysis/speakers.ts';
import { applyRanges, codedShape, showCoded } from '../lib/auto-code.ts';
import { id } from '../lib/ids.ts';
import { addedIds, reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession, type Session } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { noCode } from '../project/checks.ts';
import type { ProjectWriter } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';

/** Where QualCoder puts codes it makes for speakers. */
const CATEGORY = '📌 Speakers';

const input = z.object({
  source_id: id(),
  speaker: z.string().optional(),
  code_id: id().optional(),
  preview: z.boolean().default(false),
});

export const autoCodeSpeaker = defineResearchTool({
  name: 'auto_code_speaker',
  title: 'Code the turns of speakers',
  summary:
    'Auto-code by speaker: whole turns of one speaker, or of all. Without code_id each speaker gets a code of that name in the category Speakers.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'source_not_found', 'code_not_found', 'not_found', 'validation_error', 'busy'],
  input,
  output: codedShape.extend({
    speakers: z.array(z.object({ name: z.string(), turns: z.int(), code_id: z.int().nullable() })),
  }),

  describeApproval: ({ source_id, speaker, code_id }) =>
    `Code the turns of ${speaker ? `“${speaker}”` : 'every speaker'} in source ${source_id}${code_id === undefined ? '' : ` with code ${code_id}`}?`,

  async preview(args, context) {
    const session = await openSession(context);
    const turns = findTurns(session, args);
    return describe(session, turns, knownCodes(session, turns, args.code_id), undefined);
  },

  rollback: (args, data, callId) => (data.applied_count > 0 ? undoOfCall(args, data, callId) : undefined),

  async run(args, context) {
    const session = await openSession(context);
    const turns = findTurns(session, args);
    if (args.preview) return describe(session, turns, knownCodes(session, turns, args.code_id), undefined);
    const by = await changeBy(context, session, 'auto_code_speaker');
    const done = await session.project.store.write(by, (project) => {
      const codes = new Map(
        [...new Set(turns.map(({ speaker }) => speaker))].map((name) => [
          name,
          args.code_id ?? speakerCode(project, name),
        ]),
      );
      const ranges = turns.map((turn) => ({ ...turn, codeId: codes.get(turn.speaker) ?? 0 }));
      return { codes, applied: applyRanges(project, ranges) };
    });
    return describe(session, turns, done.codes, done.applied);
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => {
      const made = addedIds(change, 'code_text').length;
      return {
        preview: false,
        match_count: made,
        applied_count: made,
        existing_count: 0,
        segments: [],
        truncated: made > 0,
        speakers: [],
      };
    }),
});

interface SpokenRange {
  readonly speaker: string;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
}

function findTurns({ lens }: Session, args: z.output<typeof input>): SpokenRange[] {
  const wanted = args.speaker === undefined ? undefined : fold(lens.unmask(args.speaker));
  const all = speakerTurns(lens.text(args.source_id));
  const names = [...new Set(all.map(({ speaker }) => lens.mask(speaker)))];
  if (args.code_id !== undefined && !lens.reader.code(args.code_id)) throw noCode(args.code_id);
  if (args.code_id !== undefined && wanted === undefined && names.length > 1 && !args.preview) {
    throw new ToolFault(
      'validation_error',
      `One code for ${names.length} speakers: name the speaker (${names.join(', ')}), or leave out code_id.`,
    );
  }
  const turns = all.filter(({ speaker }) => wanted === undefined || fold(speaker) === wanted);
  if (turns.length === 0) {
    const known =
      names.length > 0 ? `The speakers are ${names.join(', ')}.` : 'No line begins with a name and a colon.';
    throw new ToolFault(
      'not_found',
      `Source ${args.source_id} has no turns ${wanted === undefined ? 'of speakers' : `of “${args.speaker}”`}. ${known}`,
    );
  }
  return turns.map(({ speaker, textStart, end }) => ({
    speaker,
    sourceId: args.source_id,
    start: textStart,
    end,
  }));
}

const fold = (name: string) => name.trim().toLowerCase();

/** Codes that are there before anything is coded; the others would be made. */
function knownCodes(
  { lens }: Session,
  turns: readonly SpokenRange[],
  given: number | undefined,
): Map<string, number> {
  const codes = lens.reader.codes();
  return new Map(
    turns.flatMap(({ speaker }) => {
      const id = given ?? codes.find(({ name }) => fold(name) === fold(speaker))?.id;
      return id === undefined ? [] : [[speaker, id] as const];
    }),
  );
}

function speakerCode(project: ProjectWriter, speaker: string): number {
  const known = project.codes().find((code) => fold(code.name) === fold(speaker));
  if (known) return known.id;
  const category =
    project.categories().find(({ name }) => name === CATEGORY)?.id ?? project.addCategory({ name: CATEGORY });
  return project.addCode({ name: speaker, categoryId: category });
}

function describe(
  session: Session,
  turns: readonly SpokenRange[],
  codes: ReadonlyMap<string, number>,
  applied: Parameters<typeof showCoded>[2],
) {
  const ranges = turns.map((turn) => ({ ...turn, codeId: codes.get(turn.speaker) ?? null }));
  const speakers = [...new Set(turns.map(({ speaker }) => speaker))].map((name) => ({
    name: session.lens.mask(name),
    turns: turns.filter(({ speaker }) => speaker === name).length,
    code_id: codes.get(name) ?? null,
  }));
  return { ...showCoded(session, ranges, applied), speakers };
}
