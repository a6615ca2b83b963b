import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import SqliteFile from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore } from '../support/engines.ts';
import { openTestKernel } from '../support/kernel.ts';
import { openTerminal, type Terminal } from './support.ts';

describe('a damaged database', () => {
  let terminal: Terminal;
  let store: string;
  beforeEach(() => {
    terminal = openTerminal('toolkits = ["x"]\napproval_mode = true\n');
    store = join(terminal.home, 'countersign.db');
  });
  afterEach(() => terminal.close());

  const edit = (sql: string): void => {
    const database = new SqliteFile(store);
    database.exec(sql);
    database.close();
  };
  const key = (): string => join(terminal.home, 'audit-key.pem');
  const removeStore = (): void => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(store + suffix, { force: true });
  };
  const invalid = (column: string) => `cast(replace(cast(${column} as blob), x'6c', x'ff') as text)`;
  const propose = (text: string) => terminal.run('call', 'x_post_tweet', '--args', JSON.stringify({ text }));

  it('with text that is no UTF-8 is listed, verified and named, and ends no process', async () => {
    await propose('hello world');
    edit(`update approvals set summary = ${invalid('summary')}, reason = cast(x'c3' as text)`);
    edit(`update calls set client = cast(x'80ff' as text), tool = ${invalid('tool')}`);
    edit(`update audit_log set body = ${invalid('body')} where seq = 1`);
    const inbox = await terminal.run('approvals', 'list');
    expect({ code: inbox.code, out: inbox.out }).toEqual({
      code: 0,
      out: expect.stringContaining('Post to @adamarsh_dev'),
    });
    expect((await terminal.run('status')).code).toBe(0);
    const { code, out } = await terminal.run('audit', 'verify');
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('First invalid entry: 1') });
  });

  it('with a title that no one requested marks the approval wherever it is listed', async () => {
    for (const text of ['one', 'two']) await propose(text);
    edit(`update approvals set summary = 'Read a post' where id = 2`);
    for (const command of [['approvals', 'list'], ['status']]) {
      const { code, out } = await terminal.run(...command);
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringMatching(/\b2 .*Differs from the log: /),
      });
      expect(out.split('Differs from the log')).toHaveLength(2);
    }
    const listed = await terminal.json<{ id: number; differs?: true }[]>('approvals', 'list');
    expect(listed.map(({ id, differs }) => [id, differs])).toEqual([
      [2, true],
      [1, undefined],
    ]);
  });

  it('with one approval that cannot be read lists, counts and rejects the others', async () => {
    for (const text of ['one', 'two', 'three']) await propose(text);
    await terminal.run('agents', 'add', 'robin');
    edit(`update approvals set args = cast(x'61ff62' as text) where id = 2`);
    edit(`update agents set created_at = 'yesterday'`);
    const message = 'Approval 2 cannot be read. Run `countersign audit verify`.';
    for (const command of [['approvals', 'list'], ['status']]) {
      const { code, out } = await terminal.run(...command);
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Approval 2 cannot be read.') });
      expect(out).toContain('3 ');
    }
    expect(await terminal.json('approvals', 'list')).toMatchObject([
      { id: 3 },
      { id: 2, damaged: 'args', error: message },
      { id: 1 },
    ]);
    expect((await terminal.run('agents', 'list')).out).toContain('Agent robin cannot be read.');
    expect(await terminal.run('approvals', 'show', '2')).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
    expect(await terminal.run('approvals', 'approve', '2')).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
    const all = await terminal.run('approvals', 'reject', '--all');
    expect(all).toMatchObject({ code: 1, out: expect.stringContaining('Rejected 2 approvals.') });
    expect(all.out).toContain(`2: ${message}`);
    expect((await terminal.run('approvals', 'reject', '2')).out).toContain(
      'Rejected approval 2, which cannot be read. x_post_tweet was not run.',
    );
    expect(await terminal.json('approvals', 'list')).toEqual([]);
  });

  it('with a page of the audit log overwritten makes status and verify exit 1 and say so', async () => {
    await propose('hello');
    edit('pragma wal_checkpoint(truncate)');
    const reader = new SqliteFile(store);
    const { rootpage } = reader
      .prepare(`select rootpage from sqlite_schema where name = 'audit_head'`)
      .get([]) as { rootpage: number };
    const { page_size } = reader.prepare('pragma page_size').get([]) as { page_size: number };
    reader.close();
    const file = openSync(store, 'r+');
    writeSync(file, Buffer.alloc(page_size, 0xee), 0, page_size, (rootpage - 1) * page_size);
    closeSync(file);
    const status = await terminal.run('status');
    expect(status.code).toBe(1);
    expect(status.out + status.err).toMatch(/FAILED|damaged/);
    const before = readFileSync(store);
    const { code, out, err } = await terminal.run('audit', 'verify');
    expect(code).toBe(1);
    expect(out + err).toMatch(/damaged/i);
    expect(readFileSync(store).equals(before)).toBe(true);
  });

  /** Overwrites the page that holds the first or the last rows of a table. */
  const overwrite = (table: string, end: 'min' | 'max'): void => {
    edit('pragma wal_checkpoint(truncate)');
    const reader = new SqliteFile(store);
    const { page } = reader
      .prepare(
        `select ${end}(pageno) as page from dbstat where name = '${table}' and pagetype in ('leaf', 'overflow')`,
      )
      .get([]) as { page: number };
    const { page_size } = reader.prepare('pragma page_size').get([]) as { page_size: number };
    reader.close();
    const file = openSync(store, 'r+');
    writeSync(file, Buffer.alloc(page_size, 0xee), 0, page_size, (page - 1) * page_size);
    closeSync(file);
  };

  it.each([
    ['audit_log', 'max', ['status', 'doctor']],
    ['approvals', 'min', ['status', 'doctor']],
    // Status reads only what it shows.
    ['approvals', 'max', ['doctor']],
  ] as const)('with a page of %s (%s) overwritten fails in plain words', async (table, end, commands) => {
    for (let n = 0; n < 8; n += 1) await propose(`hello ${n} ${'x'.repeat(200)}`);
    overwrite(table, end);
    for (const command of commands) {
      const { code, out, err } = await terminal.run(command);
      expect({ command, code, said: out + err }).toEqual({
        command,
        code: 1,
        said: expect.stringMatching(/damaged\. Restore a backup/),
      });
      expect(out + err).not.toContain('malformed');
    }
  });

  it('that was emptied next to a signing key is refused and left alone', async () => {
    await propose('hello');
    for (const suffix of ['-wal', '-shm']) rmSync(store + suffix, { force: true });
    truncateSync(store, 0);
    const { code, err } = await terminal.run('status');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(
        `The database ${store} is empty, but the data directory has the signing key`,
      ),
    });
    expect(readFileSync(store)).toHaveLength(0);
  });

  it('that was deleted next to a signing key is not replaced, until the key is moved away', async () => {
    await propose('hello');
    removeStore();
    for (const command of ['status', 'doctor', 'pause']) {
      const { code, out, err } = await terminal.run(command);
      expect({ command, code, said: out + err }).toEqual({
        command,
        code: 1,
        said: expect.stringContaining(`The database ${store} is missing, but the data directory has`),
      });
    }
    expect(existsSync(store)).toBe(false);
    renameSync(key(), join(terminal.home, 'old-key.pem'));
    expect((await terminal.run('status')).code).toBe(0);
  });

  it('of another log is refused next to our key, and continues with a new one', async () => {
    await propose('hello');
    const aside = join(terminal.home, 'other.db');
    edit('pragma wal_checkpoint(truncate)');
    copyFileSync(store, aside);
    removeStore();
    rmSync(key());
    await propose('mine');
    removeStore();
    copyFileSync(aside, store);
    for (const command of ['status', 'doctor', 'pause']) {
      const { code, out, err } = await terminal.run(command);
      expect({ command, code, said: out + err }).toEqual({
        command,
        code: 1,
        said: expect.stringContaining(`The database ${store} has the audit log of another installation`),
      });
    }
    expect((await terminal.run('audit', 'verify')).err).toContain('has never signed this audit log');
    // A command that names it may read it, and unsigned entries stay unsigned.
    edit('delete from audit_checkpoints');
    expect(await terminal.run('sessions', '--store', store)).toMatchObject({ code: 0, err: '' });
    const reader = new SqliteFile(store);
    expect(reader.prepare('select * from audit_checkpoints').all([])).toEqual([]);
    reader.close();
    removeStore();
    copyFileSync(aside, store);
    rmSync(key());
    expect((await terminal.run('pause')).code).toBe(0);
    const { code, out, err } = await terminal.run('audit', 'verify');
    expect({ code, err, out }).toEqual({ code: 0, err: '', out: expect.stringMatching(/^Key .*\nKey /m) });
  });

  it('of another program is refused and left alone', async () => {
    const other = new SqliteFile(store);
    other.exec('create table notes (text text)');
    other.close();
    const before = readFileSync(store);
    const { code, err } = await terminal.run('status');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('belongs to another program') });
    expect(readFileSync(store).equals(before)).toBe(true);
  });
});

