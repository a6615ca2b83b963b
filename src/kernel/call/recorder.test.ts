import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { Log } from '../../contract/ports.ts';
import type { Database } from '../store/database.ts';
import { readEvidence } from './recorder.fixture.ts';
import { type CallEvidence, MAX_WAITING, Recorder } from './recorder.ts';

const MAX_CHARS = 64 * 1024 * 1024;
const FULL_DISK = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
const one = readEvidence();

let said: [string, object | undefined][];
let log: Log;
let isBroken: boolean;
let commits: number;
/** The commit in progress does not end while this is pending. */
let held: Promise<void> | undefined;
let recorder: Recorder;

beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  isBroken = false;
  commits = 0;
  held = undefined;
  const say = (message: string, fields?: object): void => void said.push([message, fields]);
  log = { debug: say, info: say, warn: say, error: say };
  // What is committed does not matter here, only when.
  const database = {
    engine: 'sqlite',
    async write() {
      commits += 1;
      await held;
      if (isBroken) throw FULL_DISK;
    },
  } as unknown as Database;
  recorder = new Recorder(database, log);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Evidence that takes this many characters. */
const sized = (chars: number): CallEvidence => {
  const [args, result] = one.payloads;
  if (!args || !result) throw new Error('No payloads.');
  const body = 'x'.repeat(chars - one.entry.body.length);
  return {
    ...one,
    payloads: [
      { ...args, body },
      { ...result, body: null },
    ],
  };
};
const addMany = (count: number) => {
  for (let index = 0; index < count; index += 1) expect(recorder.add(one)).toBeUndefined();
};

