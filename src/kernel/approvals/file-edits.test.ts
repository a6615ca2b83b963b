import { describe, expect, it } from 'vitest';
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
});
