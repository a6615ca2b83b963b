import { createHash } from 'node:crypto';
import type { Pace } from './pace.ts';

/** UTF-16 units hashed between two chances for other work; a few milliseconds. */
const SLICE = 1_000_000;

/** Tells whether a text was read before, without keeping other work waiting. */
export async function textHash(value: string, pace: Pace): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < value.length; ) {
    const end = start + SLICE;
    // Half a surrogate pair would be hashed as another character.
    const cut = /[\ud800-\udbff]/.test(value[end - 1] ?? '') ? end + 1 : end;
    hash.update(value.slice(start, cut));
    start = cut;
    if (pace.isDue) await pace.rest();
  }
  return hash.digest('hex').slice(0, 32);
}
