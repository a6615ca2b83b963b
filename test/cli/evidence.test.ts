import { join } from 'node:path';
import SqliteFile from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './support.ts';

describe('an audit log that cannot be written', () => {
  let terminal: Terminal;
  beforeEach(async () => {
    terminal = openTerminal('toolkits = ["x"]\n');
    await terminal.run('status');
    const file = new SqliteFile(join(terminal.home, 'countersign.db'));
    file.exec(
      `create trigger stuck before update on audit_head begin select raise(abort, 'no more room'); end`,
    );
    file.close();
  });
  afterEach(() => terminal.close());

  it('makes status exit 1 and say so', async () => {
    const { code, out } = await terminal.run('status');
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(/Evidence\s+FAILED: it cannot be written/),
    });
    const shown = await terminal.json<{ evidence_problem: string | null }>('status');
    expect(shown.evidence_problem).toEqual(expect.any(String));
  });

  it('is a failed check of doctor, with what to do', async () => {
    const { code, out } = await terminal.run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/✗ evidence\s+the audit log cannot be written/);
    expect(out).toContain('Free disk space');
  });
});
