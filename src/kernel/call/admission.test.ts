import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { verifyLog } from '../log/verify/verify.ts';
import type { Limit } from '../policy/index.ts';
import { setPaused } from '../store/pause.ts';
import { admitChange } from './admit.ts';
import type { CallRequest, CallState } from './call.ts';
import { decidePolicy, PolicyStale } from './decide.ts';
import { recordOutcome } from './record.ts';
import { ClaimLost, replayEqual } from './replay.ts';
import { ALLOW, DONE, openSteps, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

const write = toolNamed('ledger_write');
const read = toolNamed('ledger_read');
const limit = (key: string, max: number): Limit => ({
  key,
  max,
  periodSeconds: 3_600,
  dimension: 'global',
  match: '*',
});

let steps: StepStore;
beforeEach(async () => {
  steps = await openSteps();
});
afterEach(() => steps.store.close());

/** A change that policy allowed, ready to be admitted. */
async function decided(
  more: Partial<CallState> = {},
  request: Partial<CallRequest> = {},
): Promise<CallState> {
  const call = await validCall(write, { text: 'a' }, request);
  return Object.assign(call, { decision: ALLOW, policyStamp: 'none', ...more });
}

const counted = async (): Promise<Record<string, number>> => {
  const rows = await steps.store.database.db.selectFrom('counters').selectAll().execute();
  return Object.fromEntries(rows.map(({ key, used }) => [key, used]));
};
const keyStates = async (): Promise<string[]> => {
  const rows = await steps.store.database.db.selectFrom('idempotency').select('state').execute();
  return rows.map(({ state }) => state);
};

describe('admit', () => {
  const admit = (call: CallState, next = async (): Promise<Outcome> => DONE) =>
    admitChange(steps.ports)(call, next);

  it('writes the intent durably before the change begins', async () => {
    const call = await decided({ replayKey: 'k', limits: [limit('all', 5)] });
    const other = await steps.store.again();
    await admit(call, async () => {
      const rows = await other.db.selectFrom('calls').select(['status', 'lease_until']).execute();
      expect(rows).toEqual([{ status: 'running', lease_until: expect.any(String) }]);
      expect(await steps.kinds()).toEqual(['intent']);
      return DONE;
    });
    expect(call.admitted).toBe(true);
    expect(await counted()).toEqual({ all: 1 });
    expect(await keyStates()).toEqual(['running']);
  });

  it('lets a read pass without a row', async () => {
    const call = await validCall(read, {});
    expect(await admit(call)).toBe(DONE);
    expect(call.admitted).toBe(false);
    expect(await steps.kinds()).toEqual([]);
  });

  it('leaves no trace of a change that a full limit refuses, not even in other limits', async () => {
    await admit(await decided({ limits: [limit('tight', 1)] }));
    const limits = [limit('tight', 1), limit('roomy', 9)];
    const call = await decided({ limits, replayKey: 'k' });
    let reached = false;
    const outcome = await admit(call, async () => {
      reached = true;
      return DONE;
    });
    expect(outcome).toMatchObject({
      status: 'refused',
      rule: 'limit:tight',
      fault: { code: 'policy_denied_rate_limited', resetAt: expect.any(Date) },
    });
    expect(reached).toBe(false);
    expect(await counted()).toEqual({ tight: 1 });
    expect(await keyStates()).toEqual([]);
    expect(await steps.statusOf(call)).toBeUndefined();
  });

  it('refuses every change while paused', async () => {
    await steps.store.database.write((trx) => setPaused(trx, true, 'person:ada'));
    expect(await admit(await decided())).toMatchObject({ status: 'refused', rule: 'hard:paused' });
    expect(await steps.kinds()).toEqual([]);
  });

  it('sends a call back that was evaluated under an older policy', async () => {
    await expect(admit(await decided({ policyStamp: 'older' }))).rejects.toThrow(PolicyStale);
    expect(await steps.kinds()).toEqual([]);
  });

  it('lets one of two calls with the same key have it', async () => {
    await admit(await decided({ replayKey: 'k' }));
    await expect(admit(await decided({ replayKey: 'k' }))).rejects.toThrow(ClaimLost);
    expect(await steps.kinds()).toEqual(['intent']);
  });
});

describe('record', () => {
  /** A change through admission and recording, with this outcome. */
  const finish = async (outcome: Outcome, more: Partial<CallState> = {}): Promise<CallState> => {
    const call = await decided({ replayKey: 'k', limits: [limit('all', 5)], ...more });
    const admitted = () => admitChange(steps.ports)(call, async () => outcome);
    await recordOutcome(steps.ports)(call, admitted);
    return call;
  };
  const failed = (effect: 'none' | 'partial'): Outcome => ({
    status: 'failed',
    fault: new ToolError('unavailable', 'Closed.', { effect }),
  });

  const disagreements = async () => {
    await steps.ports.recorder.flush();
    return (await verifyLog(steps.store.database, { rows: true })).problems;
  };

  it('answers with the outcome already durable, and keeps the key for a replay', async () => {
    const call = await finish(DONE);
    expect(await steps.statusOf(call)).toBe('ok');
    expect(await steps.kinds()).toEqual(['intent', 'outcome']);
    expect(call.evidenceHash).toMatch(/^[0-9a-f]{64}$/);
    expect(await keyStates()).toEqual(['ok']);
  });

  it('gives key and count back for a change that did nothing', async () => {
    await finish(failed('none'));
    expect(await keyStates()).toEqual([]);
    expect(await counted()).toEqual({ all: 0 });
  });

  it('keeps the count of a change that did a part', async () => {
    await finish(failed('partial'));
    expect(await keyStates()).toEqual([]);
    expect(await counted()).toEqual({ all: 1 });
  });

  it('keeps the key of an unknown outcome, so that it is not tried again', async () => {
    await finish({ status: 'indeterminate', fault: new ToolError('indeterminate', 'Unknown.') });
    expect(await keyStates()).toEqual(['indeterminate']);
    expect(await counted()).toEqual({ all: 1 });
  });

  it('writes a refusal and a failed read as entries of their own, and a pending question not at all', async () => {
    const record = async (outcome: Outcome): Promise<void> => {
      await recordOutcome(steps.ports)(await validCall(read, {}), async () => outcome);
    };
    await record({ status: 'needs_person', question: 'Sure?', about: 'a' });
    expect(await steps.kinds()).toEqual([]);
    await record({ status: 'refused', rule: 'rule:no', fault: new ToolError('not_allowed', 'No.') });
    await record(failed('none'));
    expect(await steps.kinds()).toEqual(['refusal', 'read']);
  });

  it('leaves a row and an entry that agree when the policy could not be read', async () => {
    const broken = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    const policy = { ...steps.ports.policy, refresh: () => Promise.reject(broken) };
    const ports = { ...steps.ports, policy };
    const call = await validCall(read, {});
    const outcome = await recordOutcome(ports)(call, () => decidePolicy(ports)(call, async () => DONE));
    expect(outcome).toMatchObject({ status: 'refused', rule: 'hard:unreadable_policy' });
    expect(await disagreements()).toEqual([]);
  });

  it.each(['hard:approval', 'hard:person_decides'])(
    'leaves a row and an entry that agree when %s requires a signature',
    async (rule) => {
      const fault = new ToolError('signature_required', 'Sign it.');
      const call = await validCall(read, {});
      await recordOutcome(steps.ports)(call, async () => ({ status: 'refused', rule, fault }));
      expect(await disagreements()).toEqual([]);
    },
  );

  it('returns no result of a read that cannot be written down', async () => {
    const recorder = {
      add: async () => {
        throw new Error('disk full');
      },
    } as unknown as StepStore['ports']['recorder'];
    const ports = { ...steps.ports, recorder };
    const outcome = await recordOutcome(ports)(await validCall(read, {}), async () => DONE);
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect(steps.lines).toEqual(['The outcome of a call could not be recorded']);
  });
});

describe('replay', () => {
  const KEY = { idempotencyKey: 'once' };

  /** The steps from replay to the end, with a count of what really ran. */
  const world = (outcome: Outcome = DONE) => {
    let runs = 0;
    const send = async (call: CallState): Promise<Outcome> => {
      Object.assign(call, { decision: ALLOW, policyStamp: 'none' });
      const act = async (): Promise<Outcome> => {
        runs += 1;
        return outcome;
      };
      return recordOutcome(steps.ports)(call, () =>
        replayEqual(steps.ports)(call, () => admitChange(steps.ports)(call, act)),
      );
    };
    return { send, ran: () => runs };
  };

  it('returns the stored result for the same key and names the first call', async () => {
    const { send, ran } = world();
    const first = await validCall(write, { text: 'a' }, KEY);
    await send(first);
    const again = await validCall(write, { text: 'a' }, KEY);
    expect(await send(again)).toMatchObject({ status: 'ok', replayed: true });
    expect(again.replayOf).toBe(first.id);
    expect(ran()).toBe(1);
  });

  it("keeps each principal's keys apart", async () => {
    const { send, ran } = world();
    await send(await validCall(write, { text: 'a' }, KEY));
    await send(await validCall(write, { text: 'a' }, { ...KEY, principal: { kind: 'agent', id: 'robin' } }));
    expect(ran()).toBe(2);
  });

  it('runs again after a day, when an explicit key has expired', async () => {
    const { send, ran } = world();
    await send(await validCall(write, { text: 'a' }, KEY));
    await steps.store.database.db
      .updateTable('idempotency')
      .set({ expires_at: '2020-01-01T00:00:00.000Z' })
      .execute();
    await send(await validCall(write, { text: 'a' }, KEY));
    expect(ran()).toBe(2);
  });

  it('refuses to repeat an unknown outcome', async () => {
    const fault = new ToolError('indeterminate', 'Unknown.');
    const { send, ran } = world({ status: 'indeterminate', fault });
    const first = await validCall(write, { text: 'a' }, KEY);
    await send(first);
    await expect(send(await validCall(write, { text: 'a' }, KEY))).rejects.toMatchObject({
      code: 'indeterminate',
      detail: { first_call: first.id },
    });
    expect(ran()).toBe(1);
  });

  it('gives reads and dry runs no key', async () => {
    for (const call of [
      await validCall(read, {}, KEY),
      await validCall(write, { text: 'a', dry_run: true }, KEY),
    ])
      expect(await replayEqual(steps.ports)(call, async () => DONE)).toBe(DONE);
    expect(await keyStates()).toEqual([]);
  });
});