describe('a full disk', () => {
  it('is called one, and calls go on when there is room again', async () => {
    const { database, dataDir, close } = await openTestStore('sqlite');
    const test = await openTestKernel(database, dataDir);
    await test.call('ledger_write', { text: 'first' });
    const limit = (pages: number | string) =>
      database.db.executeQuery({ sql: `pragma max_page_count = ${pages}`, parameters: [] } as never);
    await limit(1);
    const text = 'x'.repeat(200_000);
    const { outcome } = await test.call('ledger_write', { text });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect('fault' in outcome && outcome.fault.message).toContain('The disk is full');
    await limit(1_000_000);
    expect((await test.call('ledger_write', { text: 'second' })).outcome.status).toBe('ok');
    expect(await test.lines()).toEqual(['first', 'second']);
    await close();
  });
});

describe('audit.origin', () => {
  it('names a new log, and never renames one', async () => {
    const terminal = openTerminal('toolkits = ["x"]\n[audit]\norigin = "example.org/box"\n');
    await terminal.run('call', 'get_capabilities');
    expect((await terminal.run('audit', 'checkpoint')).out.split('\n')[0]).toBe('example.org/box');
    terminal.configure('toolkits = ["x"]\n[audit]\norigin = "example.org/other"\n');
    expect((await terminal.run('audit', 'key')).out).toMatch(/^example\.org\/box\+/);
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
    terminal.close();
  });
});
