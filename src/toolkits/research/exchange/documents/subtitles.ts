import { ToolError } from '../../../../contract/errors.ts';
import { lookup } from '../../../../lib/lookup.ts';
import type { ExchangeReport } from '../report.ts';

interface Cue {
  readonly start: number;
  readonly speaker: string | undefined;
  readonly text: string;
}

const TIMING =
  /^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}/;
const SPEAKER = /^\s*(?:>>\s*)?([\p{Lu}\p{Lo}][\p{L}\p{M}\p{N}.'’_ -]{0,40}):\s+(?=\S)/u;

/**
 * A transcript from subtitles (.srt, .vtt): cues of one speaker become one turn, each turn begins with its time as QualCoder reads it
 * (`[hh:mm:ss]`), so that it can be followed in the recording.
 */
export function readSubtitles(text: string, name: string, report: ExchangeReport): string {
  const cues = [...readCues(text, name, report)];
  if (cues.length === 0)
    throw new ToolError(
      'validation_error',
      `${name} contains no subtitles: no line such as 00:00:01,000 --> 00:00:04,000 was found.`,
    );
  const hasSpeakers = cues.some(({ speaker }) => speaker !== undefined);
  const turns: { start: number; speaker: string | undefined; parts: string[] }[] = [];
  for (const { start, speaker, text: said } of cues) {
    const open = turns.at(-1);
    // Without speakers a turn would never end, so then every cue stands for itself.
    if (open && hasSpeakers && (speaker === undefined || speaker === open.speaker)) open.parts.push(said);
    else turns.push({ start, speaker, parts: [said] });
  }
  return turns
    .map(
      ({ start, speaker, parts }) => `[${clock(start)}] ${speaker ? `${speaker}: ` : ''}${parts.join(' ')}`,
    )
    .join('\n');
}

function* readCues(text: string, name: string, report: ExchangeReport): Generator<Cue> {
  let last = '';
  for (const block of text.split(/\n[ \t]*\n+/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMING.test(line));
    if (at === -1) {
      if (/^\s*\d+\s*$/.test(block) || /^\s*(WEBVTT|NOTE|STYLE|REGION)\b/.test(block) || block.trim() === '')
        continue;
      report.lost('Omitted a block of subtitles without a time', name);
      continue;
    }
    const [, hours = '0', minutes = '0', seconds = '0'] = TIMING.exec(lines[at] ?? '') ?? [];
    const raw = lines.slice(at + 1).join(' ');
    const voice = /<v(?:\.[\w.]+)?\s+([^>]+)>/.exec(raw)?.[1]?.trim();
    const plain = readEntities(raw.replace(/<br\s*\/?>|\\[Nn]/g, ' ').replace(/<[^>]*>|\{\\[^}]*\}/g, ''))
      .replace(/\s+/g, ' ')
      .trim();
    const label = voice ? undefined : SPEAKER.exec(plain);
    const said = label ? plain.slice(label[0].length) : plain;
    // Rolling captions repeat the line before.
    if (!said || said === last) continue;
    last = said;
    yield {
      start: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
      speaker: voice ?? label?.[1]?.trim(),
      text: said,
    };
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  lrm: '',
  rlm: '',
  quot: '"',
};
const readEntities = (text: string): string =>
  text.replace(/&(\w+);/g, (whole, entity: string) => lookup(ENTITIES, entity) ?? whole);

const two = (value: number): string => String(value).padStart(2, '0');
const clock = (seconds: number): string =>
  `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
