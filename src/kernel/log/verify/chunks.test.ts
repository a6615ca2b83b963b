import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { uuidv7 } from '../../../lib/random.ts';
import { CALLS, insertRows, PAYLOADS } from '../../store/statements.ts';
import type { CallsTable } from '../../store/tables.ts';
import { prepareEntry } from '../entry.ts';
import { appendEntries, payloadRow, sealPayload } from '../log.ts';
import { writeCheckpoint } from '../signing/checkpoint.ts';
import { Signer } from '../signing/signer.ts';
import { CHUNK, type Chunk, readChunk } from './chunks.ts';
import { verifyLog } from './verify.ts';

const COUNT = 3 * CHUNK + 100;
const START = Date.UTC(2026, 0, 1);

/** Mostly reads, now and then a change or a refusal; what a busy server leaves. */
function callAt(n: number) {
  const ms = START + n * 10;
  const at = new Date(ms).toISOString();
  const id = uuidv7(ms);
  const base = {
    tool: 'get_post',
    toolkit: 'x',
    effect: 'read',
    principal: 'agent:local',
    transport: 'stdio',
    digest: 'd'.repeat(64),
    client: n % 50 === 3 ? 'a | b' : 'test/1.0',
  };
  const args = sealPayload({ n, text: 'zwei\nZeilen | €' });
  const refused = n % 97 === 5;
  const entry = prepareEntry({
    ...base,
    kind: refused ? 'refusal' : 'read',
    at,
    call: id,
    status: refused ? 'refused' : 'ok',
    decision: refused ? 'deny' : 'allow',
    rule: 'default',
    args: args.hash,
  });
  const row: CallsTable = {
    ...base,
    call_id: id,
    parent_id: null,
    started_at: at,
    finished_at: at,
    category: 'posts',
    run_id: null,
    status: refused ? 'refused' : 'ok',
    code: null,
    decision: refused ? 'deny' : 'allow',
    rule: 'default',
    latency_ms: 2,
    evidence_hash: entry.hash,
    approval_id: null,
    approver: null,
    replay_of: null,
    holder_host: null,
    holder_pid: null,
    lease_until: null,
  };
  return { entry, row, payload: payloadRow(entry, 'args', args) };
}

describe.each(ENGINES)('verify by chunks on %s', (engine) => {
  let store: TestStore;
  const made = Array.from({ length: COUNT }, (_, n) => callAt(n));

  beforeAll(async () => {
    store = await openTestStore(engine);
    const signer = await Signer.open(store.database, store.dataDir);
    const append = (some: typeof made) =>
      store.database.write(async (trx) => {
        await insertRows(
          trx,
          engine,
          CALLS,
          some.map(({ row }) => row),
        );
        await insertRows(
          trx,
          engine,
          PAYLOADS,
          some.map(({ payload }) => payload),
        );
        await appendEntries(
          trx,
          engine,
          some.map(({ entry }) => entry),
        );
      });
    await append(made.slice(0, CHUNK + 7));
    await writeCheckpoint(store.database, signer, () => new Date(START + (CHUNK + 7) * 10));
    await append(made.slice(CHUNK + 7));
  }, 120_000);
  afterAll(() => store.close());

  /** What a second thread would be: another connection. */
  const helper = async () => {
    const other = await store.again();
    return (index: number) => readChunk(other, index, true);
  };
  const readFirst = (): Promise<Chunk | undefined> => readChunk(store.database, 0, true);
  const db = () => store.database.db;

  it('finds the same alone, with a helper, and with a helper that is lost on the way', async () => {
    const alone = await verifyLog(store.database, { rows: true });
    expect(alone).toMatchObject({
      ok: true,
      size: COUNT + 1,
      checkpoints: { verified: 1 },
      payloads: { verified: COUNT, unkept: 0, erased: 0 },
    });
    expect(await verifyLog(store.database, { rows: true, helper: await helper() })).toEqual(alone);
    const read = await helper();
    const lost = (index: number) => (index < 1 ? read(index) : Promise.reject(new Error('gone')));
    expect(await verifyLog(store.database, { rows: true, helper: lost })).toEqual(alone);
  });

  it('counts plain reads and hands over every other entry', async () => {
    const chunk = await readFirst();
    const plain = made.slice(0, CHUNK).filter((_, n) => n % 97 !== 5 && n % 50 !== 3);
    expect(chunk).toMatchObject({ plain: plain.length, verified: plain.length });
    expect(chunk?.others).toHaveLength(CHUNK - plain.length);
    expect(chunk?.leaves).toHaveLength(64 * CHUNK);
  });

  it('leaves a chunk with anything wrong to the slow way, which names it', async () => {
    const row = made[300]?.row;
    const call = row?.call_id ?? '';
    const changes: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        'its entries say "agent:local"',
        () =>
          db().updateTable('calls').set({ principal: 'person:eve' }).where('call_id', '=', call).execute(),
        () =>
          db().updateTable('calls').set({ principal: 'agent:local' }).where('call_id', '=', call).execute(),
      ],
      [
        `the args payload of call ${call}`,
        () => db().updateTable('audit_payloads').set({ salt: 'x' }).where('call_id', '=', call).execute(),
        () =>
          db()
            .updateTable('audit_payloads')
            .set({ salt: made[300]?.payload.salt ?? '' })
            .where('call_id', '=', call)
            .execute(),
      ],
      [
        'says kind is read, but its row says call',
        () => db().updateTable('audit_log').set({ kind: 'call' }).where('seq', '=', 300).execute(),
        () => db().updateTable('audit_log').set({ kind: 'read' }).where('seq', '=', 300).execute(),
      ],
    ];
    for (const [words, damage, repair] of changes) {
      await damage();
      const report = await verifyLog(store.database, { rows: true, helper: await helper() });
      await repair();
      expect(report.first).toMatchObject({ seq: 300, message: expect.stringContaining(words) });
      expect(report.problems).toHaveLength(1);
    }
    expect((await verifyLog(store.database, { rows: true })).ok).toBe(true);
  }, 120_000);
});
