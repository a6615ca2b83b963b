import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { Tool } from '../../contract/tool.ts';
import type { Decision, Limit, PolicyCall } from '../policy/index.ts';
import type { CallLimits } from '../ports.ts';
import { AGENT_PAUSED, setPaused } from '../store/pause.ts';
import { createForecaster } from './forecast.ts';
import { ALLOW, rawCall, toolNamed } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const ADA: Principal = { kind: 'person', id: 'ada' };
const CLOCK: Principal = { kind: 'system', id: 'scheduler' };
const LIMIT: Limit = { key: 'few', max: 2, periodSeconds: 3_600, dimension: 'global', match: '*' };
const UNREADABLE = { action: 'deny', rule: 'hard:unreadable_policy', reason: 'no database' } as const;
const write = toolNamed('ledger_write');
const decides = toolNamed('ledger_write', { effect: 'decide' });

/** What the world around the forecaster answers. */
interface World {
  decide(call: PolicyCall): Partial<Decision>;
  findPermit(asked: object): Promise<Approval | undefined>;
  findStanding(): Promise<{ id: number } | undefined>;
  limits: Partial<CallLimits>;
}

let store: TestStore;
let world: World;
let asked: PolicyCall[];
/** What policy reads again before it answers. */
let refreshed: () => Promise<void>;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.database.db.deleteFrom('settings').execute();
  await store.database.db.deleteFrom('counters').execute();
  asked = [];
  refreshed = async () => {};
  world = {
    decide: () => ({}),
    findPermit: async () => undefined,
    findStanding: async () => undefined,
    limits: { agentsMayApprove: false },
  };
});

const bind = (tool: Tool) => rawCall(tool, {}).request.bound;
const forecaster = () => {
  const decide = (call: PolicyCall): Decision => {
    asked.push(call);
    return { ...ALLOW, ...world.decide(call) };
  };
  const current = {
    decide,
    explain: (call: PolicyCall) => ({ decision: decide(call), considered: [], limits: [] }),
    limitsFor: () => [LIMIT],
  };
  return createForecaster({
    database: store.database,
    policy: { current, stamp: 's', refresh: () => refreshed() },
    queue: { findPermit: (asked: object) => world.findPermit(asked) },
    standing: { find: () => world.findStanding() },
    limits: world.limits,
    now: () => NOW,
  } as unknown as Parameters<typeof createForecaster>[0]);
};
const forecast = async (tool: Tool = write, principal = LOCAL_AGENT, args: JsonObject = {}) =>
  (await forecaster().call({ bound: bind(tool), args, principal })).forecast;
const forTool = async (tool: Tool = write, principal = LOCAL_AGENT) =>
  (await forecaster().tools([bind(tool)], principal)).get(tool.name);
const decided = (decision: Partial<Decision>) => {
  world.decide = () => decision;
};
const never = async (): Promise<never> => {
  throw new Error('Nothing asks for this.');
};
const pauseAgent = (id: string) =>
  store.database.db
    .insertInto('settings')
    .values({ key: `${AGENT_PAUSED}${id}`, value: 'person:ada' })
    .execute();
const pauseAll = () => store.database.write((trx) => setPaused(trx, true, 'person:ada'));
const use = (used: number) =>
  store.database.db
    .insertInto('counters')
    .values({ key: 'few', window_start: Date.parse('2026-03-02T10:00:00Z') / 1000, used })
    .execute();

const ALLOWED = { action: 'allow', rule: 'default', reason: ALLOW.reason };
const ANSWERS = { action: 'allow', rule: 'default', reason: 'it reports the state of the server' };

