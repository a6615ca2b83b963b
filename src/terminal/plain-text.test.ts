import { describe, expect, it } from 'vitest';
import { oneLine, paragraph, plainText } from './text.ts';

describe('text from elsewhere', () => {
  it('has what would steer a terminal written out and keeps lines, tabs and other scripts', () => {
    expect(plainText('a\u001b[2Jb\u0007\u009bc\u202ed')).toBe('a‹U+001B›[2Jb‹U+0007›‹U+009B›c‹U+202E›d');
    expect(plainText('one\r\ntwo\tthree 日本 👩‍👩‍👧')).toBe('one\ntwo\tthree 日本 👩‍👩‍👧');
  });

  it('is cut between characters, never within one', () => {
    expect(oneLine('😀😀😀😀', 3)).toBe('😀😀…');
    expect(oneLine(' a \n b ')).toBe('a b');
  });

  it('wraps at words behind a margin and keeps empty lines', () => {
    expect(paragraph('one two three\n\nfour', '> ', 8)).toBe('> one two\n> three\n>\n> four');
    expect(paragraph('if x:\n    run()  # now')).toBe('  if x:\n      run()  # now');
  });
});
