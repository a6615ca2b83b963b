import { describe, expect, it } from 'vitest';
import { bar, sparkline, thinned } from './text.ts';

describe('small charts', () => {
  it('scales a line between its smallest and largest value', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█');
    expect(sparkline([1000, 1001])).toBe('▁█');
    expect(sparkline([5, 5, 5])).toBe('▄▄▄');
    expect(sparkline([])).toBe('');
  });

  it('draws a bar in eighths, a sliver for anything above zero, and never beyond its width', () => {
    expect(bar(10, 10, 4)).toBe('████');
    expect(bar(5, 10, 1)).toBe('▌');
    expect(bar(1, 1_000_000, 4)).toBe('▏');
    expect(bar(20, 10, 4)).toBe('████');
    expect(bar(0, 10)).toBe('');
    expect(bar(3, 0)).toBe('');
  });

  it('shortens a long series by means and leaves a short one alone', () => {
    expect(thinned([1, 3, 5, 7], 2)).toEqual([2, 6]);
    expect(thinned([1, 2], 5)).toEqual([1, 2]);
    expect(
      thinned(
        Array.from({ length: 100 }, (_, at) => at),
        48,
      ),
    ).toHaveLength(48);
  });
});
