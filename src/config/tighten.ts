import type { Tighten } from './shape.ts';

/** True when `wanted` is as strict as `current` or stricter. Without a direction a value cannot be moved at all. */
export function isTighter(direction: Tighten | undefined, current: unknown, wanted: unknown): boolean {
  if (wanted === current) return true;
  if (direction === 'to-true') return wanted === true;
  if (direction === 'to-false') return wanted === false;
  if (direction === undefined || typeof wanted !== 'string' || typeof current !== 'string') return false;
  const place = direction.indexOf(wanted);
  return place >= 0 && place < direction.indexOf(current);
}
