import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Approval, Log } from '../../src/contract/ports.ts';
import { resumeApproved, runHandedOver } from '../../src/kernel/recovery.ts';
import { openTestStore, type TestStore } from '../support/engines.ts';
import { openTestKernel, type TestKernel } from '../support/kernel.ts';

const NOW = Date.parse('2026-03-02T10:00:00Z');
const HAND_OVER_MS = 10_000;
const FAILED = 'An approved call could not be run';

describe('approved calls that their process did not run', () => {
  let store: TestStore;
  let test: TestKernel;
  let taken: number[];
  const lines: [string, object | undefined][] = [];
  const say = (text: string, fields?: object): void => void lines.push([text, fields]);
  const log: Log = { debug: say, info: say, warn: say, error: say };

  beforeEach(async () => {
    lines.length = 0;
    taken = [];
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
  });
  afterEach(() => store.close());

  const ports = () => ({
    database: store.database,
    log,
    now: () => new Date(NOW),
    resolve: (name: string) => test.inventory.resolve(name),
  });
  /** A call that was approved so long ago. */
  const approved = async (ms: number, more: { toolkit?: string; kind?: 'permit' } = {}): Promise<number> => {
    const { outcome } = await test.call('ledger_write', { text: `${ms} ${JSON.stringify(more)}` });
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    const decided = { state: 'approved', decided_at: new Date(NOW - ms).toISOString() } as const;
    await store.database.db
      .updateTable('approvals')
      .set({ ...decided, ...more })
      .where('id', '=', outcome.approvalId)
      .execute();
    return outcome.approvalId;
  };
  const executor = (broken?: number) => ({
    async execute(approval: Approval) {
      taken.push(approval.id);
      if (approval.id === broken) throw new Error('cannot run');
      return { approval, outcome: undefined };
    },
  });
  const leasesTo = (isFree: (name: string) => boolean) => {
    const asked: [string, number][] = [];
    const acquire = async (name: string, ttlMs: number) => {
      asked.push([name, ttlMs]);
      return isFree(name);
    };
    return { asked, acquire, release: async () => {} };
  };

  it('are taken over by a process that serves their toolkit, from a second on and for as long as someone waits', async () => {
    await approved(1_000);
    const first = await approved(1_001);
    const last = await approved(HAND_OVER_MS - 1);
    await approved(HAND_OVER_MS);
    await approved(5_000, { toolkit: 'other' });
    await approved(5_000, { kind: 'permit' });
    const leases = leasesTo(() => true);
    await runHandedOver(ports(), executor(), leases, 'ledger');
    expect(taken.toSorted()).toEqual([first, last]);
    expect(leases.asked).toEqual(taken.map((id) => [`approval:${id}`, HAND_OVER_MS]));
    expect(lines).toEqual([]);
  });

  it('are left to the process that took them first, and do not stop each other', async () => {
    const theirs = await approved(2_000);
    const broken = await approved(2_001);
    const ours = await approved(2_002);
    const leases = leasesTo((name) => name !== `approval:${theirs}`);
    await runHandedOver(ports(), executor(broken), leases, 'ledger');
    expect(taken.toSorted()).toEqual([broken, ours]);
    const error = { message: 'cannot run' };
    expect(lines).toMatchObject([[FAILED, { approval: broken, tool: 'ledger_write', error }]]);
  });

  it('are resumed after a minute, regardless of one that cannot run', async () => {
    await approved(60_000);
    const broken = await approved(60_001);
    const next = await approved(60_002);
    expect(await resumeApproved(ports(), executor(broken))).toBe(1);
    expect(taken.toSorted()).toEqual([broken, next]);
    const begun = 'Running a call that was approved but not run';
    const error = expect.objectContaining({ message: 'cannot run' });
    const tool = 'ledger_write';
    expect(lines.filter(([text]) => text === begun)).toEqual(
      taken.map((approval) => [begun, { approval, tool }]),
    );
    expect(lines).toContainEqual([FAILED, expect.objectContaining({ approval: broken, tool, error })]);
  });
});