describe('the recorder', () => {
  it('commits what came within 50 ms together, and not earlier', async () => {
    expect(recorder.add(one)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(30);
    expect(recorder.add(one)).toBeUndefined();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(19);
    expect(commits).toBe(0);
    expect(recorder.state).toMatchObject({ writable: true, waiting: 2, full: false });
    await vi.advanceTimersByTimeAsync(1);
    expect(commits).toBe(1);
    expect(recorder.state.waiting).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    void recorder.add(one);
    await vi.advanceTimersByTimeAsync(50);
    expect(commits).toBe(2);
  });

  it('commits once when it is asked before the 50 ms are over', async () => {
    void recorder.add(one);
    await recorder.flush();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(commits).toBe(1);
    await recorder.flush();
    expect(commits).toBe(1);
  });

  it('makes durable what came while a commit was in progress', async () => {
    let release = (): void => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    void recorder.add(one);
    const first = recorder.flush();
    await vi.advanceTimersByTimeAsync(0);
    void recorder.add(one);
    const second = recorder.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(commits).toBe(1);
    expect(recorder.state.waiting).toBe(1);
    release();
    await Promise.all([first, second]);
    expect(commits).toBe(2);
    expect(recorder.state.waiting).toBe(0);
  });

  it('keeps what could not be committed, says why, and tries again after a second', async () => {
    isBroken = true;
    void recorder.add(one);
    await vi.advanceTimersByTimeAsync(50);
    expect(recorder.state).toEqual({
      writable: false,
      waiting: 1,
      full: false,
      unwritten: 0,
      error: FULL_DISK,
    });
    expect(recorder.problem).toBe(FULL_DISK);
    expect(recorder.refusal).toBeUndefined();
    expect(said).toEqual([['The audit log could not be written', { error: FULL_DISK, waiting: 1 }]]);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(999);
    expect(commits).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(commits).toBe(2);
    expect(recorder.state).toMatchObject({ writable: true, waiting: 0, error: undefined });
    expect(recorder.problem).toBeUndefined();
  });

  it('answers no call while it cannot write, and the first one after it can', async () => {
    isBroken = true;
    void recorder.add(one);
    await recorder.flush();
    await expect(recorder.add(one)).rejects.toMatchObject({ code: 'db_error', cause: FULL_DISK });
    expect(recorder.state.waiting).toBe(2);
    isBroken = false;
    await expect(recorder.add(one)).resolves.toBeUndefined();
    expect(recorder.state).toMatchObject({ writable: true, waiting: 0 });
  });

  it('makes calls wait for the database when too many are waiting', async () => {
    addMany(MAX_WAITING - 1);
    expect(recorder.state.full).toBe(false);
    const waiting = recorder.add(one);
    expect(recorder.state.full).toBe(true);
    expect(recorder.refusal).toBeUndefined();
    await waiting;
    expect(commits).toBe(1);
    expect(recorder.state).toMatchObject({ waiting: 0, full: false });
  });

  it('makes calls wait for the database when too much text is waiting', async () => {
    expect(recorder.add(sized(MAX_CHARS - 1 - one.entry.body.length))).toBeUndefined();
    expect(recorder.state.full).toBe(false);
    expect(recorder.add({ ...one, payloads: [] })).toBeUndefined();
    expect(recorder.state.full).toBe(false);
    await recorder.add({ ...one, payloads: [] });
    expect(commits).toBe(1);
    expect(recorder.state.full).toBe(false);
  });

  it('lets no call begin while it can neither write nor hold more', async () => {
    isBroken = true;
    const waiting = recorder.add(sized(MAX_CHARS));
    expect(recorder.state.full).toBe(true);
    await expect(waiting).rejects.toMatchObject({ code: 'db_error' });
    expect(recorder.refusal).toMatchObject({ code: 'db_error', cause: FULL_DISK });
    expect(recorder.refusal?.message).toContain('The disk is full');
    isBroken = false;
    await recorder.flush();
    expect(recorder.refusal).toBeUndefined();
    expect(recorder.state.full).toBe(false);
  });

  it('counts what came during a failed commit in addition to what is left', async () => {
    isBroken = true;
    let release = (): void => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    void recorder.add(sized(MAX_CHARS - 2 * one.entry.body.length));
    const flushed = recorder.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(recorder.add({ ...one, payloads: [] })).toBeUndefined();
    release();
    await flushed;
    expect(recorder.state).toMatchObject({ waiting: 2, full: false });
    await expect(recorder.add({ ...one, payloads: [] })).rejects.toMatchObject({ code: 'db_error' });
    expect(recorder.state).toMatchObject({ waiting: 3, full: true });
  });

  it('continues after its server log failed once', async () => {
    isBroken = true;
    const error = log.error;
    log.error = () => {
      throw new Error('stderr is closed');
    };
    void recorder.add(one);
    await expect(recorder.flush()).rejects.toThrow('stderr is closed');
    log.error = error;
    isBroken = false;
    await recorder.flush();
    expect(recorder.state).toMatchObject({ writable: true, waiting: 0 });
  });
});

describe('recorded evidence', () => {
  let store: TestStore;
  let stored: Recorder;
  beforeEach(async () => {
    vi.useRealTimers();
    store = await openTestStore('sqlite');
    stored = new Recorder(store.database, log);
  });
  afterEach(() => store.close());

  const count = async (table: 'calls' | 'audit_payloads') =>
    (await store.database.db.selectFrom(table).select('call_id').execute()).length;
  const hashes = async () => {
    const rows = await store.database.db.selectFrom('audit_log').select('hash').orderBy('seq').execute();
    return rows.map(({ hash }) => hash);
  };
  const links = () => store.database.db.selectFrom('call_artifacts').selectAll().execute();

  it('is a row, two payloads, an entry and the links to artifacts of each call', async () => {
    const [plain, linked] = [readEvidence(), readEvidence()];
    const artifact = { call_id: linked.row.call_id, artifact_id: 'sha256:a', name: 'a.txt' };
    await stored.add(plain);
    await stored.flush();
    expect([await count('calls'), await count('audit_payloads'), await links()]).toEqual([1, 2, []]);
    await stored.add({ ...linked, artifacts: [artifact] });
    await stored.flush();
    expect([await count('calls'), await count('audit_payloads')]).toEqual([2, 4]);
    expect(await links()).toEqual([artifact]);
    expect(await hashes()).toEqual([plain.entry.hash, linked.entry.hash]);
  });

  it('is written immediately where something must follow it in the log', async () => {
    const [first, second] = [readEvidence(), readEvidence()];
    await stored.addNow(first, async (write) => write.append(second.entry));
    expect(await hashes()).toEqual([first.entry.hash, second.entry.hash]);
    expect(await count('calls')).toBe(1);
  });

  it('is counted and reported where the database refuses it', async () => {
    const taken = readEvidence();
    await stored.add(taken);
    await stored.flush();
    const bad = readEvidence({ call_id: taken.row.call_id, client: 'another' });
    await stored.add(bad);
    await stored.flush();
    expect(stored.state).toMatchObject({ writable: true, waiting: 0, unwritten: 1 });
    expect(said).toEqual([
      [
        'The database refused the evidence of a call; the audit log says that it is missing',
        { call: bad.row.call_id, tool: 'ledger_read', evidence: bad.entry.hash, error: expect.any(Error) },
      ],
    ]);
  });
});
