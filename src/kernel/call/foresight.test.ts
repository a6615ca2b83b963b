import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Decision, Limit, PolicyCall } from '../policy/index.ts';
import { AGENT_PAUSED, setPaused } from '../store/pause.ts';
import { createForesight } from './foresight.ts';
import { ALLOW, rawCall, toolNamed } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const LIMIT: Limit = { key: 'few', max: 2, periodSeconds: 3_600, dimension: 'global', match: '*' };
const { bound } = rawCall(toolNamed('ledger_write'), {}).request;

let store: TestStore;
let decision: Partial<Decision>;
let limits: readonly Limit[];
let asked: PolicyCall[];
let refreshed: () => Promise<void>;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.database.db.deleteFrom('settings').execute();
  await store.database.db.deleteFrom('counters').execute();
  decision = { action: 'ask' };
  limits = [];
  asked = [];
  refreshed = async () => {};
});

const foresee = (more: Partial<Approval> = {}) => {
  const current = {
    decide(call: PolicyCall) {
      asked.push(call);
      return { ...ALLOW, ...decision };
    },
    limitsFor: () => limits,
  };
  const policy = { current: current as never, stamp: 's', refresh: () => refreshed() };
  const approval = { args: { text: 'a' }, requester: LOCAL_AGENT, kind: 'call', ...more } as Approval;
  return createForesight({ database: store.database, policy, now: () => NOW })(bound, approval);
};
const use = (used: number) =>
  store.database.db
    .insertInto('counters')
    .values({ key: 'few', window_start: Date.parse('2026-03-02T10:00:00Z') / 1000, used })
    .execute();

describe('what would refuse a call that a person is about to sign', () => {
  it('is nothing while policy asks or allows, evaluated for the requester and the approved arguments', async () => {
    expect(await foresee()).toBeUndefined();
    decision = { action: 'allow' };
    expect(await foresee()).toBeUndefined();
    expect(asked[0]).toEqual({
      subject: { name: 'ledger_write', toolkit: 'ledger', category: 'ledger', effect: 'change' },
      args: { text: 'a' },
      principal: LOCAL_AGENT,
      now: NOW,
      dryRunRequested: false,
    });
  });

  it('is a pause of all changes', async () => {
    await store.database.write((trx) => setPaused(trx, true, 'person:ada'));
    expect(await foresee()).toMatchObject({ code: 'paused' });
  });

  it('is a pause of the agent that asked, and of no one else of its name', async () => {
    await store.database.db
      .insertInto('settings')
      .values({ key: `${AGENT_PAUSED}local`, value: 'person:ada' })
      .execute();
    expect(await foresee()).toMatchObject({ code: 'agent_paused' });
    expect(await foresee({ requester: { kind: 'agent', id: 'robin' } })).toBeUndefined();
    expect(await foresee({ requester: { kind: 'person', id: 'local' } })).toBeUndefined();
  });

  it('is a rule that denies, as it is at that moment', async () => {
    refreshed = async () => {
      decision = { action: 'deny', code: 'policy_denied_blocked', reason: 'blocked' };
    };
    expect(await foresee()).toMatchObject({
      code: 'policy_denied_blocked',
      message: 'Policy denied: blocked',
    });
    refreshed = async () => {};
    decision = { action: 'deny', reason: 'no' };
    expect(await foresee({ kind: 'permit' })).toMatchObject({ code: 'policy_denied_user_rule' });
  });

  it('is a dry-run mode or a full limit for a call, not for a permit, which is used later', async () => {
    decision = { action: 'dry_run' };
    expect(await foresee()).toMatchObject({ code: 'not_allowed' });
    expect(await foresee({ kind: 'permit' })).toBeUndefined();
    decision = { action: 'ask' };
    limits = [LIMIT];
    await use(2);
    expect(await foresee()).toMatchObject({
      code: 'policy_denied_rate_limited',
      detail: { limit: 'few', max: 2, period_seconds: 3_600 },
    });
    expect(await foresee({ kind: 'permit' })).toBeUndefined();
  });

  it('is no limit that has room left', async () => {
    limits = [LIMIT];
    expect(await foresee()).toBeUndefined();
    await use(1);
    expect(await foresee()).toBeUndefined();
  });
});
