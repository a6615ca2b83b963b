import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import SqliteFile from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { openStorageReadOnly } from '../../src/storage/open.ts';
import { fillStore } from '../support/busy-log.ts';
import { freshPostgres } from '../support/engines.ts';
import { openTestKernel } from '../support/kernel.ts';
import { openTerminal, type Terminal } from './support.ts';

const BROKEN =
  'mode = "no such mode"\ntoolkits = ["x", "nope"]\n[mcp_policy]\nmax_mutations_per_hour = "many"\n';
/** Not TOML at all after the part that names the database. */
const GARBLED = (url: string) => `mode = = \n[storage]\nurl = ${JSON.stringify(url)}\n[audit\n`;

/** Every file below a folder by its hash, without what SQLite keeps for itself. */
function bytesBelow(folder: string): Record<string, string> {
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (name) => !name.endsWith('-shm') && readdirOrFile(join(folder, name)),
  );
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

const readdirOrFile = (path: string): boolean => {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
};

describe('the audit commands that read', () => {
  let terminal: Terminal;
  let store: string;
  beforeEach(async () => {
    terminal = openTerminal();
    store = join(terminal.home, 'countersign.db');
  });
  afterEach(() => terminal.close());

  /** The id of its first call. */
  const sample = async (url = store): Promise<string> => {
    const database = await openStorage({ url });
    const test = await fillStore(database, terminal.home);
    const { callId = '' } = (await test.kernel.telemetry.calls({ limit: 500 })).at(-1) ?? {};
    await database.close();
    return callId;
  };
  /** One more call, which no checkpoint covers. */
  const callAgain = async (url = store): Promise<string> => {
    const database = await openStorage({ url });
    const test = await openTestKernel(database, terminal.home);
    const { callId } = await test.call('ledger_read', {});
    await test.kernel.flush();
    await database.close();
    return callId;
  };
  const edit = (sql: string, file = store): void => {
    const database = new SqliteFile(file);
    database.exec(sql);
    database.close();
  };

  it.each([['verify'], ['prove', 'call-a'], ['export', '--run', 'run-1']])(
    'fail without a database and create none: %s',
    async (...args) => {
      const { code, out, err } = await terminal.run('audit', ...args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(`${store} does not exist`);
      expect(readdirSync(terminal.home)).toEqual(['config.toml']);
    },
  );

  it('take an empty or foreign database for neither a log nor an error of their own', async () => {
    writeFileSync(store, '');
    const empty = await terminal.run('audit', 'verify');
    expect({ code: empty.code, out: empty.out }).toEqual({ code: 1, out: '' });
    expect(empty.err).toContain('has no audit log');
    edit('create table notes (text text)');
    expect((await terminal.run('audit', 'verify')).err).toContain('has no audit log');
  });

  it('name the damage with an invalid configuration, exit 1 and leave every byte as it was', async () => {
    await sample();
    edit(`update audit_log set body = replace(body, 'a', 'b') where seq = 2`);
    terminal.configure(BROKEN);
    const before = bytesBelow(terminal.home);
    const { code, out, err } = await terminal.run('audit', 'verify');
    expect(err).toBe('');
    expect(code).toBe(1);
    expect(out).toContain('First invalid entry: 2');
    expect(bytesBelow(terminal.home)).toEqual(before);
    expect(Object.keys(before)).toContain('audit-key.pem');
  });

  it('say that rows differ when the log itself is intact', async () => {
    const call = await sample();
    edit(`update calls set tool = 'other' where call_id = '${call}'`);
    const { code, out } = await terminal.run('audit', 'verify');
    expect(code).toBe(1);
    expect(out).toContain('Verification FAILED: rows in the database differ from the audit log.');
    expect(out).toMatch(/First difference \(see entry \d+\):\n.*other/);
    expect(out).not.toContain('invalid entry');
  });

  it('write no proof of a call whose entry was changed', async () => {
    const call = await sample();
    edit(`update audit_log set body = replace(body, 'ledger', 'edited') where call_id = '${call}'`);
    const file = join(terminal.home, 'proof.json');
    const { code, out, err } = await terminal.run('audit', 'prove', call, '-o', file);
    expect({ code, out, exists: existsSync(file) }).toEqual({ code: 1, out: '', exists: false });
    expect(err).toMatch(/^Error: Entry \d+ of the audit log does not match its hash/);
  });

  it('read what is still in the write-ahead log of a killed process and leave it there', async () => {
    await sample();
    const copy = join(terminal.home, 'killed');
    mkdirSync(copy);
    const database = await openStorage({ url: store });
    const test = await openTestKernel(database, terminal.home);
    await test.call('ledger_read', {});
    await test.kernel.flush();
    const { size } = await database.db.selectFrom('audit_head').select('size').executeTakeFirstOrThrow();
    for (const suffix of ['', '-wal']) copyFileSync(store + suffix, join(copy, `countersign.db${suffix}`));
    copyFileSync(join(terminal.home, 'audit-key.pem'), join(copy, 'audit-key.pem'));
    cpSync(join(terminal.home, 'artifacts'), join(copy, 'artifacts'), { recursive: true });
    await database.close();
    process.env.COUNTERSIGN_HOME = copy;
    const before = bytesBelow(copy);
    expect(Object.keys(before)).toContain('countersign.db-wal');
    const { code, out } = await terminal.run('--json', 'audit', 'verify');
    expect({ code, size: JSON.parse(out).size }).toEqual({ code: 0, size });
    expect(bytesBelow(copy)).toEqual(before);
  });

  it('prove and export with an invalid configuration, and sign nothing', async () => {
    const call = await sample();
    terminal.configure(BROKEN);
    const before = bytesBelow(terminal.home);
    const proof = await terminal.run('audit', 'prove', call);
    const bundle = await terminal.run('audit', 'export', '--run', 'run-1');
    expect([proof.code, bundle.code]).toEqual([0, 0]);
    expect(JSON.parse(bundle.out)).toMatchObject({ statementKey: null, statements: [] });
    expect(bytesBelow(terminal.home)).toEqual(before);
    for (const [name, { out }] of Object.entries({ proof, bundle })) {
      const file = join(terminal.home, `${name}.json`);
      writeFileSync(file, out);
      expect((await terminal.run('audit', 'check', file)).code).toBe(0);
    }
  });

  it('say what to run when no checkpoint covers a call yet', async () => {
    await sample();
    const late = await callAgain();
    const { code, err } = await terminal.run('audit', 'prove', late);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('countersign audit checkpoint') });
    await terminal.run('audit', 'checkpoint');
    expect((await terminal.run('audit', 'prove', late)).code).toBe(0);
  });

  it('find the database named in a file that is not TOML, and guess none where they cannot', async () => {
    const elsewhere = join(terminal.home, 'else where #1?.db');
    await sample(elsewhere);
    terminal.configure(GARBLED(elsewhere));
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
    terminal.configure('[storage]\nurl = "unfinished\n');
    const unclear = await terminal.run('audit', 'verify');
    expect({ code: unclear.code, err: unclear.err }).toEqual({
      code: 1,
      err: expect.stringContaining('COUNTERSIGN_STORAGE__URL'),
    });
    process.env.COUNTERSIGN_STORAGE__URL = elsewhere;
    try {
      expect((await terminal.run('audit', 'verify')).code).toBe(0);
    } finally {
      delete process.env.COUNTERSIGN_STORAGE__URL;
    }
    const missing = await terminal.run('-c', join(terminal.home, 'nope.toml'), 'audit', 'verify');
    expect(missing.code).toBe(1);
  });

  it('read PostgreSQL without the right to write', async () => {
    const url = await freshPostgres();
    await sample(url);
    terminal.configure(GARBLED(url));
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
    const database = await openStorageReadOnly({ url });
    await expect(database.db.deleteFrom('calls').execute()).rejects.toThrow(/read-only transaction/);
    await database.close();
    terminal.configure(GARBLED(await freshPostgres({ empty: true })));
    const empty = await terminal.run('audit', 'verify');
    expect({ code: empty.code, err: empty.err }).toEqual({
      code: 1,
      err: expect.stringContaining('has no audit log'),
    });
  });

  it('refuse to write SQLite that was opened for reading', async () => {
    await sample();
    const database = await openStorageReadOnly({ url: store });
    await expect(database.db.deleteFrom('calls').execute()).rejects.toThrow(/readonly/);
    await database.close();
    rmSync(store);
    await expect(openStorageReadOnly({ url: store })).rejects.toThrow(/does not exist/);
    expect(existsSync(store)).toBe(false);
    expect(existsSync(dirname(store))).toBe(true);
  });
});
