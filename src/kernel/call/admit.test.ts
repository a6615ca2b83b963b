import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Authenticator } from '../../../test/support/authenticator.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import { changeConfig } from '../log/config-change.ts';
import { createPasskeys } from '../passkeys/service.ts';
import type { Decision, Limit } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import { earlierOf, laterOf } from '../store/clock.ts';
import { AGENT_PAUSED, readAdmissionState } from '../store/pause.ts';
import { admitChange, keyExpiry } from './admit.ts';
import type { CallState } from './call.ts';
import { PolicyStale } from './decide.ts';
import { ClaimLost } from './replay.ts';
import { ALLOW, DONE, openSteps, type StepStore, toolNamed, validCall } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const ADA = { kind: 'person', id: 'ada' } as const;
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
  it('names the limit, how much it allows, and when its next window begins', async () => {
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
  it('names the process that runs it, so that others can find whether it still lives', async () => {
    const call = await decided();
    await admit(call);
    expect(await steps.rowOf(call)).toMatchObject({ holder_host: hostname(), holder_pid: process.pid });
  });

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

  it('continues when its lease cannot be renewed, and says so in the log', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { database } = ports;
    const error = new Error('gone');
    const updateTable = () => {
      throw error;
    };
    const warn = vi.fn();
    ports = {
      ...ports,
      log: { ...ports.log, warn },
      database: { ...database, db: { updateTable } } as never,
    };
    const call = await decided();
    const outcome = await admit(call, async () => {
      vi.advanceTimersByTime(10_000);
      await new Promise(setImmediate);
      return DONE;
    });
    expect(outcome).toBe(DONE);
    expect(warn.mock.calls).toEqual([
      ['The lease of a running call could not be renewed', { call: call.id, error }],
    ]);
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

describe('a change that was allowed a moment ago', () => {
  it('is refused where its agent was paused since', async () => {
    const { db } = steps.store.database;
    await db
      .insertInto('settings')
      .values({ key: `${AGENT_PAUSED}local`, value: 'person:ada' })
      .execute();
    expect(await admit(await decided())).toMatchObject({ status: 'refused', rule: 'hard:agent_paused' });
  });

  it('is refused where the log has a pause that is missing in the database', async () => {
    await changeConfig(steps.store.database, ADA, NOW, async () => ({ paused: true }));
    expect(await admit(await decided())).toMatchObject({ status: 'refused', rule: 'hard:paused' });
  });

  it('is refused as long as the last entry about a pause says so, whatever was admitted before', async () => {
    const { database } = steps.store;
    const outcomes: Outcome[] = [];
    for (const paused of [undefined, true, false]) {
      if (paused !== undefined) await changeConfig(database, ADA, NOW, async () => ({ paused }));
      outcomes.push(await admit(await decided()));
    }
    const message = expect.stringContaining('the audit log has it');
    expect(outcomes).toMatchObject([DONE, { rule: 'hard:paused', fault: { code: 'paused', message } }, DONE]);
  });

  it('is checked against the position of the newest entry about the configuration, where there is one', async () => {
    const { database } = steps.store;
    const state = () => database.write((trx) => readAdmissionState(trx, database.engine, LOCAL_AGENT));
    const open = { paused: false, agentPaused: false, policyStamp: 'none' };
    expect(await state()).toEqual({ ...open, newestConfig: -1 });
    await changeConfig(database, ADA, NOW, async () => ({ paused: true }));
    const { seq } = await database.db.selectFrom('audit_log').select('seq').executeTakeFirstOrThrow();
    expect(await state()).toEqual({ ...open, newestConfig: seq });
  });

  it('is refused where its approval cannot be used any more', async () => {
    const grant = { id: 9, uuid: 'u', digest: 'd', version: 1, requester: LOCAL_AGENT } as Approval;
    const outcome = await admit(await decided({ grant }));
    expect(outcome).toMatchObject({ rule: 'hard:approval', fault: { code: 'approval_invalid' } });
  });
});

describe('a change under a standing approval', () => {
  const standing = { id: 1, uuid: 'u', definition: 'd' };
  const stand = (maxUses: number) =>
    steps.store.database.db
      .insertInto('standing_approvals')
      .values({
        ...standing,
        agent: 'agent:local',
        tool: 'ledger_write',
        toolkit: 'ledger',
        predicates: '{}',
        expires_at: '2026-03-03T00:00:00.000Z',
        max_uses: maxUses,
        used: 0,
        created_at: NOW.toISOString(),
        created_by: 'person:ada',
        revoked_at: null,
        revoked_by: null,
      })
      .execute();

  it('is admitted as often as it may be used, then evaluated again', async () => {
    await stand(1);
    expect(await admit(await decided({ standing }))).toBe(DONE);
    await expect(admit(await decided({ standing }))).rejects.toThrow(PolicyStale);
  });

  it('is evaluated again where its approval must be signed since', async () => {
    await stand(1);
    ports = { ...ports, limits: { ...ports.limits, passkey: 'always' } };
    await expect(admit(await decided({ standing }))).rejects.toThrow(PolicyStale);
  });
});

describe('a policy that the database does not give', () => {
  it.each(['settings', 'counters'])('refuses the change, without its table of %s', async (table) => {
    await steps.store.database.db.schema.dropTable(table).execute();
    const outcome = await admit(await decided({ limits: [limit('all', 1)] }));
    expect(outcome).toMatchObject({
      status: 'refused',
      rule: 'hard:unreadable_policy',
      fault: { code: 'policy_error' },
    });
    expect(await steps.kinds()).toEqual([]);
  });
});

describe('a part of an approved whole', () => {
  const grant = { id: 9, uuid: 'u', digest: 'd', kind: 'call', requester: LOCAL_AGENT } as Approval;
  /** A part that was decided on while no one had to sign. */
  const part = async (action: Decision['action'], signers: number): Promise<CallState> => {
    const parent = Object.assign(await decided(), { grant });
    const call = await validCall(write, { text: 'a' }, { parent });
    const decision = { ...ALLOW, action };
    return Object.assign(call, { decision, policyStamp: 'none', grant, signers });
  };
  /** People enrol a key and sign that every approval is to be signed from now on. */
  const signMode = async (): Promise<void> => {
    const passkeys = createPasskeys(steps.store.database, ports.now);
    const key = new Authenticator();
    const enrolment = await passkeys.beginEnrolment('s', key.key());
    await passkeys.finishEnrolment('s', enrolment.nonce, key.sign(enrolment.challenge));
    const order = await passkeys.beginOrder('s', { action: 'mode', mode: 'always' });
    await passkeys.finishOrder('s', order.nonce, key.signAs(order.challenge));
  };

  it('is admitted under the approval of the whole while no one has to sign it', async () => {
    expect(await admit(await part('ask', 0))).toBe(DONE);
  });

  it('is evaluated again where a mode that demands signatures was signed since its decision', async () => {
    const call = await part('ask', 0);
    await signMode();
    await expect(admit(call)).rejects.toThrow(PolicyStale);
    expect(call.admitted).toBe(false);
    expect(await steps.kinds()).not.toContain('intent');
  });

  it('is admitted in that mode where the whole was signed, or where it requires no approval itself', async () => {
    await signMode();
    expect(await admit(await part('ask', 1))).toBe(DONE);
    expect(await admit(await part('allow', 0))).toBe(DONE);
  });
});

describe('a key', () => {
  it('expires a day after its call where the caller named it, and never where the run did', async () => {
    const named = await validCall(write, { text: 'a' }, { idempotencyKey: 'k' });
    expect(keyExpiry(named, NOW)).toBe('2026-03-03T10:30:00.000Z');
    expect(keyExpiry(await validCall(write, { text: 'a' }), NOW)).toBeNull();
  });

  it('outlives a clock that jumps ahead, and ends too early by none that was set back', async () => {
    const day = 86_400_000;
    const at = { now: () => NOW, databaseNow: () => NOW };
    const ahead = { ...at, now: () => new Date(NOW.getTime() + 2 * day) };
    const behind = { ...at, now: () => new Date(NOW.getTime() - 2 * day) };
    expect([earlierOf(ahead), laterOf(behind)]).toEqual([NOW, NOW]);
  });
});
