import { join } from 'node:path';
import { createProject } from '../../src/toolkits/research/project/create.ts';
import { SqliteFile } from '../../src/toolkits/research/project/schema.ts';

export const PSEUDO_SOURCES = 1000;
export const PSEUDO_LENGTH = 50_000;
const VOCABULARY = 20_000;
const SYLLABLES = [
  'ka',
  'lo',
  'mir',
  'ten',
  'su',
  'vor',
  'ne',
  'pal',
  'dri',
  'gos',
  'hul',
  'bea',
  'zin',
  'rok',
  'fe',
  'jun',
];

/** A QualCoder project with these texts, numbered from 1. */
export function makeProject(
  path: string,
  sources: readonly { readonly name: string; readonly text: string }[],
): string {
  const folder = createProject(path, { now: new Date(), coder: 'ada' });
  const db = new SqliteFile(join(folder, 'data.qda'));
  db.exec('BEGIN');
  for (const { name, text } of sources)
    db.run(
      'INSERT INTO source (name, fulltext, memo, owner, date) VALUES (?, ?, ?, ?, ?)',
      name,
      text,
      '',
      'ada',
      '2024-03-05 11:12:13',
    );
  db.exec('COMMIT');
  db.close();
  return folder;
}

/** A text of invented words, few of them common and most of them rare, as in a language. */
export function pseudoText(seed: number, length = PSEUDO_LENGTH): string {
  const random = randomFrom(seed);
  let text = '';
  while (text.length < length) {
    const words = Array.from({ length: 6 + Math.floor(random() * 14) }, () =>
      pseudoWord(Math.floor(VOCABULARY * random() ** 3)),
    );
    text += `${words.join(' ')}.${random() < 0.3 ? '\n' : ' '}`;
  }
  return text.slice(0, length);
}

const words = new Map<number, string>();
function pseudoWord(at: number): string {
  const known = words.get(at);
  if (known) return known;
  let made = '';
  for (let rest = at + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    made += SYLLABLES[rest % SYLLABLES.length];
  words.set(at, made);
  return made;
}

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
