import type { SourceText } from '../project/types.ts';
import type { Pace } from './pace.ts';

/** One stretch of talk. Positions are code points; the label itself is start..textStart. */
export interface Turn {
  readonly speaker: string;
  readonly start: number;
  readonly textStart: number;
  readonly end: number;
}

interface Label {
  readonly speaker: string;
  /** UTF-16 indices: where the line's label begins and where the talk after it begins. */
  readonly at: number;
  readonly talkAt: number;
  /** Labels that could also be a heading or a list item need to occur twice before they are believed. */
  readonly certain: boolean;
}

/**
 * Who speaks when, from the labels that transcripts carry: `Name:`, `NAME (00:01:02):`, `[Name]`, `<v Name>`, `**Name:**`, and
 * `Name  0:05` on a line of its own. A turn continues over line breaks until the next label.
 */
export function speakerTurns(text: SourceText, isKnown: (speaker: string) => boolean = () => false): Turn[] {
  const turns: Turn[] = [];
  for (const turn of turnsStepByStep(text, isKnown)) if (turn) turns.push(turn);
  return turns;
}

/** The same for a long text, without keeping other work waiting. */
export async function speakerTurnsInSlices(text: SourceText, pace: Pace): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (const turn of turnsStepByStep(text, () => false)) {
    if (turn) turns.push(turn);
    if (pace.isDue) await pace.rest();
  }
  return turns;
}

/** One item for each small step, undefined for those that found no turn. */
function* turnsStepByStep(
  text: SourceText,
  isKnown: (speaker: string) => boolean,
): Generator<Turn | undefined> {
  const labels: Label[] = [];
  const times = new Map<string, number>();
  for (const label of labelsByLine(text.value)) {
    if (label) {
      labels.push(label);
      times.set(label.speaker, (times.get(label.speaker) ?? 0) + 1);
    }
    yield undefined;
  }
  const sure = ({ speaker, certain }: Label) => certain || (times.get(speaker) ?? 0) > 1 || isKnown(speaker);
  const isDialogue = labels.some(sure);
  let open: Label | undefined;
  for (const label of labels) {
    // A name seen once could be a heading; it counts when the text has speakers anyway and it is short.
    const believed = sure(label) || (isDialogue && label.speaker.split(' ').length <= 2);
    yield believed && open ? turnUntil(text, open, label.at) : undefined;
    if (believed) open = label;
  }
  if (open) yield turnUntil(text, open, text.value.length);
}

function turnUntil(text: SourceText, { speaker, at, talkAt }: Label, next: number): Turn | undefined {
  const end = talkAt + text.value.slice(talkAt, next).trimEnd().length;
  if (end <= talkAt) return undefined;
  return {
    speaker,
    start: text.fromUnits(at),
    textStart: text.fromUnits(talkAt),
    end: text.fromUnits(end),
  };
}

const TIME = String.raw`\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?`;
const STAMP = String.raw`(?:[[({#]?${TIME}[\])}#]?)`;
const NAME = String.raw`[\p{Lu}\p{Lt}\p{Lo}][\p{L}\p{M}\p{N}.'’_-]{0,30}(?: [\p{L}\p{N}#&(][\p{L}\p{M}\p{N}.'’_#&)-]{0,24}){0,3}?`;

/** Each form is tried at the start of a line; group 1 is the name. */
const FORMS: readonly { readonly pattern: RegExp; readonly certain: boolean }[] = [
  { pattern: /<v(?:\.[\w.]+)? ([^>\n]{1,60})>/uy, certain: true },
  {
    pattern: new RegExp(
      String.raw`(?:${STAMP}[ \t]*[-–]?[ \t]*)?\*\*(${NAME})(?::\*\*|\*\*[ \t]*:)[ \t]*`,
      'uy',
    ),
    certain: true,
  },
  {
    pattern: new RegExp(
      String.raw`(?:${STAMP}[ \t]*[-–]?[ \t]*)?(${NAME})[ \t]*${STAMP}?[ \t]*[:：](?!//)[ \t]*`,
      'uy',
    ),
    certain: false,
  },
  {
    pattern: new RegExp(String.raw`(${NAME})(?:[ \t]{1,8}|[ \t]*[-–][ \t]*)${STAMP}[ \t]*(?=\r?\n|$)`, 'uy'),
    certain: true,
  },
  { pattern: new RegExp(String.raw`\[(${NAME})\][ \t]*:?[ \t]*(?=\S)`, 'uy'), certain: false },
];

const ROLE =
  /^(interviewer|interviewee|moderator|facilitator|researcher|participant|respondent|speaker|informant|int|res|part|mod|i|r|p|q|a|m|f|s)[ .#_-]?\d{0,3}$/i;
const NOT_A_SPEAKER =
  /^(note|notes|nb|n\.b|example|e\.g|i\.e|date|time|place|location|duration|title|subject|topic|re|ps|warning|summary|source|question|answer|http|https|ftp|mailto|file|chapter|section|figure|table|step|total|tel|email|interview|transcript|recording|session|appendix|document|project|version|page|inaudible|laughs|laughter|pause|silence|music|crosstalk)(?: ?#?\d{1,4})?$/i;

/** The label of each line that is not empty, undefined for those without one. */
function* labelsByLine(value: string): Generator<Label | undefined> {
  for (const line of value.matchAll(/^[ \t\ufeff]*(?=\S)/gmu))
    yield labelAt(value, line.index + line[0].length);
}

function labelAt(value: string, at: number): Label | undefined {
  for (const { pattern, certain } of FORMS) {
    pattern.lastIndex = at;
    const match = pattern.exec(value);
    const speaker = match?.[1]?.trim();
    if (!match || !speaker || NOT_A_SPEAKER.test(speaker)) continue;
    const talkAt = skipBreak(value, pattern.lastIndex);
    return { speaker, at, talkAt, certain: certain || ROLE.test(speaker) };
  }
  return undefined;
}

const skipBreak = (value: string, at: number): number =>
  at + (/^\s*/.exec(value.slice(at, at + 200))?.[0].length ?? 0);