describe('the forecast of a call', () => {
  it('asks policy about exactly this call, now unless another time is named', async () => {
    const bound = bind(write);
    const { forecast: found, explanation } = await forecaster().call({
      bound,
      args: { text: 'a' },
      principal: ADA,
    });
    expect(found).toEqual(ALLOWED);
    expect(explanation.decision).toMatchObject({ action: 'allow' });
    const at = new Date('2027-01-01T00:00:00Z');
    await forecaster().call({ bound, args: { text: 'a' }, principal: ADA, at });
    const subject = { name: 'ledger_write', toolkit: 'ledger', category: 'ledger', effect: 'change' };
    const call = { subject, args: { text: 'a' }, principal: ADA, dryRunRequested: false };
    expect(asked).toEqual([
      { ...call, now: NOW },
      { ...call, now: at },
    ]);
  });

  it('is a dry run where the call asks for one, but not where the argument is a remote tool’s own', async () => {
    await forecast(write, LOCAL_AGENT, { dry_run: true });
    await forecast(write, LOCAL_AGENT, { dry_run: 'true' });
    await forecast({ ...write, governanceArgs: [] }, LOCAL_AGENT, { dry_run: true });
    expect(asked.map(({ dryRunRequested }) => dryRunRequested)).toEqual([true, false, false]);
  });

  it('is made under the policy and the pauses of this moment', async () => {
    refreshed = async () => {
      decided({ action: 'deny', rule: 'rule:new', reason: 'new' });
    };
    expect(await forecast()).toEqual({ action: 'deny', rule: 'rule:new', reason: 'new' });
    refreshed = () => Promise.reject(new Error('gone'));
    await expect(forecast()).rejects.toThrow('gone');
  });

  it('is a refusal for a paused agent before anything else, and for no one else of its name', async () => {
    await pauseAgent('local');
    decided({ action: 'deny', rule: 'rule:no' });
    expect(await forecast()).toMatchObject({ action: 'deny', rule: 'hard:agent_paused' });
    expect((await forecast()).reason).toContain('paused agent local');
    expect(await forecast(write, { kind: 'agent', id: 'robin' })).toMatchObject({ rule: 'rule:no' });
    expect(await forecast(write, { kind: 'person', id: 'local' })).toMatchObject({ rule: 'rule:no' });
  });

  it('asks for no permit where policy denies, only shows or allows', async () => {
    Object.assign(world, { findPermit: never, findStanding: never });
    for (const action of ['deny', 'dry_run', 'allow'] as const) {
      const decision = { action, rule: 'rule:a', reason: 'a' };
      decided(decision);
      expect(await forecast()).toEqual(decision);
      if (action !== 'allow') expect(await forecast(toolNamed('ledger_permitted'))).toEqual(decision);
    }
  });

  it('lets a tool that reports on the server answer without a policy, and no other', async () => {
    const status = toolNamed('ledger_read', { alwaysAnswers: true });
    decided(UNREADABLE);
    expect(await forecast(status)).toEqual(ANSWERS);
    expect(await forecast(toolNamed('ledger_read'))).toEqual(UNREADABLE);
    decided({ action: 'deny', rule: 'rule:no', reason: 'no' });
    expect(await forecast(status)).toMatchObject({ action: 'deny', rule: 'rule:no' });
  });

  it('is allowed by a permit or a standing approval where policy asks', async () => {
    decided({ action: 'ask', rule: 'rule:ask', reason: 'ask' });
    expect(await forecast()).toEqual({ action: 'ask', rule: 'rule:ask', reason: 'ask' });
    world.findStanding = async () => ({ id: 4 });
    expect(await forecast()).toEqual({
      action: 'allow',
      rule: 'standing:4',
      reason: 'standing approval 4 answers',
      standing: 4,
    });
    const bound = bind(write);
    world.findPermit = async (call) => {
      expect(call).toEqual({ bound, args: { text: 'a' }, principal: ADA });
      return { id: 3 } as Approval;
    };
    const { forecast: permitted } = await forecaster().call({ bound, args: { text: 'a' }, principal: ADA });
    expect(permitted).toEqual({ action: 'allow', rule: 'permit', reason: 'permit 3 allows it' });
  });

  it('is denied without a permit where the tool needs one, whatever stands', async () => {
    const permitted = toolNamed('ledger_permitted');
    world.findStanding = never;
    const denied = { action: 'deny', rule: 'hard:permit' };
    expect(await forecast(permitted)).toMatchObject(denied);
    expect((await forecast(permitted)).reason).toContain("'ledger_permitted'");
    world.findPermit = async () => ({ id: 3 }) as Approval;
    expect(await forecast(permitted)).toMatchObject({ action: 'allow', rule: 'permit' });
    world.findPermit = async () => {
      throw new ToolError('approval_invalid', 'It has expired.');
    };
    expect(await forecast(permitted)).toEqual({ ...denied, reason: 'It has expired.' });
    world.findPermit = () => Promise.reject(new Error('disk I/O error'));
    await expect(forecast(permitted)).rejects.toThrow('disk I/O error');
  });

  it('leaves decisions to people, and to agents where the configuration says so', async () => {
    const denied = { action: 'deny', rule: 'hard:person_decides' };
    expect(await forecast(decides)).toMatchObject(denied);
    expect((await forecast(decides)).reason).toContain('agent:local');
    expect(await forecast(decides, ADA)).toEqual(ALLOWED);
    world.limits = { agentsMayApprove: true };
    expect(await forecast(decides)).toEqual(ALLOWED);
    expect(await forecast(decides, CLOCK)).toMatchObject(denied);
  });

  it('stops only changes that would run while everything is paused', async () => {
    await pauseAll();
    expect(await forecast()).toEqual({
      action: 'deny',
      rule: 'hard:paused',
      reason: 'a person paused all changes',
    });
    expect(await forecast(toolNamed('ledger_read'))).toEqual(ALLOWED);
    expect(await forecast(decides, ADA)).toEqual(ALLOWED);
    decided({ action: 'ask', rule: 'rule:ask', reason: 'ask' });
    expect(await forecast()).toMatchObject({ action: 'ask' });
  });

  it('stops a change at a limit that is used up in the window of its time', async () => {
    await use(2);
    expect(await forecast()).toEqual({ action: 'deny', rule: 'limit:few', reason: 'rate limited' });
    const at = new Date('2026-03-02T11:00:00Z');
    const later = await forecaster().call({ bound: bind(write), args: {}, principal: ADA, at });
    expect(later.forecast).toEqual(ALLOWED);
    await store.database.db.updateTable('counters').set({ used: 1 }).execute();
    expect(await forecast()).toEqual(ALLOWED);
  });
});

