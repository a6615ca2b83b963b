import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../test/support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../../test/support/kernel.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Log } from '../contract/ports.ts';
import { verifyLog } from './log/verify/verify.ts';
import { closeLostReads, markInterrupted, reconcileAll, reconcileCall, settleCall } from './recovery.ts';
import { isPaused, pausedAgents } from './store/pause.ts';

const START = Date.parse('2026-03-02T10:00:00Z');
const MINUTE = 60_000;
/** No process has this number: it is beyond what the system gives. */
const NO_PID = 2 ** 30;

describe('calls whose process may have died', () => {
  let store: TestStore;
  let test: TestKernel;
  let clock: number;
  const lines: [string, object | undefined][] = [];
  const say = (text: string, fields?: object): void => void lines.push([text, fields]);
  const log: Log = { debug: say, info: say, warn: say, error: say };

  beforeEach(async () => {
    clock = START;
    lines.length = 0;
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, { now: () => new Date(clock), log });
  });
  afterEach(async () => {
    test.release();
    await test.kernel.flush();
    await store.close();
  });

  const ports = () => ({
    database: store.database,
    log,
    now: () => new Date(clock),
    resolve: (name: string) => test.inventory.resolve(name),
  });
  const rows = () => store.database.db.selectFrom('calls').selectAll().orderBy('call_id').execute();
  const keys = () => store.database.db.selectFrom('idempotency').selectAll().execute();
  const bodies = async () => {
    await test.kernel.flush();
    const found = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    return found.map(({ body }) => JSON.parse(body) as JsonObject);
  };
  /** A change that is on its way, held by whom the test says. */
  const running = async (holder: object) => {
    const call = test.call('ledger_write', { text: 'held', hold: true, run_id: 'run-1' });
    call.catch(() => {});
    await expect.poll(rows).toHaveLength(1);
    await store.database.db.updateTable('calls').set(holder).execute();
  };
  /** A permit, and a kernel under whose policy the call that it is for asks. */
  const permitted = async (tool: string, args: JsonObject) => {
    const asking = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: [tool] },
      now: () => new Date(clock),
    });
    const asked = { tool, args, requester: AGENT, reason: 'please', kind: 'permit' as const };
    const { id } = await asking.kernel.approvals.propose(asked);
    await asking.kernel.approvals.approve(id, PERSON);
    return { asking, approval: () => asking.kernel.approvals.get(id) };
  };
  const lease = (ms: number) => new Date(START + ms).toISOString();

  it.each([
    ['this process', { holder_pid: process.pid, lease_until: lease(-60 * MINUTE) }, 0],
    ['a process that is gone', { holder_pid: NO_PID, lease_until: lease(MINUTE) }, 1],
    ['a process that is held up', { holder_pid: process.ppid, lease_until: lease(-10 * MINUTE) }, 0],
    ['a process silent for longer', { holder_pid: process.ppid, lease_until: lease(-10 * MINUTE - 1) }, 1],
    ['another machine with a lease', { holder_host: 'other', holder_pid: NO_PID, lease_until: lease(0) }, 0],
    [
      'another machine without renewal',
      { holder_host: 'other', holder_pid: NO_PID, lease_until: lease(-1) },
      1,
    ],
    ['another machine without a lease', { holder_host: 'other', holder_pid: NO_PID, lease_until: null }, 0],
    ['no process, with a lease', { holder_pid: null, lease_until: lease(0) }, 0],
    ['no process, without renewal', { holder_pid: null, lease_until: lease(-1) }, 1],
  ])('of %s are judged by that', async (_, holder, dead) => {
    await running({ holder_host: hostname(), ...holder });
    expect(await markInterrupted(ports())).toBe(dead);
    expect((await rows()).map(({ status }) => status)).toEqual([dead ? 'indeterminate' : 'running']);
  });

  it('of a process that belongs to another user are not taken for lost', async () => {
    await running({ holder_pid: NO_PID, lease_until: lease(MINUTE) });
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    expect(await markInterrupted(ports()).finally(() => kill.mockRestore())).toBe(0);
  });

  it('become indeterminate with their key, their evidence and a line in the log, once', async () => {
    await running({ holder_pid: NO_PID });
    clock += MINUTE;
    // Two processes that find it at the same time.
    const both = await Promise.all([markInterrupted(ports()), markInterrupted(ports())]);
    expect(both.toSorted()).toEqual([0, 1]);
    expect(await markInterrupted(ports())).toBe(0);
    const [row] = await rows();
    expect(row).toMatchObject({
      status: 'indeterminate',
      code: 'indeterminate',
      holder_host: null,
      holder_pid: null,
      lease_until: null,
    });
    expect(await keys()).toMatchObject([{ state: 'indeterminate' }]);
    expect((await bodies()).at(-1)).toMatchObject({
      kind: 'outcome',
      call: row?.call_id,
      run: 'run-1',
      tool: 'ledger_write',
      toolkit: 'ledger',
      effect: 'change',
      principal: 'agent:local',
      digest: row?.digest,
      status: 'indeterminate',
      code: 'indeterminate',
      at: new Date(clock).toISOString(),
      extra: { interrupted: true },
    });
    const interrupted = 'A change was interrupted; its outcome is not yet known';
    expect(lines.filter(([text]) => text === interrupted)).toEqual([
      [interrupted, { call: row?.call_id, tool: 'ledger_write' }],
    ]);
    expect((await verifyLog(store.database, { rows: true })).problems).toEqual([]);
  });

  it('are settled by what their tool finds, in their key too', async () => {
    await running({ holder_pid: NO_PID });
    await markInterrupted(ports());
    const both = await Promise.all([reconcileAll(ports()), reconcileAll(ports())]);
    expect(both).toContainEqual({ settled: 1, open: 0 });
    expect(both.map(({ settled }) => settled).toSorted()).toEqual([0, 1]);
    expect(await rows()).toMatchObject([{ status: 'failed', finished_at: new Date(clock).toISOString() }]);
    expect(await keys()).toEqual([]);
    expect((await bodies()).at(-1)).toMatchObject({
      kind: 'settled',
      status: 'failed',
      principal: 'system:reconcile',
    });
    const outcome_hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
    expect((await bodies()).at(-1)?.extra).toEqual({ outcome_hash });
    expect(await reconcileAll(ports())).toEqual({ settled: 0, open: 0 });
  });

  it('stay open where nothing can tell, the arguments are gone or looking fails', async () => {
    const blind = await test.call('ledger_write_blind', { text: 'a', fail: true });
    expect(blind.outcome.status).toBe('indeterminate');
    expect(await reconcileAll(ports())).toEqual({ settled: 0, open: 1 });
    expect(await reconcileCall(ports(), blind.callId)).toBe(false);
    expect(await reconcileCall(ports(), 'no such call')).toBe(false);
    expect(await reconcileCall({ ...ports(), resolve: async () => undefined }, blind.callId)).toBe(false);
    expect(lines.map(([text]) => text)).not.toContain('Could not reconcile an interrupted call');
    const asked: object[] = [];
    const withReconcile = (reconcile: (args: object, context: object) => Promise<object>) => ({
      ...ports(),
      resolve: async (name: string) => {
        const bound = await test.inventory.resolve(name);
        return bound && ({ ...bound, tool: { ...bound.tool, reconcile } } as never);
      },
    });
    const broken = withReconcile(async () => {
      throw new Error('no connection');
    });
    expect(await reconcileCall(broken, blind.callId)).toBe(false);
    expect(lines.at(-1)).toMatchObject([
      'Could not reconcile an interrupted call',
      { call: blind.callId, tool: 'ledger_write_blind', error: { message: 'no connection' } },
    ]);
    const { db } = store.database;
    const payload = await db
      .selectFrom('audit_payloads')
      .selectAll()
      .where('kind', '=', 'args')
      .executeTakeFirstOrThrow();
    const looking = withReconcile(async (args, context) => {
      asked.push(args, context);
      return { settled: 'done', data: { written: 'a' } };
    });
    await db.updateTable('audit_payloads').set({ body: null }).where('kind', '=', 'args').execute();
    expect(await reconcileCall(looking, blind.callId)).toBe(false);
    await db.deleteFrom('audit_payloads').where('kind', '=', 'args').execute();
    expect(await reconcileCall(looking, blind.callId)).toBe(false);
    expect(asked).toEqual([]);
    await db.insertInto('audit_payloads').values(payload).execute();
    expect(await reconcileCall(looking, blind.callId)).toBe(true);
    expect((await bodies()).at(-1)).toMatchObject({ kind: 'settled', principal: 'system:reconcile' });
    expect(asked).toMatchObject([
      { text: 'a', fail: true },
      { callId: blind.callId, startedAt: new Date(START), services: expect.anything() },
    ]);
    expect(await rows()).toMatchObject([{ status: 'ok' }]);
    expect(await reconcileCall(looking, blind.callId)).toBe(false);
  });

  describe('that are settled by a person', () => {
    const uncertain = async () => {
      const args = { text: 'a', fail: true };
      const { asking, approval } = await permitted('ledger_write_blind', args);
      const { callId } = await asking.call('ledger_write_blind', args, { idempotencyKey: 'k' });
      expect(await rows()).toMatchObject([{ status: 'indeterminate' }]);
      return { callId, approval };
    };
    const part = async (parent: string, suffix: string, more: object = {}) => {
      const [row] = await rows();
      if (!row) throw new Error('no call');
      const one = {
        ...row,
        call_id: `${parent}${suffix}`,
        parent_id: parent,
        status: 'ok' as const,
        ...more,
      };
      await store.database.db
        .insertInto('calls')
        .values(one as never)
        .execute();
    };

    it('as done have their answer for the key, and are settled once', async () => {
      const { callId } = await uncertain();
      const done = { settled: 'done', data: { written: 'a' } } as const;
      expect(await settleCall(ports(), callId, done, PERSON)).toBe(true);
      expect(await settleCall(ports(), callId, done, PERSON)).toBe(false);
      const [key] = await keys();
      expect(key?.state).toBe('ok');
      expect(JSON.parse(key?.outcome ?? '')).toEqual({
        status: 'ok',
        data: { written: 'a' },
        notes: {},
        settled: true,
      });
      expect((await bodies()).at(-1)).toMatchObject({
        kind: 'settled',
        status: 'ok',
        principal: 'person:ada',
      });
    });

    it('as not done say what was left', async () => {
      const { callId } = await uncertain();
      const left = 'A draft was left.';
      expect(await settleCall(ports(), callId, { settled: 'not_done', left }, PERSON)).toBe(true);
      expect(await keys()).toEqual([]);
      const settled = (await bodies()).filter(({ kind }) => kind === 'settled');
      const outcome_hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
      expect(settled.map(({ extra }) => extra)).toContainEqual({ left, outcome_hash });
    });

    it.each([
      ['as not done give the permit back', [], {}, 'approved'],
      ['with a part that was done use it up', [['-1', {}]], {}, 'failed'],
      ['with a part that may have been done use it up', [['-1', { status: 'indeterminate' }]], {}, 'failed'],
      ['with a part that destroyed use it up', [['-1', { effect: 'destroy' }]], {}, 'failed'],
      ['with a part that failed give it back', [['-1', { status: 'failed' }]], {}, 'approved'],
      ['with a part that only read give it back', [['-1', { effect: 'read' }]], {}, 'approved'],
      ['with parts that resume give it back', [['-1', {}]], { resumes: true }, 'approved'],
    ] as const)('%s', async (_, parts, more, state) => {
      const { callId, approval } = await uncertain();
      for (const [suffix, change] of parts) await part(callId, suffix, change);
      await settleCall(ports(), callId, { settled: 'not_done', ...more }, PERSON);
      expect((await approval())?.state).toBe(state);
    });

    it.each([
      [0, {}, 'Settled: the change did not happen.'],
      [0, { resumes: true }, 'Settled: the change did not happen.'],
      [0, { left: 'A draft.' }, 'Settled: the change was not finished. A draft.'],
      [2, {}, '2 of its parts happened or may have happened. Check them before you send it again.'],
      [1, { resumes: true }, 'Sending the same call again completes only the missing parts.'],
    ])('with %i parts and %j say on their approval what became of them', async (count, more, message) => {
      const asking = await openTestKernel(store.database, store.dataDir, {
        policy: { require_approval_for: ['ledger_write_blind'] },
      });
      const { outcome } = await asking.call('ledger_write_blind', { text: 'a', fail: true });
      if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
      await asking.kernel.approvals.approve(outcome.approvalId, PERSON);
      const call = (await rows()).find(({ status }) => status === 'indeterminate');
      if (!call) throw new Error('no uncertain call');
      for (let index = 1; index <= count; index += 1) {
        const one = { ...call, call_id: `${call.call_id}-${index}`, parent_id: call.call_id, status: 'ok' };
        await store.database.db
          .insertInto('calls')
          .values(one as never)
          .execute();
      }
      await settleCall(ports(), call.call_id, { settled: 'not_done', ...more }, PERSON);
      expect((await asking.kernel.approvals.get(outcome.approvalId))?.outcome).toMatchObject({
        status: 'failed',
        code: 'indeterminate',
        message: expect.stringContaining(message),
      });
    });
  });

  it('are lost and settled one by one, each with its own approval', async () => {
    const asking = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
      now: () => new Date(clock),
    });
    const ids: number[] = [];
    for (const text of ['one', 'two']) {
      const { outcome } = await asking.call('ledger_write', { text, hold: true });
      if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
      ids.push(outcome.approvalId);
      asking.kernel.approvals.approve(outcome.approvalId, PERSON).catch(() => {});
    }
    const states = () => Promise.all(ids.map(async (id) => (await asking.kernel.approvals.get(id))?.state));
    await expect.poll(states).toEqual(['executing', 'executing']);
    const approvals = await store.database.db.selectFrom('approvals').selectAll().orderBy('id').execute();
    const dies = async (callId: string | null) => {
      await store.database.db
        .updateTable('calls')
        .set({ holder_pid: NO_PID })
        .where('call_id', '=', callId)
        .execute();
      await markInterrupted(ports());
    };
    await dies(approvals[0]?.call_id ?? null);
    expect(await states()).toEqual(['indeterminate', 'executing']);
    await dies(approvals[1]?.call_id ?? null);
    expect(await states()).toEqual(['indeterminate', 'indeterminate']);
    const done = { settled: 'done', data: { written: 'one' } } as const;
    await settleCall(ports(), approvals[0]?.call_id ?? '', done, PERSON);
    expect(await states()).toEqual(['done', 'indeterminate']);
    await settleCall(ports(), approvals[1]?.call_id ?? '', { settled: 'not_done' }, PERSON);
    expect((await states())[0]).toBe('done');
    asking.release();
  });

  it('and were approved are left to the process that approved them for a minute', async () => {
    const asking = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
      now: () => new Date(clock),
      log,
    });
    const { outcome } = await asking.call('ledger_write', { text: 'a' });
    const decided = { state: 'approved', decided_at: new Date(clock).toISOString() } as const;
    await store.database.db.updateTable('approvals').set(decided).execute();
    const begun = () => lines.filter(([text]) => text === 'Running a call that was approved but not run');
    clock += MINUTE;
    await asking.kernel.recover();
    expect(begun()).toEqual([]);
    clock += 1;
    await asking.kernel.recover();
    expect(outcome).toMatchObject({ status: 'routed' });
    expect(begun()).toMatchObject([
      [expect.any(String), { approval: expect.anything(), tool: 'ledger_write' }],
    ]);
  });

  it('that only read are closed after an hour, and not before', async () => {
    const { asking, approval } = await permitted('ledger_read', { hold: true });
    const read = asking.call('ledger_read', { hold: true });
    read.catch(() => {});
    await expect.poll(async () => (await approval())?.state).toBe('executing');
    const late = (ms: number) => ({ ...ports(), now: () => new Date(START + ms) });
    expect(await closeLostReads(late(59 * MINUTE))).toBe(0);
    expect(await closeLostReads(late(61 * MINUTE))).toBe(1);
    asking.release();
  });
});

it('a pause is stored where every process sees it', async () => {
  const store = await openTestStore('sqlite');
  try {
    const { kernel } = await openTestKernel(store.database, store.dataDir);
    expect(await isPaused(store.database.db)).toBe(false);
    await kernel.setPaused(true, PERSON);
    expect(await isPaused(store.database.db)).toBe(true);
  } finally {
    await store.close();
  }
});

it('the agents that are paused are named with who paused them, and no other setting', async () => {
  const store = await openTestStore('sqlite');
  try {
    const add = (key: string, value: string) =>
      store.database.db.insertInto('settings').values({ key, value }).execute();
    await add('paused', 'person:eve');
    await add('paused:agent:robin', 'person:ada');
    await add('paused:agent:wren', 'person:bea');
    await add('paused:person:x', 'person:eve');
    expect([...(await pausedAgents(store.database.db))]).toEqual([
      ['robin', 'person:ada'],
      ['wren', 'person:bea'],
    ]);
  } finally {
    await store.close();
  }
});
