import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { prepareEntry } from '../entry.ts';
import { appendEntries, payloadRow, sealPayload } from '../log.ts';
import { verifyLog } from './verify.ts';

const COUNT = 4700;
const AT = '2026-01-01T00:00:00.000Z';

/** Some ids would confuse a reader who trusts separators or counts bytes; most pages have none of them. */
const idOf = (n: number): string =>
  n < 1000 || n > 1100
    ? `call-${n}`
    : ([`call|${n}`, `call\n${n}|-`, `ruf-${n}-€-\u{1f600}`, `call-${n}\\n`][n % 4] ?? '');

describe.each(ENGINES)('verify of many pages on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;

  beforeAll(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
    const made = Array.from({ length: COUNT }, (_, n) => {
      const args = sealPayload({ n, text: 'zwei\nZeilen | €' });
      const entry = prepareEntry({
        kind: 'read',
        at: AT,
        call: idOf(n),
        run: n % 1000 === 7 ? `run|${n}` : `run-${n % 7}`,
        status: 'ok',
        args: args.hash,
      });
      return { entry, row: payloadRow(entry, 'args', args) };
    });
    await store.database.write(async (trx) => {
      for (let start = 0; start < made.length; start += 500) {
        const rows = made.slice(start, start + 500).map(({ row }) => row);
        await trx.insertInto('audit_payloads').values(rows).execute();
      }
      await appendEntries(
        trx,
        engine,
        made.map(({ entry }) => entry),
      );
    });
    await scribe.checkpoint();
  });
  afterAll(() => store.close());

  it('finds nothing wrong, regardless of the characters in the ids', async () => {
    const seen: number[] = [];
    const report = await verifyLog(store.database, { onProgress: (done) => seen.push(done) });
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ size: COUNT + 1, unsigned: 0, payloads: { verified: COUNT } });
    expect(seen.at(-1)).toBe(COUNT + 1);
    expect(seen.length).toBeGreaterThan(4);
  });

  it.each([0, 255, 256, 4095, 4096, 4321, COUNT - 1])(
    'names entry %i when its time was changed',
    async (seq) => {
      const { db } = store.database;
      await db
        .updateTable('audit_log')
        .set({ at: '2026-01-01T00:00:00.001Z' })
        .where('seq', '=', seq)
        .execute();
      const { problems } = await verifyLog(store.database);
      await db.updateTable('audit_log').set({ at: AT }).where('seq', '=', seq).execute();
      expect(problems).toEqual([expect.objectContaining({ code: 'columns', seq })]);
    },
  );

  it.each([
    [8, 0],
    [8, 17],
    [9, 3],
    [12, 0],
  ])('names the range under node %i/%i when it was changed', async (level, idx) => {
    const { db } = store.database;
    const node = db
      .selectFrom('audit_nodes')
      .select('hash')
      .where('level', '=', level)
      .where('idx', '=', idx);
    const { hash } = await node.executeTakeFirstOrThrow();
    const change = (to: string) =>
      db
        .updateTable('audit_nodes')
        .set({ hash: to })
        .where('level', '=', level)
        .where('idx', '=', idx)
        .execute();
    await change(hash.replace(/^./, (first) => (first === '0' ? '1' : '0')));
    const { problems } = await verifyLog(store.database);
    await change(hash);
    const first = idx * 2 ** level;
    expect(problems).toEqual([
      expect.objectContaining({ code: 'tree', seq: first, to: first + 2 ** level - 1 }),
    ]);
  });

  it.each([
    ['level', 9],
    ['level', 3],
    ['idx', 1_000],
  ] as const)('names the range of a node whose %s became %i', async (column, value) => {
    const { db } = store.database;
    const first = { level: 8, idx: 0 };
    const moved = { ...first, [column]: value };
    // A node that is already at the new place makes way for this test.
    const kept = await db
      .selectFrom('audit_nodes')
      .selectAll()
      .where('level', '=', moved.level)
      .where('idx', '=', moved.idx)
      .execute();
    const at = ({ level, idx }: typeof first) =>
      db.updateTable('audit_nodes').where('level', '=', level).where('idx', '=', idx);
    if (kept.length > 0) await at(moved).set({ idx: 5_000 }).execute();
    await at(first).set(moved).execute();
    const { problems } = await verifyLog(store.database);
    await at(moved).set(first).execute();
    if (kept.length > 0)
      await at({ ...moved, idx: 5_000 })
        .set({ idx: moved.idx })
        .execute();
    expect(problems).toContainEqual(expect.objectContaining({ code: 'tree', seq: 0, to: 255 }));
    expect((await verifyLog(store.database)).ok).toBe(true);
  });

  it('names the payload that was changed', async () => {
    const { db } = store.database;
    const row = db.updateTable('audit_payloads').where('call_id', '=', idOf(4242));
    const { body } = await db
      .selectFrom('audit_payloads')
      .select('body')
      .where('call_id', '=', idOf(4242))
      .executeTakeFirstOrThrow();
    await row.set({ body: body?.replace('4242', '4243') ?? null }).execute();
    const { problems } = await verifyLog(store.database);
    await row.set({ body }).execute();
    expect(problems).toEqual([expect.objectContaining({ code: 'payload', seq: 4242 })]);
  });

  it('names the call that ended twice', async () => {
    const again = prepareEntry({ kind: 'refusal', at: AT, call: 'call-100', status: 'refused' });
    await store.database.write((trx) => appendEntries(trx, engine, [again]));
    const { problems } = await verifyLog(store.database);
    expect(problems).toEqual([
      expect.objectContaining({
        code: 'story',
        seq: COUNT + 1,
        message: 'Call call-100 ends 2 times in the log.',
      }),
    ]);
  });
});
