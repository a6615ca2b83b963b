import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../contract/json.ts';
import { fileEdits } from './file-edits.ts';

const change = { effect: 'change' } as const;
const patchOf = (args: Parameters<typeof fileEdits>[1]): string => {
  const [block] = fileEdits(change, args)?.blocks ?? [];
  return block?.type === 'diff' ? (block.files[0]?.patch ?? '') : '';
};

describe('arguments that look like file edits', () => {
  it('with a list of edits are one file with a hunk for each, and everything else stays an argument', () => {
    const edits = [
      { oldText: 'a\nb\nc', newText: 'a\nB\nc' },
      { oldText: 'x', newText: '' },
    ];
    const found = fileEdits(change, { path: '/n/a.txt', edits, dryRun: false });
    expect(found?.covers).toEqual(['edits']);
    expect(found?.blocks).toMatchObject([
      { type: 'diff', files: [{ path: '/n/a.txt', additions: 1, deletions: 2, status: 'modified' }] },
    ]);
    expect(patchOf({ path: '/n/a.txt', edits })).toBe(
      [
        'diff --git a//n/a.txt b//n/a.txt',
        '--- a//n/a.txt',
        '+++ b//n/a.txt',
        '@@ -1,3 +1,3 @@',
        ' a',
        '-b',
        '+B',
        ' c',
        '@@ -4,1 +3,0 @@',
        '-x',
        '',
      ].join('\n'),
    );
  });

  it('with an old and a new text are a diff too', () => {
    const patch = patchOf({ file_path: 'f', old_string: 'one\ntwo\n', new_string: 'two\nthree\n' });
    expect(patch).toContain('@@ -1,2 +1,2 @@\n-one\n two\n+three\n');
  });

  it('with new content alone say that the old content is not known', () => {
    const found = fileEdits(change, { path: 'f', content: 'new\n' });
    expect(found?.blocks.map(({ type }) => type)).toEqual(['diff', 'notice']);
    expect(found?.blocks[1]).toMatchObject({ text: expect.stringContaining('not known') });
    expect(patchOf({ path: 'f', content: 'new\n' })).toContain('@@ -0,0 +1,1 @@\n+new\n');
  });

  it('are not a diff where an edit says more, a path is missing, or nothing is changed', () => {
    const edits = [{ oldText: 'a', newText: 'b', everywhere: true }];
    expect(fileEdits(change, { path: 'f', edits })).toBeUndefined();
    expect(fileEdits(change, { content: 'x' })).toBeUndefined();
    expect(fileEdits({ effect: 'read' }, { path: 'f', content: 'x' })).toBeUndefined();
    expect(fileEdits(change, { path: 'f' })).toBeUndefined();
  });

  it('of any size are shown, in bounded time', () => {
    const long = (mark: string) => Array.from({ length: 5_000 }, (_, n) => `${mark} ${n}`).join('\n');
    expect(fileEdits(change, { path: 'f', old: long('a'), new: long('b') })?.blocks).toMatchObject([
      { files: [{ additions: 5_000, deletions: 5_000 }] },
    ]);
  });

  it('cannot end the heading of the diff early', () => {
    expect(patchOf({ path: 'f\n+++ b/other', content: 'x' }).split('\n')[0]).toBe(
      'diff --git a/f +++ b/other b/f +++ b/other',
    );
  });

  it('hide nothing: a list with anything but edits, and any argument besides, stays an argument', () => {
    const good = { old_str: 'a', new_str: 'b' };
    const others: JsonValue[] = [
      null,
      'ab',
      5,
      { old_str: 'a', other: 'b' },
      { new_str: 'a', other: 'b' },
      { old_str: 'a' },
    ];
    for (const other of others)
      expect(fileEdits(change, { path: 'f', edits: [good, other], content: 'x' })?.covers).toEqual([
        'content',
      ]);
    expect(fileEdits(change, { path: 'f', edits: [], content: 'x' })?.covers).toEqual(['content']);
    expect(fileEdits(change, { path: 'f', old: 'a', new: 'b', content: 'x' })?.covers).toEqual([
      'old',
      'new',
    ]);
    expect(fileEdits(change, { path: 'f', old: 'a' })).toBeUndefined();
    expect(fileEdits(change, { path: 'f', new: 'a' })).toBeUndefined();
    expect(fileEdits(change, { path: 'f', old: 'a', content: 'x' })?.covers).toEqual(['content']);
  });

  it('name the file by the first argument that is a text', () => {
    expect(fileEdits(change, { path: 5, file: 'f', content: 'x' })?.blocks[0]).toMatchObject({
      files: [{ path: 'f', binary: false }],
    });
    expect(fileEdits(change, { path: '', content: 'x' })).toBeUndefined();
  });

  it('count the lines of both texts on from edit to edit', () => {
    const edits = [
      { oldText: '', newText: 'a\nb' },
      { oldText: 'c\nd\ne', newText: '' },
      { oldText: 'f', newText: 'g' },
    ];
    const heads = patchOf({ path: 'f', edits })
      .split('\n')
      .filter((line) => line.startsWith('@@'));
    expect(heads).toEqual(['@@ -0,0 +1,2 @@', '@@ -1,3 +2,0 @@', '@@ -4,1 +3,1 @@']);
  });

  it('show the lines around a change as they are', () => {
    const patch = patchOf({ path: 'f', old: '1\n2\nx\n3\n4', new: '1\n2\ny\nz\n3\n4' });
    expect(patch.split('\n').slice(3)).toEqual([
      '@@ -1,5 +1,6 @@',
      ' 1',
      ' 2',
      '-x',
      '+y',
      '+z',
      ' 3',
      ' 4',
      '',
    ]);
    expect(patchOf({ path: 'f', old: 'a\na', new: 'a' })).toContain('@@ -1,2 +1,1 @@\n a\n-a\n');
    expect(patchOf({ path: 'f', old: 'a', new: 'a' })).toContain('@@ -1,1 +1,1 @@\n a\n');
  });

  it('show every line of both texts, and as few of them changed as possible', () => {
    const texts = wordsUpTo(4);
    for (const before of texts)
      for (const after of texts.filter(({ length }) => length + before.length < 8)) {
        const lines = patchOf({ path: 'f', old: before.join('\n'), new: after.join('\n') })
          .split('\n')
          .slice(4, -1);
        const of = (mark: string) =>
          lines.filter(([first = '']) => ` ${mark}`.includes(first)).map((line) => line.slice(1));
        const found = { before: of('-'), after: of('+'), same: of('').length };
        const expected = { before, after, same: commonLength(before, after) };
        // One comparison by text for each of 8,080 pairs, because a matcher would take most of the time.
        if (JSON.stringify(found) !== JSON.stringify(expected)) expect(found).toEqual(expected);
      }
  });

  it('are aligned where up to a million pairs of lines differ, beyond that shown as removed and added', () => {
    const around = (mark: string, count: number): string =>
      Array.from({ length: count }, (_, n) => (n === 500 ? 'common' : `${mark} ${n}`)).join('\n');
    const counts = (lines: number) =>
      fileEdits(change, { path: 'f', old: around('a', lines), new: around('b', 1_000) })?.blocks[0];
    expect(counts(1_000)).toMatchObject({ files: [{ additions: 999, deletions: 999 }] });
    expect(counts(1_001)).toMatchObject({ files: [{ additions: 1_000, deletions: 1_001 }] });
    const equal = around('c', 2_000);
    for (const [old, changed] of [
      [`x\n${equal}`, `y\n${equal}`],
      [`${equal}\nx`, `${equal}\ny`],
    ] as const)
      expect(fileEdits(change, { path: 'f', old, new: changed })?.blocks[0]).toMatchObject({
        files: [{ additions: 1, deletions: 1 }],
      });
  });
});

/** Every text of up to so many lines, each of which is one of three. */
function wordsUpTo(length: number): string[][] {
  if (length === 0) return [[]];
  const shorter = wordsUpTo(length - 1);
  const longest = shorter.filter((word) => word.length === length - 1);
  return [...shorter, ...longest.flatMap((word) => ['a', 'b', 'c'].map((line) => [...word, line]))];
}

function commonLength([a, ...as]: readonly string[], [b, ...bs]: readonly string[]): number {
  if (a === undefined || b === undefined) return 0;
  return a === b
    ? 1 + commonLength(as, bs)
    : Math.max(commonLength([a, ...as], bs), commonLength(as, [b, ...bs]));
}
