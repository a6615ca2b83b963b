import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { JsonObject } from '../../contract/json.ts';
import { changeConfig } from '../log/config-change.ts';
import { OVERRIDES_KEY, stampOf } from '../store/pause.ts';
import { callOf, compile } from './policy.fixture.ts';
import { NOT_LOGGED, readStored, withoutChanges } from './stored.ts';

const ADA = { kind: 'person', id: 'ada' } as const;
const VALUE = '{"rules":[]}';

describe('stored overrides', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const write = (value: string) =>
    store.database.db
      .insertInto('settings')
      .values({ key: OVERRIDES_KEY, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  const enter = (extra: JsonObject) =>
    changeConfig(store.database, ADA, new Date('2026-03-02T10:00:00Z'), async () => extra);
  const set = async (value: string) => {
    await write(value);
    await enter({ policy_version: 'v', overrides: stampOf(value) });
  };
  const read = () => readStored(store.database);

  it('are logged where no one ever set any', async () => {
    expect(await read()).toEqual({ value: undefined, isLogged: true });
  });

  it('are not logged where no entry is about them', async () => {
    await enter({ paused: true });
    await write(VALUE);
    expect(await read()).toEqual({ value: VALUE, isLogged: false });
  });

  it('are logged as the last entry about them names them, regardless of entries about other things', async () => {
    await set('{"rules":[],"mode":"composer"}');
    await set(VALUE);
    await enter({ paused: true });
    expect(await read()).toEqual({ value: VALUE, isLogged: true });
    await write('{"rules":[],"mode":"composer"}');
    expect((await read()).isLogged).toBe(false);
  });

  it('are not logged when they were deleted', async () => {
    await set(VALUE);
    await store.database.db.deleteFrom('settings').where('key', '=', OVERRIDES_KEY).execute();
    expect(await read()).toEqual({ value: undefined, isLogged: false });
  });

  it('are not logged by an entry that was changed to name them', async () => {
    await set('{"rules":[],"mode":"composer"}');
    await write(VALUE);
    const { body } = await store.database.db.selectFrom('audit_log').select('body').executeTakeFirstOrThrow();
    const forged = body.replace(/"overrides":"[0-9a-f]+"/, `"overrides":"${stampOf(VALUE)}"`);
    expect(forged).not.toBe(body);
    await store.database.db.updateTable('audit_log').set({ body: forged }).execute();
    expect((await read()).isLogged).toBe(false);
  });

  it('are believed after an entry of an older version, which does not name them', async () => {
    await write(VALUE);
    await enter({ policy_version: 'v' });
    expect(await read()).toEqual({ value: VALUE, isLogged: true });
  });
});

describe('a policy whose stored rules are not believed', () => {
  it('denies every change and says why, and decides on reads as the configuration does', async () => {
    const rules = [{ id: 'no', action: 'deny', tools: ['x_search_tweets'] }];
    const base = await compile({ template: 'none', rules });
    const policy = withoutChanges(base);
    const rule = 'hard:unreadable_policy';
    const decision = {
      action: 'deny',
      rule,
      reason: NOT_LOGGED,
      code: 'policy_error',
      trace: [{ rule, source: 'hard', action: 'deny', reason: NOT_LOGGED }],
      policyVersion: base.version,
    };
    for (const name of ['x_like_tweet', 'x_delete_tweet']) {
      const call = callOf(name);
      expect(policy.decide(call)).toEqual(decision);
      expect(policy.explain(call)).toEqual({ decision, considered: [], limits: [] });
    }
    for (const name of ['x_search_tweets', 'suggest_new_code']) {
      const call = callOf(name);
      expect(policy.decide(call)).toEqual(base.decide(call));
      expect(policy.explain(call)).toEqual(base.explain(call));
    }
    expect(policy.decide(callOf('x_search_tweets')).rule).toBe('no');
    expect(policy.status()).toEqual({ ...base.status(), problem: NOT_LOGGED });
    expect(policy.version).toBe(base.version);
  });
});
