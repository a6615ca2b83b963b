import { describe, expect, it } from 'vitest';
import { timeAgo } from './page-head.tsx';

describe('a time', () => {
  it.each([
    [59_600, '1 min ago'],
    [59_400, '59 s ago'],
    [3_599_000, '1 h ago'],
    [23.8 * 3_600_000, '24 h ago'],
    [-23.8 * 3_600_000, 'in 24 h'],
    [-59_600, 'in 1 min'],
    [4000, 'just now'],
  ])('%d ms before now is %s', (ms, said) => {
    const now = new Date('2026-11-17T12:00:00Z');
    expect(timeAgo(new Date(now.getTime() - ms), now)).toBe(said);
  });
});