describe('the forecast of a tool', () => {
  it('asks policy without arguments, and reads the loosest answer only where it depends on them', async () => {
    expect(await forTool()).toEqual(ALLOWED);
    const subject = { name: 'ledger_write', toolkit: 'ledger', category: 'ledger', effect: 'change' };
    expect(asked).toEqual([
      {
        subject,
        args: {},
        principal: LOCAL_AGENT,
        now: NOW,
        dryRunRequested: false,
        assume: 'strictest',
      },
    ]);
  });

  it('says which rules it depends on and how lenient they can be, where that changes the answer', async () => {
    const strict = { action: 'deny', rule: 'rule:cond', reason: 'no', depends: ['rule:cond'] } as const;
    world.decide = ({ assume }) => (assume === 'strictest' ? strict : { action: 'ask', rule: 'rule:ask' });
    expect(await forTool()).toEqual({
      action: 'deny',
      rule: 'rule:cond',
      reason: 'no',
      depends: { rules: ['rule:cond'], loosest: 'ask' },
    });
    expect(asked.map(({ assume }) => assume)).toEqual(['strictest', 'loosest']);
    world.decide = ({ assume }) => (assume === 'strictest' ? strict : { action: 'deny', rule: 'rule:all' });
    expect(await forTool()).toEqual({ action: 'deny', rule: 'rule:cond', reason: 'no' });
    // What policy would allow is stopped afterwards in both cases.
    await pauseAll();
    world.decide = ({ assume }) => (assume === 'strictest' ? strict : {});
    expect(await forTool()).toEqual({ action: 'deny', rule: 'rule:cond', reason: 'no' });
  });

  it('is a refusal for a paused agent, and stops changes at pauses and limits', async () => {
    await use(2);
    expect(await forTool()).toMatchObject({ rule: 'limit:few' });
    await pauseAll();
    expect(await forTool()).toMatchObject({ rule: 'hard:paused' });
    await pauseAgent('local');
    expect(await forTool()).toMatchObject({ rule: 'hard:agent_paused' });
    expect(await forTool(write, ADA)).toMatchObject({ rule: 'hard:paused' });
  });

  it('requires a permit where the tool needs one and policy would let it run or ask', async () => {
    const permitted = toolNamed('ledger_permitted');
    for (const action of ['allow', 'ask'] as const) {
      decided({ action });
      expect(await forTool(permitted)).toMatchObject({ action: 'deny', rule: 'hard:permit' });
      expect(await forTool()).toMatchObject({ action, rule: 'default' });
    }
    for (const action of ['deny', 'dry_run'] as const) {
      decided({ action });
      expect(await forTool(permitted)).toMatchObject({ action, rule: 'default' });
    }
  });

  it('lets a tool that reports on the server answer without a policy, and no other', async () => {
    decided(UNREADABLE);
    const status = toolNamed('ledger_read', { alwaysAnswers: true });
    expect(await forTool(status)).toEqual(ANSWERS);
    expect(await forTool(toolNamed('ledger_read'))).toEqual(UNREADABLE);
    decided({ action: 'deny', rule: 'rule:no', reason: 'no' });
    expect(await forTool(status)).toMatchObject({ rule: 'rule:no' });
  });
});
