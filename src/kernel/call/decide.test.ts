import { beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import type { Decision } from '../policy/index.ts';
import type { Ports } from '../ports.ts';
import type { CallRequest, CallState } from './call.ts';
import { decidePolicy, PolicyStale, policyQuery, signatureNeed } from './decide.ts';
import { ALLOW, DONE, rawCall, toolNamed, validCall } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const LIMIT = { key: 'all', max: 1, periodSeconds: 60, dimension: 'global', match: '*' } as const;
const ROUTED: Outcome = { status: 'routed', approvalId: 1, approvalUuid: 'u', reason: 'r', rule: 'r' };
const BROKEN = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
const write = toolNamed('ledger_write');
const read = toolNamed('ledger_read');
const permit = { id: 3, digest: 'p' } as Approval;
const standing = { id: 4, uuid: 's' } as unknown as NonNullable<CallState['standing']>;

/** What surrounds the step; a test changes what it is about. */
interface World {
  at: number;
  decision: Partial<Decision>;
  isBehind: boolean;
  refreshes: number;
  refresh(): Promise<void>;
  findPermit(): Promise<Approval | undefined>;
  findStanding(...asked: readonly unknown[]): Promise<typeof standing | undefined>;
  signersFor(asked: object): Promise<number>;
  /** The transaction in which a read uses its approval. */
  write(): Promise<unknown>;
}
let world: World;
let routes: unknown[];
let closed: unknown[];
let said: unknown[];
beforeEach(() => {
  routes = [];
  closed = [];
  said = [];
  world = {
    at: NOW.getTime(),
    decision: {},
    isBehind: false,
    refreshes: 0,
    refresh: async () => {},
    findPermit: async () => undefined,
    findStanding: async () => undefined,
    signersFor: async () => 0,
    write: async () => 0,
  };
});

const portsOf = (): Ports =>
  ({
    now: () => new Date(world.at),
    log: { error: (...line: unknown[]) => said.push(line) },
    limits: { agentsMayApprove: false },
    database: { engine: 'sqlite', write: () => world.write() },
    policy: {
      stamp: 's1',
      get isBehind() {
        return world.isBehind;
      },
      current: { decide: () => ({ ...ALLOW, ...world.decision }), limitsFor: () => [LIMIT] },
      async refresh() {
        world.refreshes += 1;
        await world.refresh();
      },
    },
    standing: { find: (...asked: unknown[]) => world.findStanding(...asked) },
    queue: {
      ports: { signersFor: (asked: object) => world.signersFor(asked) },
      async route(...asked: unknown[]) {
        routes.push(asked);
        return ROUTED;
      },
      findPermit: () => world.findPermit(),
      closeForged: async (error: unknown) => void closed.push(error),
    },
  }) as unknown as Ports;

const decide = async (tool: Tool = write, more: Partial<CallRequest> = {}, set: Partial<CallState> = {}) => {
  const args = tool.name === 'ledger_read' ? {} : { text: 'a' };
  const call = Object.assign(await validCall(tool, args, more), set);
  let reached = false;
  const outcome = await decidePolicy(portsOf())(call, async () => {
    reached = true;
    return DONE;
  });
  return { call, outcome, reached };
};
const partOf = (grant: Approval, signers = 0): Partial<CallRequest> => ({
  parent: { grant, signers, dryRunRequested: false } as CallState,
});
const never = async (): Promise<never> => {
  throw new Error('Nothing asks for this.');
};

describe('the policy', () => {
  const stepOf = async (tool: Tool = read) => {
    const step = decidePolicy(portsOf());
    const call = await validCall(tool, {});
    return () => step(call, async () => DONE);
  };

  it('is read again after a second, when the clock was set back, or when tools have changed', async () => {
    const send = await stepOf();
    for (const [passed, refreshes] of [
      [0, 1],
      [999, 1],
      [1, 2],
      [-999, 2],
      [-1, 3],
    ] as const) {
      world.at += passed;
      await send();
      expect(world.refreshes).toBe(refreshes);
    }
    world.isBehind = true;
    await send();
    expect(world.refreshes).toBe(4);
  });

  it('denies while it cannot be read, says so in the log, and is tried again with the next call', async () => {
    const send = await stepOf();
    world.refresh = () => Promise.reject(BROKEN);
    expect(await send()).toMatchObject({
      status: 'refused',
      rule: 'hard:unreadable_policy',
      fault: { code: 'policy_error', cause: BROKEN },
    });
    expect(said).toEqual([
      ['The policy could not be read', { call: expect.stringMatching(/^[0-9a-f-]{36}$/), error: BROKEN }],
    ]);
    world.refresh = async () => {};
    expect(await send()).toBe(DONE);
    expect(world.refreshes).toBe(2);
    world.at += 1_000;
    world.refresh = () => Promise.reject(new TypeError('a bug'));
    await expect(send()).rejects.toThrow('a bug');
  });

  it('that cannot be read does not keep a tool from reporting on the server; rules that can be read do', async () => {
    const status = toolNamed('ledger_read', { alwaysAnswers: true });
    world.refresh = () => Promise.reject(BROKEN);
    world.decision = { action: 'deny', rule: 'hard:unreadable_policy' };
    expect(await (await stepOf(status))()).toBe(DONE);
    expect(await (await stepOf())()).toMatchObject({ status: 'refused' });
    world.decision = { action: 'deny', rule: 'rule:no' };
    expect(await (await stepOf(status))()).toMatchObject({ status: 'refused', rule: 'rule:no' });
    world.refresh = async () => {};
    world.decision = { action: 'deny', rule: 'hard:unreadable_policy' };
    expect(await (await stepOf())()).toMatchObject({ status: 'refused' });
  });

  it('is read again for a stale change alone, and may then refuse', async () => {
    const stale = async (tool: Tool, error: Error = new PolicyStale()) => {
      const step = decidePolicy(portsOf());
      const call = await validCall(tool, tool === read ? {} : { text: 'a' });
      return step(call, async () => {
        world.refresh = () => Promise.reject(BROKEN);
        throw error;
      });
    };
    expect(await stale(write)).toMatchObject({ status: 'refused', rule: 'hard:unreadable_policy' });
    expect(world.refreshes).toBe(2);
    world.refresh = async () => {};
    await expect(stale(write, new Error('other'))).rejects.toThrow('other');
    world.refresh = async () => {};
    await expect(stale(read)).rejects.toThrow(PolicyStale);
    expect(world.refreshes).toBe(4);
  });

  it('is asked about the validated call, and as a dry run also where the whole is one', () => {
    const call = rawCall(write, {});
    Object.assign(call, { args: { text: 'a' } });
    const query = {
      subject: { name: 'ledger_write', toolkit: 'ledger', category: 'ledger', effect: 'change' },
      args: { text: 'a' },
      principal: LOCAL_AGENT,
      now: NOW,
      dryRunRequested: false,
    };
    expect(policyQuery(call, NOW)).toEqual(query);
    expect(policyQuery({ ...call, dryRunRequested: true }, NOW).dryRunRequested).toBe(true);
    const parent = { dryRunRequested: true } as CallState;
    const part = { ...call, request: { ...call.request, parent } };
    expect(policyQuery(part, NOW).dryRunRequested).toBe(true);
  });

  it('gives a denial without a code the one for rules of the user', async () => {
    world.decision = { action: 'deny', rule: 'rule:no', reason: 'no' };
    expect((await decide()).outcome).toMatchObject({ fault: { code: 'policy_denied_user_rule' } });
  });

  it('shows a dry run with what its preview noted, and nothing where there is no preview', async () => {
    world.decision = { action: 'dry_run', rule: 'rule:dry' };
    const preview: Tool['preview'] = async (_args, { note, callId }) => {
      note({ seen: true });
      return { id: callId };
    };
    const { call, outcome } = await decide({ ...write, preview });
    const shown = { status: 'dry_run', rule: 'rule:dry' };
    expect(outcome).toEqual({ ...shown, data: { id: call.id }, notes: { seen: true } });
    const blind = await decide({ ...write, preview: undefined });
    expect(blind.outcome).toEqual({ ...shown, data: undefined, notes: {} });
  });
});

describe('a call that requires no approval', () => {
  it('uses none, also where an earlier evaluation found one', async () => {
    Object.assign(world, { findPermit: never, findStanding: never });
    const { call, reached } = await decide(write, {}, { grant: permit, standing });
    expect(reached).toBe(true);
    expect([call.grant, call.standing, call.limits]).toEqual([undefined, undefined, [LIMIT]]);
  });

  it('runs under the approval that it executes, if it is for this call, or under that of the whole', async () => {
    const { call: same } = await decide();
    const approval = { id: 5, digest: same.digest, context: {} } as Approval;
    expect(await decide(write, { approval })).toMatchObject({ reached: true, call: { grant: approval } });
    const other = { ...approval, digest: 'other' };
    expect(await decide(write, { approval: other })).toMatchObject({
      reached: false,
      outcome: { rule: 'hard:approval', fault: { code: 'approval_invalid', detail: { approval_id: 5 } } },
    });
    world.signersFor = never;
    const part = await decide(write, partOf(permit, 2));
    expect(part).toMatchObject({ reached: true, call: { grant: permit, signers: 2 } });
  });
});

describe('a call that requires approval', () => {
  beforeEach(() => {
    world.decision = { action: 'ask', rule: 'rule:ask', reason: 'ask' };
  });

  it('is queued with everything that a person needs to know', async () => {
    const more = { reason: 'because' };
    const { call, outcome, reached } = await decide(write, more, { runId: 'r', replayKey: 'k' });
    expect([outcome, reached]).toEqual([ROUTED, false]);
    const { args, digest, askedDigest, request } = call;
    const { bound, principal } = request;
    const asked = { bound, principal, args, digest, askedDigest, runId: 'r', replayKey: 'k', ...more };
    expect(routes).toEqual([[asked, expect.objectContaining({ rule: 'rule:ask' })]]);
  });

  it('runs under a permit, a standing approval, or neither, in this order', async () => {
    const asked: unknown[] = [];
    world.findStanding = async (...given) => {
      asked.push(given);
      return standing;
    };
    const stood = await decide();
    expect(stood).toMatchObject({ reached: true, call: { standing, limits: [LIMIT] } });
    expect(stood.call.grant).toBeUndefined();
    expect(asked).toEqual([[stood.call.request.bound, { text: 'a' }, LOCAL_AGENT]]);
    world.findPermit = async () => permit;
    world.findStanding = never;
    const permitted = await decide(write, {}, { standing });
    expect(permitted).toMatchObject({ reached: true, call: { grant: permit, limits: [LIMIT] } });
    expect(permitted.call.standing).toBeUndefined();
    expect((await decide({ ...write, composite: true })).call.limits).toEqual([]);
    expect(routes).toEqual([]);
  });

  it('is refused where its permit does not match; any other error is passed on', async () => {
    for (const code of ['approval_invalid', 'approval_required'] as const) {
      const fault = new ToolError(code, 'no');
      world.findPermit = () => Promise.reject(fault);
      expect((await decide()).outcome).toEqual({ status: 'refused', rule: 'hard:permit', fault });
    }
    for (const error of [new ToolError('conflict', 'no'), BROKEN]) {
      world.findPermit = () => Promise.reject(error);
      await expect(decide()).rejects.toBe(error);
    }
  });

  it('is refused without a permit where its tool needs one, and standing approvals do not help', async () => {
    world.findStanding = never;
    const { outcome } = await decide({ ...write, needsPermit: true });
    expect(outcome).toMatchObject({ rule: 'hard:permit', fault: { code: 'approval_required' } });
    world.findPermit = async () => permit;
    expect(await decide({ ...write, needsPermit: true })).toMatchObject({ reached: true });
  });

  it('is covered by the approval of the whole unless more people must sign it', async () => {
    const asked: object[] = [];
    world.signersFor = async (given) => {
      asked.push(given);
      return 1;
    };
    const covered = await decide(write, partOf(permit, 1));
    expect(covered).toMatchObject({ reached: true, call: { grant: permit, signers: 1 } });
    const { bound } = covered.call.request;
    expect(asked).toEqual([{ bound, args: { text: 'a' }, requester: LOCAL_AGENT }]);
    expect(await decide(write, partOf(permit, 0))).toMatchObject({ reached: false, outcome: ROUTED });
    world.signersFor = never;
    expect(await decide(write, { parent: { dryRunRequested: false } as CallState })).toMatchObject({
      outcome: ROUTED,
    });
  });
});

describe('a read that runs under an approval', () => {
  beforeEach(() => {
    world.decision = { action: 'ask' };
    world.findPermit = async () => permit;
  });

  it('uses it up before it runs, and knows how many people signed it', async () => {
    let writes = 0;
    world.write = async () => {
      writes += 1;
      return 2;
    };
    expect(await decide(read)).toMatchObject({ reached: true, call: { grant: permit, signers: 2 } });
    expect(writes).toBe(1);
    // A change does so when it is admitted, and a part has none of its own.
    expect(await decide(write)).toMatchObject({ reached: true });
    expect(await decide(read, partOf(permit))).toMatchObject({ reached: true });
    expect(writes).toBe(1);
  });

  it('is refused where the approval is not valid, and a forged one is closed', async () => {
    for (const code of ['approval_invalid', 'signature_required'] as const) {
      const fault = new ToolError(code, 'no');
      world.write = () => Promise.reject(fault);
      const { outcome, reached } = await decide(read);
      expect([outcome, reached]).toEqual([{ status: 'refused', rule: 'hard:approval', fault }, false]);
      expect(closed.pop()).toBe(fault);
    }
  });

  it('has not used it where that could not be written', async () => {
    for (const error of [BROKEN, new ToolError('conflict', 'no')]) {
      world.write = () => Promise.reject(error);
      const call = await validCall(read, {});
      const step = decidePolicy(portsOf());
      await expect(step(call, async () => DONE)).rejects.toBe(error);
      expect(call.grant).toBeUndefined();
    }
    expect(closed).toEqual([]);
  });
});

describe('how many people must sign', () => {
  it('is what a rule or the configuration requires, whichever is more', () => {
    const need = (tool: Tool, signers: number | undefined, passkey?: 'off' | 'destructive' | 'always') => {
      const decision = { ...ALLOW, ...(signers !== undefined && { signers }) };
      return signatureNeed(Object.assign(rawCall(tool, {}), { decision }), { passkey } as never);
    };
    const erase = toolNamed('ledger_erase');
    expect(need(write, undefined)).toEqual({ effect: 'change', atLeast: 0 });
    expect(need(write, 2, 'always').atLeast).toBe(2);
    expect(need(write, undefined, 'always').atLeast).toBe(1);
    expect(need(write, undefined, 'destructive').atLeast).toBe(0);
    expect(need(erase, 0, 'destructive')).toEqual({ effect: 'destroy', atLeast: 1 });
    expect(signatureNeed(rawCall(write, {}), { passkey: 'always' } as never).atLeast).toBe(1);
    expect(signatureNeed(rawCall(write, {}), {} as never).atLeast).toBe(0);
  });
});
