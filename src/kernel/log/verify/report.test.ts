import { describe, expect, it } from 'vitest';
import { Problems } from './report.ts';

describe('the list of problems', () => {
  it('keeps the first 200 and counts the rest', () => {
    const problems = new Problems();
    for (let seq = 0; seq < 203; seq += 1) problems.add('leaf', seq, `Entry ${seq}.`);
    expect(problems.list).toHaveLength(200);
    expect(problems.list.at(-1)).toEqual({ code: 'leaf', seq: 199, message: 'Entry 199.' });
    expect(problems.more).toBe(3);
  });

  it('states the last entry only where a range is known', () => {
    const problems = new Problems();
    problems.add('tree', 4, 'A range.', 7);
    problems.add('tree', undefined, 'No entry.');
    expect(problems.list).toStrictEqual([
      { code: 'tree', seq: 4, message: 'A range.', to: 7 },
      { code: 'tree', seq: undefined, message: 'No entry.' },
    ]);
  });

  it('joins a gap to the one that ends right before it', () => {
    const problems = new Problems();
    problems.addMissing(3, 3);
    expect(problems.list).toEqual([
      { code: 'missing', seq: 3, to: 3, message: 'Entry 3 is missing from the log.' },
    ]);
    problems.addMissing(4, 9);
    expect(problems.list).toEqual([
      { code: 'missing', seq: 3, to: 9, message: 'Entries 3 to 9 are missing from the log.' },
    ]);
  });

  it('keeps gaps with entries between them apart', () => {
    const problems = new Problems();
    problems.addMissing(3, 4);
    problems.addMissing(6, 7);
    expect(problems.list.map(({ seq, to }) => [seq, to])).toEqual([
      [3, 4],
      [6, 7],
    ]);
  });

  it('joins a gap to no other kind of problem', () => {
    const problems = new Problems();
    problems.add('store', 0, 'Unreadable.', 2);
    problems.addMissing(3, 4);
    expect(problems.list.map(({ code, seq }) => [code, seq])).toEqual([
      ['store', 0],
      ['missing', 3],
    ]);
  });

  describe('names as the first', () => {
    const firstOf = (...given: Parameters<Problems['add']>[]) => {
      const problems = new Problems();
      for (const one of given) problems.add(...one);
      const { first, list } = problems;
      expect(list.map(({ message }) => message)).toEqual(given.map(([, , message]) => message));
      return first?.message;
    };

    it('none when there is none', () => {
      expect(firstOf()).toBeUndefined();
    });

    it('what concerns the earliest entry', () => {
      expect(firstOf(['leaf', 7, 'later'], ['leaf', 3, 'earlier'], ['leaf', 5, 'between'])).toBe('earlier');
    });

    it('what concerns an entry before what concerns none', () => {
      expect(firstOf(['head', undefined, 'none'], ['leaf', 900, 'some'])).toBe('some');
      expect(firstOf(['leaf', 900, 'some'], ['head', undefined, 'none'])).toBe('some');
    });

    it('an entry before a range that ends later', () => {
      expect(firstOf(['checkpoint', 0, 'range', 10], ['leaf', 6, 'entry'])).toBe('entry');
    });

    it('the narrower of two that end together', () => {
      expect(firstOf(['checkpoint', 0, 'wide', 6], ['leaf', 6, 'entry'])).toBe('entry');
      expect(firstOf(['leaf', 6, 'entry'], ['checkpoint', 0, 'wide', 6])).toBe('entry');
    });

    it('a gap by its first entry', () => {
      expect(firstOf(['leaf', 6, 'entry'], ['missing', 5, 'gap', 20])).toBe('gap');
    });

    it('a row only when nothing else is wrong', () => {
      expect(firstOf(['row', 1, 'row'], ['head', undefined, 'head'])).toBe('head');
      expect(firstOf(['head', undefined, 'head'], ['row', 1, 'row'])).toBe('head');
      expect(firstOf(['row', 2, 'second'], ['row', 1, 'first'])).toBe('first');
    });
  });
});
