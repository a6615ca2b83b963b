import { describe, expect, it } from 'vitest';
import { findEdits } from './find-edits.ts';

describe('findEdits', () => {
  it('finds an old and a new text under the names that servers use', () => {
    expect(findEdits({ file_path: 'a.ts', old_string: 'x', new_string: 'y', replace_all: true })).toEqual({
      edits: [{ path: 'a.ts', before: 'x', after: 'y' }],
      covers: ['file_path', 'old_string', 'new_string'],
    });
  });

  it('finds a list of edits, and lists those with further values too', () => {
    const edits = [{ oldText: 'a', newText: 'b' }];
    expect(findEdits({ path: 'a.md', edits, dryRun: false })).toEqual({
      edits: [{ path: 'a.md', before: 'a', after: 'b' }],
      covers: ['path', 'edits'],
    });
    const more = [{ oldText: 'a', newText: 'b', path: 'c', count: 2 }];
    expect(findEdits({ edits: more })).toEqual({
      edits: [{ path: 'c', before: 'a', after: 'b' }],
      covers: [],
    });
  });

  it('takes a path with content for a file that is written', () => {
    expect(findEdits({ path: 'n.txt', content: 'hello' })).toEqual({
      edits: [{ path: 'n.txt', before: undefined, after: 'hello' }],
      covers: ['path', 'content'],
    });
  });

  it('finds nothing in other arguments', () => {
    expect(findEdits({ query: 'x', edits: [1, 2] })).toBeUndefined();
    expect(findEdits({ content: 'x' })).toBeUndefined();
    expect(findEdits({ edits: [{ oldText: 'a' }] })).toBeUndefined();
  });
});
