import { randomFillSync } from 'node:crypto';

/** Drawn in advance: asking for bytes one call at a time costs many times more. */
const pool = Buffer.allocUnsafeSlow(4096);
let used = pool.length;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  used += bytes;
  return text;
}

let last = 0;
let prefix = '';
let count = 0;

/** UUID version 7: sorts by time, and within a millisecond in the order of this process, so that indexes stay local. */
export function uuidv7(now: number = Date.now()): string {
  const random = randomHex(10);
  if (now === last) count = (count + 1) & 0xfff;
  else {
    last = now;
    const time = now.toString(16).padStart(12, '0');
    prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
    // A new millisecond starts low enough to leave room for those that follow in it.
    count = Number.parseInt(random.slice(16, 18), 16);
  }
  const variant = 'ab89'.charAt(Number.parseInt(random.charAt(18), 16) & 3);
  return `${prefix}${count.toString(16).padStart(3, '0')}-${variant}${random.slice(0, 3)}-${random.slice(3, 15)}`;
}

/** Sorts before every id made at that time or later. */
export const uuidFloor = (time: number): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/** When an id was made; the epoch for what is not one. */
export function uuidTime(id: string): Date {
  const hex = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
  return new Date(hex ? Number.parseInt(`${hex[1]}${hex[2]}`, 16) : 0);
}

/** 128 random bits as 32 hex digits: what makes a hash of a short value say nothing about it. */
export const newSalt = (): string => randomHex(16);
