import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../support/child.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { openTestKernel, type TestKernel } from '../support/kernel.ts';
import { ledgerRows } from '../support/ledger.ts';

/** Every place where a change can be cut off, in the order it passes them. */
const POINTS = [
  'before-write-1',
  'inside-write-1',
  'after-write-1',
  'before-write-2',
  'inside-write-2',
  'after-write-2',
] as const;
const ROUNDS = 9;

describe.each(ENGINES)('a process killed between intent and outcome, on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;

  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const kill = async (point: string, text: string) => {
    const child = await startChild('kernel-caller', [store.url, store.dataDir]);
    await child.said('ready');
    child.send(JSON.stringify({ tool: 'ledger_write', args: { text, run_id: 'r' }, killAt: point }));
    expect(await child.ended).toBe('SIGKILL');
  };
  const evidence = async (text: string) => {
    const rows = await ledgerRows(store.database.db as unknown as Kysely<unknown>);
    return rows.filter((row) => row.text === text);
  };

  it('never runs an effect twice nor without evidence, over 54 kills', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      // Six processes at a time: one killed at each point.
      await Promise.all(POINTS.map((point) => kill(point, `${point}/${round}`)));
    }
    const recovered = await test.kernel.recover();
    expect(recovered.open).toBe(0);

    for (let round = 0; round < ROUNDS; round += 1) {
      for (const point of POINTS) {
        const text = `${point}/${round}`;
        const effects = await evidence(text);
        const happened =
          point !== 'before-write-1' && point !== 'inside-write-1' && point !== 'after-write-1';
        expect(effects, text).toHaveLength(happened ? 1 : 0);
        for (const { call_id } of effects) {
          const kinds = await store.database.db
            .selectFrom('audit_log')
            .select('kind')
            .where('call_id', '=', call_id)
            .orderBy('seq')
            .execute();
          expect(kinds[0]?.kind, text).toBe('intent');
          expect(kinds.length, text).toBeGreaterThan(1);
        }
      }
    }
    expect(
      await store.database.db.selectFrom('calls').select('call_id').where('status', '=', 'running').execute(),
    ).toEqual([]);

    // The same call again: what had happened is answered from the record, what had not runs now, once.
    for (const point of POINTS) {
      const { outcome } = await test.call('ledger_write', { text: `${point}/0`, run_id: 'r' });
      expect(outcome, point).toMatchObject({ status: 'ok' });
      expect(await evidence(`${point}/0`), point).toHaveLength(1);
    }
    // 54 processes, on a machine that may be busy with other tests.
  }, 600_000);

  it('shows a half-done call as indeterminate until it is settled, and refuses its key until then', async () => {
    const child = await startChild('kernel-caller', [store.url, store.dataDir]);
    await child.said('ready');
    const args = { text: 'half', fail: 'unknown' };
    child.send(JSON.stringify({ tool: 'ledger_write', args, key: 'k', killAt: 'before-write-2' }));
    expect(await child.ended).toBe('SIGKILL');
    expect(await test.kernel.recover()).toMatchObject({ interrupted: 1, settled: 0, open: 1 });
    const [waiting] = await test.kernel.telemetry.calls({ statuses: ['indeterminate'] });
    expect(waiting).toMatchObject({ tool: 'ledger_write', code: 'indeterminate' });
    const again = await test.call('ledger_write', args, { idempotencyKey: 'k' });
    expect(again.outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'indeterminate', retryable: false },
    });
    expect(await test.kernel.settle(waiting?.callId ?? '', true, { kind: 'person', id: 'ada' })).toBe(true);
    const settled = await test.call('ledger_write', args, { idempotencyKey: 'k' });
    expect(settled.outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(await evidence('half')).toHaveLength(1);
  });
});
