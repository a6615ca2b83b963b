import { randomUUID } from 'node:crypto';

let last = 0;
let count = 0;

/** UUID version 7: sorts by time, and within a millisecond in the order of this process, so that indexes stay local. */
export function uuidv7(now: number = Date.now()): string {
  // Node draws version 4 ids from a pool of random bytes; asking for bytes one call at a time costs many times more.
  const random = randomUUID();
  // A new millisecond starts low enough to leave room for those that follow in it.
  count = now === last ? (count + 1) & 0xfff : Number.parseInt(random.slice(0, 2), 16);
  last = now;
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}${random.slice(18)}`;
}

/** Sorts before every id made at that time or later. */
export const uuidFloor = (time: number): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};
