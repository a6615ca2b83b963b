import { describe, expect, it } from 'vitest';
import type { Entry } from '../entry.ts';
import { ClockCheck } from './clock.ts';

const entry = (at: string): Entry => ({ v: 1, kind: 'config', at });
const LATEST = '2026-01-01T12:00:00.000Z';
const MINUTE_BEFORE = '2026-01-01T11:59:00.000Z';
const LONGER_BEFORE = '2026-01-01T11:58:59.999Z';
const none = { count: 0, first: undefined };

describe('the order of times in the log', () => {
  it('tolerates an entry that is dated a minute before an earlier one, and no more', () => {
    const clock = new ClockCheck();
    clock.take(0, entry(LATEST));
    clock.take(1, entry(MINUTE_BEFORE));
    expect(clock.backwards).toEqual(none);
    clock.take(2, entry(LONGER_BEFORE));
    expect(clock.backwards).toEqual({ count: 1, first: { seq: 2, at: LONGER_BEFORE, after: LATEST } });
  });

  it('counts every entry that is too early and names the first', () => {
    const clock = new ClockCheck();
    for (const [seq, at] of [LATEST, LONGER_BEFORE, '2025-01-01T00:00:00.000Z'].entries())
      clock.take(seq, entry(at));
    expect(clock.backwards).toMatchObject({ count: 2, first: { seq: 1 } });
  });

  it('compares with the latest time so far, not with the entry before', () => {
    const clock = new ClockCheck();
    clock.take(0, entry(LATEST));
    clock.take(1, entry(MINUTE_BEFORE));
    clock.take(2, entry('2026-01-01T11:58:30.000Z'));
    expect(clock.backwards).toMatchObject({ count: 1, first: { seq: 2, after: LATEST } });
  });

  it('takes equal times as being in order, even unreadable ones', () => {
    const clock = new ClockCheck();
    clock.take(0, entry('noon'));
    clock.take(1, entry('noon'));
    expect(clock.backwards).toEqual(none);
  });

  it('skips entries only when none of them is too early', () => {
    const clock = new ClockCheck();
    expect(clock.skip(MINUTE_BEFORE, LATEST)).toBe(true);
    expect(clock.skip(MINUTE_BEFORE, MINUTE_BEFORE)).toBe(true);
    expect(clock.skip(LONGER_BEFORE, LATEST)).toBe(false);
    expect(clock.backwards).toEqual(none);
  });

  it('remembers the latest time of skipped entries', () => {
    const clock = new ClockCheck();
    clock.skip(MINUTE_BEFORE, LATEST);
    clock.skip(MINUTE_BEFORE, MINUTE_BEFORE);
    clock.take(9, entry(LONGER_BEFORE));
    expect(clock.backwards.first).toEqual({ seq: 9, at: LONGER_BEFORE, after: LATEST });
  });
});
