import type { State } from './state.ts';

/** X's epoch: ids carry their time in the upper bits, so newer things have larger ids. */
const EPOCH_MS = 1_288_834_974_657;
const SEQUENCE_BITS = 22n;

/** The next number of this world; part of the state, so no two processes give the same. */
function nextSequence(state: State, now: Date): number {
  const meta = state.get('meta', 'meta') ?? { seq: 0, seeded_at: now.toISOString() };
  state.put('meta', 'meta', { ...meta, seq: meta.seq + 1 });
  return meta.seq + 1;
}

export function nextId(state: State, now: Date): string {
  const sequence = BigInt(nextSequence(state, now)) & ((1n << SEQUENCE_BITS) - 1n);
  return ((BigInt(now.getTime() - EPOCH_MS) << SEQUENCE_BITS) | sequence).toString();
}

/** The Ads API has short ids in base 36. */
export const nextAdsId = (state: State, now: Date): string =>
  (36 ** 4 + nextSequence(state, now) * 7919).toString(36);

export const compareIds = (a: string, b: string): number => {
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
};
