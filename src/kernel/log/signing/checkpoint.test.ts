import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { checkpointIn, latestCheckpoint, parseCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { Signer } from './signer.ts';

const ROOT = Buffer.alloc(32, 7);
const TEXT = `log.example\n12\n${ROOT.toString('base64')}\ntime 2026-03-01T12:00:00.000Z\n`;
const CHECKPOINT = {
  origin: 'log.example',
  size: 12,
  root: ROOT.toString('hex'),
  at: '2026-03-01T12:00:00.000Z',
};

describe('the text of a checkpoint', () => {
  it('is read, alone or in a signed note', () => {
    expect(parseCheckpoint(TEXT)).toEqual(CHECKPOINT);
    expect(checkpointIn(`${TEXT}\n\u2014 log.example AAAA\n`)).toEqual(CHECKPOINT);
    expect(checkpointIn('no note')).toBeUndefined();
  });

  it.each([
    ['a size written in another way', TEXT.replace('\n12\n', '\n012\n')],
    ['no size', TEXT.replace('\n12\n', '\nmany\n')],
    ['a root of another length', TEXT.replace(/\n[^\n]+=\n/, `\n${Buffer.alloc(31).toString('base64')}\n`)],
    ['no time', TEXT.replace(/time .*\n/, '')],
    ['another word before the time', TEXT.replace('time', 'date')],
    ['a further line', `${TEXT}more\n`],
    ['no last newline', TEXT.slice(0, -1)],
    ['nothing', ''],
  ])('is refused with %s', (_, text) => {
    expect(parseCheckpoint(text)).toBeUndefined();
  });
});

describe('a stored checkpoint', () => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  it('is signed once for each size of the log, at the current time, and the largest is the latest', async () => {
    const { database } = store;
    expect(await writeCheckpoint(database, scribe.signer)).toBeUndefined();
    expect(await latestCheckpoint(database)).toBeUndefined();
    await scribe.read('a');
    const before = new Date().toISOString();
    const first = await writeCheckpoint(database, scribe.signer);
    expect(first?.at.localeCompare(before)).toBeGreaterThanOrEqual(0);
    expect(await latestCheckpoint(database)).toEqual(first);
    expect(await writeCheckpoint(database, scribe.signer)).toEqual(first);
    await scribe.read('b');
    const second = await scribe.checkpoint();
    expect(second).toMatchObject({ origin: scribe.signer.key.name, size: 3, at: '2026-01-01T00:00:04.000Z' });
    expect(await latestCheckpoint(database)).toEqual(second);
    expect(checkpointIn(second?.note ?? '')).toMatchObject({ root: second?.root, size: 3 });
  });

  it('is by a key that the log names, which is named once', async () => {
    const { database } = store;
    const prepare = () => database.write((trx) => scribe.signer.prepare(trx, scribe.now()));
    expect(await prepare()).toBe(true);
    expect(await prepare()).toBe(false);
    const rows = await database.db.selectFrom('audit_log').selectAll().execute();
    expect(rows.map(({ body }) => JSON.parse(body))).toMatchObject([
      { kind: 'checkpoint-key', extra: { action: 'add', key: scribe.signer.key.text } },
    ]);
  });

  it('is by the name that the log was first given', async () => {
    expect(scribe.signer.key.name).toMatch(/^countersign\/[0-9a-f]{16}$/);
    const other = await Signer.open(store.database, store.dataDir, 'another.name');
    expect(other.key.text).toBe(scribe.signer.key.text);
    const fresh = await openTestStore('sqlite');
    const named = await Signer.open(fresh.database, fresh.dataDir, 'another.name');
    await fresh.close();
    expect(named.key.name).toBe('another.name');
  });

  it('follows the announcement of a key also where that key is retired immediately', async () => {
    const { retired, key } = await scribe.signer.rotate(scribe.now());
    const notes = await store.database.db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .orderBy('size')
      .execute();
    expect(notes.map(({ size }) => size)).toEqual([1, 2]);
    const settings = await store.database.db
      .selectFrom('settings')
      .selectAll()
      .where('key', 'like', 'audit.key.%')
      .execute();
    expect(Object.fromEntries(settings.map(({ key: name, value }) => [name, value]))).toEqual({
      [`audit.key.${retired.id}`]: `retired ${retired.text}`,
      [`audit.key.${key.id}`]: `active ${key.text}`,
    });
    expect(scribe.signer.key).toEqual(key);
  });
});
