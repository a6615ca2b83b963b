import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { cutWords, quoted } from '../../../lib/words.ts';
import { Pace } from '../analysis/pace.ts';
import { searchPattern } from '../analysis/pattern-search.ts';
import { speakerTurnsInSlices } from '../analysis/speakers.ts';
import { changeTitle, codeNamed, segments, segmentTable, showProject, sourceNamed } from '../present.ts';
import type { ShownText } from '../privacy/pseudonyms.ts';
import { noCode } from '../project/checks.ts';
import type { ProjectWriter } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile, type Session } from '../session.ts';
import { excerpt, id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

export interface RangeOf {
  readonly codeId: number;
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
}

export interface Applied {
  readonly id: number;
  readonly created: boolean;
}

const SHOWN = 200;

export const codedShape = z.object({
  preview: z.boolean(),
  match_count: z.int(),
  applied_count: z.int(),
  existing_count: z.int().describe('Passages that already had this code.'),
  segments: z.array(
    z.object({
      segment_id: z.int().nullable(),
      code_id: z.int().nullable().describe('Null in a preview of a code that would be created.'),
      source_id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
      text: z.string(),
    }),
  ),
  truncated: z.boolean().describe(`More than the ${SHOWN} segments shown.`),
});

const applyRanges = (project: ProjectWriter, ranges: readonly RangeOf[]): Applied[] =>
  ranges.map(({ codeId, sourceId, start, end }) => project.addCoding({ codeId, sourceId, start, end }));

/** `applied` is undefined for a preview. */
async function showCoded(
  { lens }: Session,
  ranges: readonly (Omit<RangeOf, 'codeId'> & { readonly codeId: number | null })[],
  applied: readonly Applied[] | undefined,
  pace: Pace,
): Promise<z.output<typeof codedShape>> {
  const created = applied?.filter((item) => item.created).length ?? 0;
  const shown: z.output<typeof codedShape>['segments'] = [];
  for (const [at, { codeId, sourceId, start, end }] of ranges.slice(0, SHOWN).entries()) {
    if (pace.isDue) await pace.rest();
    shown.push({
      segment_id: applied?.[at]?.id ?? null,
      code_id: codeId,
      source_id: sourceId,
      start_pos: start,
      end_pos: end,
      text: excerpt(lens.passage(sourceId, start, end).content, 200),
    });
  }
  return {
    preview: applied === undefined,
    match_count: ranges.length,
    applied_count: created,
    existing_count: (applied?.length ?? 0) - created,
    segments: shown,
    truncated: ranges.length > SHOWN,
  };
}

const patternInput = z.object({
  code_id: id(),
  pattern: z.string(),
  match: z.enum(['exact', 'contains', 'regex']).default('exact'),
  source_ids: z.array(id()).optional(),
  case_sensitive: z.boolean().default(false),
  scope: z.enum(['all', 'first', 'last']).default('all'),
  unit: z.enum(['match', 'sentence', 'paragraph']).default('match'),
  preview: z.boolean().default(false),
});
type Args = z.output<typeof patternInput>;

export const autoCodePattern = defineResearchTool({
  name: 'auto_code_pattern',
  title: 'Code every match of a pattern',
  summary:
    'Auto-code by text pattern: exact words, contained text or a regular expression; the match, its sentence or its paragraph is coded. preview shows what would be coded.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'source_not_found', 'validation_error', 'busy'],
  deadlineMs: 300_000,
  input: patternInput,
  output: codedShape,

  async present(args, context) {
    const { target, asker, reader } = await showProject(context);
    const { name } = codeNamed(asker, args.code_id);
    // Found as the requester would find it: the call runs in its name.
    const ranges = await find(args, { lens: asker }, new Pace(context.signal), context);
    const what = args.unit === 'match' ? 'every match' : `every ${args.unit} with a match`;
    return {
      ...changeTitle(
        'Apply',
        'Applied',
        `${quoted(name, 18)} to ${what} of ${quoted(args.pattern, 16)}`,
        target,
      ),
      act: 'apply',
      kind: 'passage',
      gist: `${ranges.length} matches of “${args.pattern}” (${args.match})`,
      effect: { text: `${segments(ranges.length)} coded`, detail: 'The texts stay as they are' },
      body: segmentTable(reader, 'Passages', ranges),
      covers: ['code_id', 'pattern', 'match', 'unit', 'preview'],
    };
  },

  async preview(args, context) {
    const session = await openSession(context);
    const pace = new Pace(context.signal);
    return showCoded(session, await find(args, session, pace, context), undefined, pace);
  },

  rollback: (args, data, callId) => (data.applied_count > 0 ? undoOfCall(args, data, callId) : undefined),

  async run(args, context) {
    const session = await openSession(context);
    const pace = new Pace(context.signal);
    const ranges = await find(args, session, pace, context);
    if (args.preview) return showCoded(session, ranges, undefined, pace);
    const by = await changeBy(context, session, 'auto_code_pattern');
    const applied = await session.project.store.write(
      by,
      (project) => applyRanges(project, ranges),
      ranges.map(({ sourceId }) => sourceId),
    );
    return showCoded(session, ranges, applied, new Pace());
  },

  reconcile: (_, context) =>
    reconcile(context, (change) => ({
      preview: false,
      match_count: change.rows.length,
      applied_count: change.rows.length,
      existing_count: 0,
      segments: [],
      truncated: true,
    })),
});

async function find(
  args: Args,
  { lens }: Pick<Session, 'lens'>,
  pace: Pace,
  { signal }: { readonly signal: AbortSignal },
): Promise<RangeOf[]> {
  if (!lens.reader.code(args.code_id)) throw noCode(args.code_id);
  const sources = args.source_ids
    ? args.source_ids.map((source) => lens.source(source))
    : lens.reader.sources().filter(({ hasText }) => hasText);
  const back: ShownText['original'][] = [];
  /** One after the other: a large project is too large for memory. */
  const texts = async function* () {
    for (const source of sources) {
      const shown = await lens.shownInSlices(source.id, pace);
      back.push(shown.original);
      yield shown.text;
    }
  };
  const { pattern, match, scope, unit } = args;
  const query = { pattern, match, scope, unit, caseSensitive: args.case_sensitive };
  const hits = await searchPattern(texts(), query, { signal });
  const ranges: RangeOf[] = [];
  for (const [at, list] of hits.entries()) {
    for (const hit of list) {
      if (pace.isDue) await pace.rest();
      const { start, end } = back[at]?.(hit) ?? hit;
      ranges.push({ codeId: args.code_id, sourceId: sources[at]?.id ?? 0, start, end });
    }
  }
  if (ranges.length > MOST) {
    throw new ToolError(
      'validation_error',
      `The pattern has ${ranges.length} matches; the maximum per call is ${MOST}. Name source_ids or a narrower pattern.`,
    );
  }
  return ranges;
}

const MOST = 20_000;

/** Where QualCoder puts codes it makes for speakers. */
const CATEGORY = '📌 Speakers';

const speakerInput = z.object({
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
  errors: ['no_project', 'source_not_found', 'code_not_found', 'not_found', 'validation_error', 'busy'],
  input: speakerInput,
  output: codedShape.extend({
    speakers: z.array(z.object({ name: z.string(), turns: z.int(), code_id: z.int().nullable() })),
  }),

  async present(args, context) {
    const { target, asker, reader } = await showProject(context);
    const turns = await findTurns({ lens: asker }, args, new Pace(context.signal));
    const who = args.speaker ? quoted(args.speaker, 18) : 'every speaker';
    const code = args.code_id === undefined ? undefined : codeNamed(asker, args.code_id).name;
    return {
      ...changeTitle(
        'Code',
        'Coded',
        `the turns of ${who} in ${cutWords(sourceNamed(asker, args.source_id), 20)}`,
        target,
      ),
      act: 'code',
      kind: 'passage',
      gist: code === undefined ? 'With a code for each speaker' : `With code “${code}”`,
      effect: { text: `${segments(turns.length)} coded`, detail: 'The text stays as it is' },
      body: segmentTable(reader, 'Turns', turns),
      covers: ['source_id', 'speaker', 'code_id', 'preview'],
    };
  },

  async preview(args, context) {
    const session = await openSession(context, args.source_id);
    return foresee(session, args, new Pace(context.signal));
  },

  rollback: (args, data, callId) => (data.applied_count > 0 ? undoOfCall(args, data, callId) : undefined),

  async run(args, context) {
    const session = await openSession(context, args.source_id);
    const pace = new Pace(context.signal);
    if (args.preview) return foresee(session, args, pace);
    const turns = await findTurns(session, args, pace);
    const by = await changeBy(context, session, 'auto_code_speaker');
    const done = await session.project.store.write(
      by,
      (project) => {
        const codes = new Map(
          [...new Set(turns.map(({ speaker }) => speaker))].map((name) => [
            name,
            args.code_id ?? speakerCode(project, name),
          ]),
        );
        const ranges = turns.map((turn) => ({ ...turn, codeId: codes.get(turn.speaker) ?? 0 }));
        return { codes, applied: applyRanges(project, ranges) };
      },
      [args.source_id],
    );
    return describe(session, turns, done.codes, done.applied, new Pace());
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

type SpeakerArgs = z.output<typeof speakerInput>;

async function foresee(session: Session, args: SpeakerArgs, pace: Pace) {
  const turns = await findTurns(session, args, pace);
  await pace.rest();
  return describe(session, turns, knownCodes(session, turns, args.code_id), undefined, pace);
}

async function findTurns(
  { lens }: Pick<Session, 'lens'>,
  args: SpeakerArgs,
  pace: Pace,
): Promise<SpokenRange[]> {
  await lens.reader.loadText(args.source_id);
  const all = await speakerTurnsInSlices(lens.text(args.source_id), pace);
  // As the caller knows the speakers: a label can be part of a name that has a pseudonym.
  const wanted = args.speaker === undefined ? undefined : fold(args.speaker);
  const shown = new Map<string, string>();
  for (const { speaker } of all) {
    if (pace.isDue) await pace.rest();
    if (!shown.has(speaker)) shown.set(speaker, lens.mask(speaker));
  }
  const names = [...new Set(shown.values())];
  if (args.code_id !== undefined && !lens.reader.code(args.code_id)) throw noCode(args.code_id);
  if (args.code_id !== undefined && wanted === undefined && names.length > 1 && !args.preview) {
    throw new ToolError(
      'validation_error',
      `One code for ${names.length} speakers: name the speaker (${names.join(', ')}), or omit code_id.`,
    );
  }
  const turns = all.filter(
    ({ speaker }) => wanted === undefined || fold(shown.get(speaker) ?? '') === wanted,
  );
  if (turns.length === 0) {
    const known =
      names.length > 0 ? `The speakers are ${names.join(', ')}.` : 'No line starts with a name and a colon.';
    throw new ToolError(
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
    [...new Set(turns.map(({ speaker }) => speaker))].flatMap((speaker) => {
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

async function describe(
  session: Session,
  turns: readonly SpokenRange[],
  codes: ReadonlyMap<string, number>,
  applied: Parameters<typeof showCoded>[2],
  pace: Pace,
) {
  const ranges = turns.map((turn) => ({ ...turn, codeId: codes.get(turn.speaker) ?? null }));
  const counts = new Map<string, number>();
  for (const { speaker } of turns) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
  const speakers = [...counts].map(([name, count]) => ({
    name: session.lens.mask(name),
    turns: count,
    code_id: codes.get(name) ?? null,
  }));
  return { ...(await showCoded(session, ranges, applied, pace)), speakers };
}
