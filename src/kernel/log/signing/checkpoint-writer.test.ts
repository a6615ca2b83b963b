import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { CheckpointWriter, type CheckpointWriterOptions } from './checkpoint-writer.ts';
import { hasSigningKey } from './key-file.ts';

describe('the writer of checkpoints', () => {
  let store: TestStore;
  let dataDir: string;
  let logged: [string, string, unknown][];
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    dataDir = mkdtempSync(join(tmpdir(), 'countersign-writer-'));
    logged = [];
  });
  afterEach(async () => {
    vi.useRealTimers();
    await store.close();
    rmSync(dataDir, { recursive: true });
  });

  const open = (options: Partial<CheckpointWriterOptions> = {}) =>
    new CheckpointWriter({
      database: store.database,
      dataDir,
      log: {
        debug() {},
        info() {},
        warn: (message, fields) => logged.push(['warn', message, fields]),
        error: (message, fields) => logged.push(['error', message, fields]),
      },
      intervalMs: 1000,
      ...options,
    });
  const sizes = async () =>
    (await store.database.db.selectFrom('audit_checkpoints').select('size').orderBy('size').execute()).map(
      ({ size }) => size,
    );

  it('tries on every interval until it is closed, by one timer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const writer = open();
    const write = vi.spyOn(writer, 'writeIfGrown').mockResolvedValue();
    writer.start();
    writer.start();
    expect(vi.getTimerCount()).toBe(1);
    expect(write).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2000);
    expect(write).toHaveBeenCalledTimes(2);
    await writer.close();
    expect(write).toHaveBeenCalledTimes(3);
    expect(vi.getTimerCount()).toBe(0);
    writer.start();
    expect(vi.getTimerCount()).toBe(1);
    await writer.close();
  });

  it('signs what was added, by its own clock, and nothing twice', async () => {
    const scribe = await LogScribe.open(store.database, dataDir);
    await scribe.read('a');
    const now = () => new Date('2026-03-01T12:00:00Z');
    const writer = open({ now });
    await writer.writeIfGrown();
    await writer.writeIfGrown();
    expect(await sizes()).toEqual([2]);
    await scribe.read('b');
    await Promise.all([writer.writeIfGrown(), writer.close()]);
    expect(await sizes()).toEqual([2, 3]);
    const [first] = await store.database.db.selectFrom('audit_checkpoints').select('at').execute();
    expect(first?.at).toBe('2026-03-01T12:00:00.000Z');
    expect(logged).toEqual([]);
  });

  it('uses the time of the system unless it is given another', () => {
    expect(Math.abs(open().now().getTime() - Date.now())).toBeLessThan(60_000);
  });

  it('makes no key while nothing is to be signed', async () => {
    await open().writeIfGrown();
    const scribe = await LogScribe.open(store.database, store.dataDir);
    await scribe.read('a');
    await scribe.checkpoint();
    await open().close();
    await store.database.db.deleteFrom('audit_head').execute();
    await open().close();
    expect(hasSigningKey(dataDir)).toBe(false);
    expect(logged).toEqual([]);
  });

  it('opens its signer once, and again only after a failure, which it logs', async () => {
    const scribe = await LogScribe.open(store.database, store.dataDir);
    await scribe.read('a');
    writeFileSync(join(dataDir, 'audit-key.pem'), 'not a key');
    const writer = open();
    await writer.writeIfGrown();
    expect(logged).toEqual([
      ['error', 'The audit checkpoint could not be written', { error: expect.any(Error) }],
    ]);
    await expect(writer.signer()).rejects.toThrow(/is unreadable/);
    rmSync(join(dataDir, 'audit-key.pem'));
    const signer = await writer.signer();
    expect(await writer.signer()).toBe(signer);
    await writer.writeIfGrown();
    expect(await sizes()).toEqual([2]);
  });

  it('warns when the configured name is not the one that the log has', async () => {
    await open({ origin: 'log.example' }).signer();
    await open({ origin: 'log.example' }).signer();
    await open().signer();
    expect(logged).toEqual([]);
    const { key } = await open({ origin: 'other.example' }).signer();
    expect(key.name).toBe('log.example');
    expect(logged).toEqual([
      [
        'warn',
        expect.stringContaining('does not apply'),
        { configured: 'other.example', name: 'log.example' },
      ],
    ]);
  });
});
