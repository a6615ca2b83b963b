import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { mcpPolicy } from '../../contract/policy.ts';
import { changeConfig } from '../log/config-change.ts';
import { OVERRIDES_KEY, stampOf } from '../store/pause.ts';
import { type PolicyBase, PolicyInForce } from './in-force.ts';
import { ask, CATALOGUE, X_POLICY } from './policy.fixture.ts';
import { NOT_LOGGED } from './stored.ts';

const ADA = { kind: 'person', id: 'ada' } as const;
const rule = (id: string, action: 'allow' | 'ask' | 'deny', more: object = {}) =>
  mcpPolicy.schema.parse({ rules: [{ id, action, tools: ['x_like_tweet'], ...more }] }).rules;

describe('the policy in force', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const open = (base: Partial<PolicyBase> = {}, written: object = {}) =>
    new PolicyInForce(
      {
        mode: 'autopilot',
        approvalMode: false,
        policy: mcpPolicy.schema.parse(written),
        catalogue: async () => CATALOGUE,
        toolkits: [X_POLICY],
        ...base,
      },
      store.database,
      () => new Date('2026-03-02T10:00:00Z'),
    );
  const write = (value: string) =>
    store.database.db
      .insertInto('settings')
      .values({ key: OVERRIDES_KEY, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();

  it('denies everything until it was read', async () => {
    const policy = open();
    expect(ask(policy.current, 'x_search_tweets')).toMatchObject({ action: 'deny', code: 'policy_error' });
    await policy.refresh();
    expect(ask(policy.current, 'x_search_tweets').action).toBe('allow');
    expect(policy.stamp).toBe(stampOf(undefined));
    expect(policy.isBehind).toBe(false);
  });

  it('has the mode and the template that people chose, and what follows from them', async () => {
    const policy = open();
    await policy.refresh();
    expect(policy.modes).toEqual({ mode: 'autopilot', approvalMode: false });
    expect(await policy.overrides()).toEqual({ rules: [] });
    await policy.setOverrides({ mode: 'composer', template: 'none', rules: [] }, ADA);
    expect(policy.modes).toEqual({ mode: 'composer', approvalMode: true });
    expect(await policy.overrides()).toEqual({ mode: 'composer', template: 'none', rules: [] });
    expect(await policy.input()).toMatchObject({
      mode: 'composer',
      approvalMode: true,
      expected: [],
      policy: { template: 'none', rules: [] },
    });
    expect(ask(policy.current, 'x_like_tweet')).toMatchObject({ rule: 'hard:composer_approval' });
    expect(policy.stamp).toBe(stampOf(JSON.stringify({ mode: 'composer', template: 'none', rules: [] })));
  });

  it('keeps the template and the approval mode of the file where people chose none', async () => {
    const policy = open({ approvalMode: true }, { template: 'none' });
    await policy.setOverrides({ rules: [] }, ADA);
    expect(policy.modes).toEqual({ mode: 'autopilot', approvalMode: true });
    expect(await policy.input()).toMatchObject({ approvalMode: true, policy: { template: 'none' } });
    expect(await open().input()).toMatchObject({ approvalMode: false });
  });

  it('replaces a rule of the file by the one that people gave the same name, and keeps the others', async () => {
    const policy = open({}, { rules: [...rule('one', 'deny'), ...rule('two', 'ask')] });
    await policy.setOverrides({ rules: rule('one', 'allow') }, ADA);
    const { policy: merged } = await policy.input();
    expect(merged.rules.map(({ id, action }) => `${id} ${action}`)).toEqual(['two ask', 'one allow']);
  });

  it('records who changed what, bound to the stored text', async () => {
    const policy = open();
    const rules = rule('no', 'deny');
    await policy.setOverrides({ mode: 'composer', rules }, ADA);
    await policy.setOverrides({ template: 'none', rules: [] }, ADA);
    const rows = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    expect(rows.map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        kind: 'config',
        principal: 'person:ada',
        extra: {
          mode: 'composer',
          template: null,
          rules: ['no'],
          overrides: stampOf(JSON.stringify({ mode: 'composer', rules })),
        },
      },
      { extra: { mode: null, template: 'none', rules: [], policy_version: policy.current.version } },
    ]);
  });

  it('loads the schemas of tools only where a rule has a condition', async () => {
    const asked: boolean[] = [];
    const catalogue = async (needsSchemas: boolean) => {
      asked.push(needsSchemas);
      return CATALOGUE;
    };
    await open({ catalogue }).refresh();
    await open({ catalogue }, { rules: rule('plain', 'deny') }).refresh();
    const when = { when: 'args.tweet_id == "1"' };
    await open({ catalogue }, { rules: [...rule('plain', 'deny'), ...rule('when', 'deny', when)] }).refresh();
    expect(asked).toEqual([false, false, true]);
  });

  it('is compiled again only when what is stored or the catalogue changed', async () => {
    let compiled = 0;
    let version = 1;
    const catalogue = async () => {
      compiled += 1;
      return CATALOGUE;
    };
    const policy = open({ catalogue, catalogueVersion: () => version });
    await policy.refresh();
    await policy.refresh();
    expect(compiled).toBe(1);
    expect(policy.isBehind).toBe(false);
    version = 2;
    expect(policy.isBehind).toBe(true);
    await policy.refresh();
    expect(policy.isBehind).toBe(false);
    await policy.refresh();
    expect(compiled).toBe(2);
    await write(JSON.stringify({ rules: [] }));
    await policy.refresh();
    expect(compiled).toBe(3);
  });

  it('excuses names of servers that are still expected', async () => {
    const rules = rule('files', 'deny', { tools: ['files__write'] });
    await open({ expected: () => ['files'] }, { rules }).refresh();
    await expect(open({}, { rules }).refresh()).rejects.toThrow("unknown tool 'files__write'");
  });

  it.each(['not json', '{"rules":[],"more":1}', '{"rules":1}'])(
    'denies everything over %s',
    async (stored) => {
      const policy = open();
      await write(stored);
      await policy.refresh();
      expect(ask(policy.current, 'x_search_tweets')).toMatchObject({
        action: 'deny',
        reason: 'the policy could not be read (the rules in the database are unreadable)',
      });
      expect(policy.stamp).toBe(stampOf(stored));
      expect(await policy.overrides()).toEqual({ rules: [] });
    },
  );

  it('denies everything over rules that do not compile here, and reads them again next time', async () => {
    const policy = open();
    await policy.refresh();
    // Another server, whose tools this one lacks.
    const more = CATALOGUE.slice(0, 1).map((one) => ({
      ...one,
      name: 'no_such_tool',
      policyName: undefined,
    }));
    const elsewhere = open({ catalogue: async () => [...CATALOGUE, ...more] });
    await elsewhere.setOverrides({ rules: rule('bad', 'deny', { tools: ['no_such_tool'] }) }, ADA);
    for (const _ of [1, 2]) await expect(policy.refresh()).rejects.toThrow('no_such_tool');
    expect(ask(policy.current, 'x_search_tweets')).toMatchObject({ action: 'deny' });
    expect(policy.stamp).toBe('unread');
    await elsewhere.setOverrides({ rules: [] }, ADA);
    await policy.refresh();
    expect(ask(policy.current, 'x_search_tweets').action).toBe('allow');
  });

  it('allows no change over rules that the log does not know, until it does', async () => {
    const policy = open({}, { rules: rule('no-reads', 'deny', { tools: ['x_search_tweets'] }) });
    await policy.refresh();
    const { version } = policy.current;
    const forged = JSON.stringify({ mode: 'composer', rules: rule('no-reads', 'allow') });
    await write(forged);
    await policy.refresh();
    expect(policy.problem).toBe(NOT_LOGGED);
    expect(ask(policy.current, 'x_like_tweet')).toMatchObject({ rule: 'hard:unreadable_policy' });
    // Of what is stored nothing is in force, so reads are as the file has them.
    expect(policy.current.version).toBe(version);
    expect(ask(policy.current, 'x_search_tweets')).toMatchObject({ rule: 'no-reads' });
    expect(policy.modes.mode).toBe('autopilot');
    expect(await policy.overrides()).toEqual({ rules: [] });
    await changeConfig(store.database, ADA, new Date(), async () => ({
      policy_version: 'v',
      overrides: stampOf(forged),
    }));
    await policy.refresh();
    expect(policy.problem).toBeUndefined();
    expect(policy.modes.mode).toBe('composer');
    expect(ask(policy.current, 'x_search_tweets').action).toBe('allow');
  });

  it('refuses to store what does not compile', async () => {
    const policy = open();
    const rules = rule('bad', 'deny', { tools: ['no_such_tool'] });
    await expect(policy.setOverrides({ rules }, ADA)).rejects.toThrow('no_such_tool');
    expect(await policy.overrides()).toEqual({ rules: [] });
  });
});
