import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './support.ts';

describe('audit export for log collectors', () => {
  let terminal: Terminal;
  beforeEach(async () => {
    terminal = openTerminal('toolkits = ["x"]\n');
    await terminal.run('call', 'get_mode');
    await terminal.run('pause');
  });
  afterEach(() => terminal.close());

  const lines = async (...args: string[]): Promise<{ seq: number; kind: string }[]> => {
    const { out } = await terminal.run('audit', 'export', ...args);
    return out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { seq: number; kind: string });
  };

  it('prints one line for each entry, all or those after a position', async () => {
    const all = await lines('--format', 'jsonl');
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, seq) => seq));
    expect(all.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['read', 'config']));
    expect(await lines('--format', 'jsonl', '--after', '0')).toEqual(all.slice(1));
    expect(await lines('--format', 'ecs')).toHaveLength(all.length);
  });

  it.each([
    ['nothing', []],
    ['an unknown format', ['--format', 'xml']],
    ['a run and a format', ['--run', 'r', '--format', 'jsonl']],
    ['a position that is none', ['--format', 'jsonl', '--after', 'x']],
    ['a run to follow', ['--run', 'r', '--follow']],
    ['an output file', ['--format', 'jsonl', '-o', 'f']],
  ])('is a usage error with %s', async (_what, args) => {
    expect((await terminal.run('audit', 'export', ...args)).code).toBe(2);
  });
});
