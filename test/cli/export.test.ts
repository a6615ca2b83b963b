import { join } from 'node:path';
import SqliteFile from 'libsql';
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

  it('prints invalid entries too, names them and what is missing, and exits 1', async () => {
    const all = await lines('--format', 'jsonl');
    const database = new SqliteFile(join(terminal.home, 'countersign.db'));
    database.exec(`update audit_log set body = '{x' where seq = 1`);
    database.exec('delete from audit_log where seq = 0');
    database.close();
    const { code, out, err } = await terminal.run('audit', 'export', '--format', 'jsonl');
    const printed = out.trimEnd().split('\n');
    expect(printed.map((line) => JSON.parse(line).seq)).toEqual(
      all.map(({ seq }) => seq).filter((seq) => seq !== 0),
    );
    expect(JSON.parse(printed[0] ?? '')).toMatchObject({ seq: 1, invalid: true, body: '{x' });
    expect({ code, err: err.trimEnd().split('\n') }).toEqual({
      code: 1,
      err: ['Warning: Entry 0 is missing.', expect.stringMatching(/^Warning: Entry 1 is invalid/)],
    });
    const later = await terminal.run('audit', 'export', '--format', 'ecs', '--after', '1');
    expect({ code: later.code, err: later.err }).toEqual({ code: 0, err: '' });
  });

  it('says so when the position is beyond the end', async () => {
    const { length } = await lines('--format', 'jsonl');
    const beyond = await terminal.run('audit', 'export', '--format', 'jsonl', '--after', '99999');
    expect(beyond).toEqual({
      code: 0,
      out: '',
      err: `Warning: the audit log has only ${length} entries, so none comes after position 99999.\n`,
    });
    const last = await terminal.run('audit', 'export', '--format', 'jsonl', '--after', String(length - 1));
    expect(last).toEqual({ code: 0, out: '', err: '' });
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
