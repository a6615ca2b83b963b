import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasColor, paint } from './color.ts';
import { table } from './output.ts';

const terminal = { isTTY: true };
const pipe = { isTTY: false };

describe('colour', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('is for terminals, unless NO_COLOR or a dumb terminal says otherwise', () => {
    expect(hasColor(terminal, {})).toBe(true);
    expect(hasColor(terminal, { NO_COLOR: '1' })).toBe(false);
    // An empty value counts as unset, as no-color.org has it.
    expect(hasColor(terminal, { NO_COLOR: '' })).toBe(true);
    expect(hasColor(terminal, { TERM: 'dumb' })).toBe(false);
    expect(hasColor(pipe, {})).toBe(false);
  });

  it('is forced or forbidden by FORCE_COLOR, and NO_COLOR wins', () => {
    expect(hasColor(pipe, { FORCE_COLOR: '1' })).toBe(true);
    expect(hasColor(terminal, { FORCE_COLOR: '0' })).toBe(false);
    expect(hasColor(terminal, { FORCE_COLOR: 'false' })).toBe(false);
    expect(hasColor(terminal, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false);
  });

  it('takes no room in a table', () => {
    const rows = [
      ['1', { text: 'pending', color: 'cyan' as const }, 'Post'],
      ['2', { text: 'done', color: 'green' as const }, 'Like'],
      ['3', 'old', ''],
    ];
    vi.stubEnv('NO_COLOR', '1');
    const plain = table(['ID', 'STATE', 'ACTION'], rows);
    expect(plain).toBe('ID  STATE    ACTION\n1   pending  Post\n2   done     Like\n3   old');
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('FORCE_COLOR', '1');
    const painted = table(['ID', 'STATE', 'ACTION'], rows);
    expect(painted).toContain(paint('cyan', 'pending', true));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding escape codes is the point
    expect(painted.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
  });
});
