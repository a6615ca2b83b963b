import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Limit } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import { admitChange, keyExpiry } from './admit.ts';
import type { CallState } from './call.ts';
import { ClaimLost } from './replay.ts';
import { ALLOW, DONE, openSteps, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const write = toolNamed('ledger_write');
const limit = (key: string, max: number): Limit => ({
  key,
  max,
  periodSeconds: 3_600,
  dimension: 'global',
  match: '*',
});

let steps: StepStore;
let ports: Ports;
beforeEach(async () => {
  steps = await openSteps();
  ports = { ...steps.ports, now: () => NOW };
});
afterEach(async () => {
  vi.useRealTimers();
  await steps.store.close();
});

const decided = async (more: Partial<CallState> = {}): Promise<CallState> =>
  Object.assign(await validCall(write, { text: 'a' }), { decision: ALLOW, policyStamp: 'none', ...more });
const admit = (call: CallState, next = async (): Promise<Outcome> => DONE) => admitChange(ports)(call, next);
const lease = async () => {
  const row = await steps.store.database.db.selectFrom('calls').select('lease_until').executeTakeFirst();
  return row?.lease_until;
};

describe('a change that a limit refuses', () => {
  it('is told which, how much it allows, and when its next window begins', async () => {
    const outcome = await admit(await decided({ limits: [limit('none', 0)] }));
    expect(outcome).toMatchObject({
      rule: 'limit:none',
      fault: {
        resetAt: new Date('2026-03-02T11:00:00Z'),
        detail: { limit: 'none', max: 0, period_seconds: 3_600 },
      },
    });
  });

  it('counts in the same order whatever the order of the rules, so that two processes never block each other', async () => {
    for (const keys of [
      ['a', 'b'],
      ['b', 'a'],
      ['c', 'a', 'b'],
    ]) {
      const limits = keys.map((key) => limit(key, 0));
      expect(await admit(await decided({ limits }))).toMatchObject({ rule: 'limit:a' });
    }
  });
});

describe('an admitted change', () => {
  it('holds a lease that lies ahead, and renews it while it runs, not after', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let at = NOW.getTime();
    ports = { ...ports, now: () => new Date(at) };
    await admit(await decided(), async () => {
      expect(await lease()).toBe('2026-03-02T10:30:30.000Z');
      at += 10_000;
      vi.advanceTimersByTime(10_000);
      await expect.poll(lease).toBe('2026-03-02T10:30:40.000Z');
      return DONE;
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('goes on when its lease cannot be renewed, and says so in the log', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { database } = ports;
    const updateTable = () => {
      throw new Error('gone');
    };
    ports = { ...ports, database: { ...database, db: { updateTable } } as never };
    const outcome = await admit(await decided(), async () => {
      vi.advanceTimersByTime(10_000);
      await new Promise(setImmediate);
      return DONE;
    });
    expect(outcome).toBe(DONE);
    expect(steps.lines).toContain('The lease of a running call could not be renewed');
  });
});

describe('an admission that fails', () => {
  const failing = async (error: Error) => {
    const call = await decided();
    ports = {
      ...ports,
      database: { ...ports.database, write: () => Promise.reject(error) },
    };
    const result = await admit(call).catch((thrown: unknown) => thrown);
    return { call, result };
  };

  it.each([
    ['policy_error', 'hard:unreadable_policy'],
    ['paused', 'hard:paused'],
    ['agent_paused', 'hard:agent_paused'],
    ['approval_invalid', 'hard:approval'],
    ['signature_required', 'hard:approval'],
  ] as const)('with %s is refused by %s', async (code, rule) => {
    const fault = new ToolError(code, 'no');
    expect((await failing(fault)).result).toMatchObject({ status: 'refused', rule, fault });
  });

  it('for any other reason leaves in doubt whether the intent was written, unless a check gave it', async () => {
    const other = new ToolError('invalid_input', 'no');
    for (const [error, doubt] of [
      [new Error('the disk is gone'), true],
      [other, false],
      [new ClaimLost(), false],
    ] as const) {
      const { call, result } = await failing(error);
      expect(result).toBe(error);
      expect([call.admitted, call.intentInDoubt]).toEqual([false, doubt]);
    }
  });
});

describe('a key', () => {
  it('expires a day after its call where the caller named it, and never where the run did', async () => {
    const named = await validCall(write, { text: 'a' }, { idempotencyKey: 'k' });
    expect(keyExpiry(named, NOW)).toBe('2026-03-03T10:30:00.000Z');
    expect(keyExpiry(await validCall(write, { text: 'a' }), NOW)).toBeNull();
  });
});
