import type { SourceText } from '../project/types.ts';

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
 * `Name  0:05` on a line of its own. A turn goes on over line breaks until the next label.
 */
export function speakerTurns(text: SourceText, isKnown: (speaker: string) => boolean = () => false): Turn[] {
  const labels = believable(findLabels(text.value), isKnown);
  return labels.flatMap((label, i) => {
    const next = labels[i + 1]?.at ?? text.value.length;
    const end = label.talkAt + text.value.slice(label.talkAt, next).trimEnd().length;
    if (end <= label.talkAt) return [];
    return [
      {
        speaker: label.speaker,
        start: text.fromUnits(label.at),
        textStart: text.fromUnits(label.talkAt),
        end: text.fromUnits(end),
      },
    ];
  });
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

function findLabels(value: string): Label[] {
  const found: Label[] = [];
  for (const line of value.matchAll(/^[ \t\ufeff]*(?=\S)/gmu)) {
    const at = line.index + line[0].length;
    for (const { pattern, certain } of FORMS) {
      pattern.lastIndex = at;
      const match = pattern.exec(value);
      const speaker = match?.[1]?.trim();
      if (!match || !speaker || NOT_A_SPEAKER.test(speaker)) continue;
      found.push({
        speaker,
        at,
        talkAt: skipBreak(value, pattern.lastIndex),
        certain: certain || ROLE.test(speaker),
      });
      break;
    }
  }
  return found;
}

/** A name seen once could be a heading; it counts when the text has speakers anyway and it is short. */
function believable(labels: readonly Label[], isKnown: (speaker: string) => boolean): Label[] {
  const times = new Map<string, number>();
  for (const { speaker } of labels) times.set(speaker, (times.get(speaker) ?? 0) + 1);
  const sure = ({ speaker, certain }: Label) => certain || (times.get(speaker) ?? 0) > 1 || isKnown(speaker);
  const isDialogue = labels.some(sure);
  return labels.filter((label) => sure(label) || (isDialogue && label.speaker.split(' ').length <= 2));
}

const skipBreak = (value: string, at: number): number =>
  at + (/^\s*/.exec(value.slice(at, at + 200))?.[0].length ?? 0);
