import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { JsonObject } from '../../contract/json.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { windowStart } from './limits.ts';
import { compile, subjectOf } from './policy.fixture.ts';
import { findFullLimit, limitsOf, ruleLabel } from './usage.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const bound = (name: string, more: object = {}): BoundTool => {
  const { toolkit, category, effect } = subjectOf(name);
  return {
    tool: { name, category, effect, ...more },
    toolkit: { id: toolkit },
    services: async () => ({}),
  } as unknown as BoundTool;
};

describe('what is used of the limits', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const policyOf = () =>
    compile({
      max_mutations_per_hour: 10,
      template: 'none',
      limits: [
        { key: 'a-likes', dimension: 'tool', match: 'x_like_tweet', max: 4, period_seconds: 60 },
        { key: 'z-likes', dimension: 'tool', match: 'x_like_tweet', max: 4, period_seconds: 60 },
      ],
    });
  const count = async (used: readonly number[], at = NOW) => {
    const policy = await policyOf();
    const limits = policy.limitsFor({ subject: subjectOf('x_like_tweet'), principal: LOCAL_AGENT });
    for (const [index, limit] of limits.entries())
      await store.database.db
        .insertInto('counters')
        .values({ key: limit.key, window_start: windowStart(limit, at), used: used[index] ?? 0 })
        .execute();
    return { policy, limits };
  };
  const asked = async (used: readonly number[], tool = bound('x_like_tweet'), at = NOW) => {
    const { policy, limits } = await count(used, at);
    const about = [store.database, policy, tool, LOCAL_AGENT, NOW] as const;
    return { limits, shown: await limitsOf({}, ...about), full: await findFullLimit(...about) };
  };

  it('lists every limit, the one of which the largest share is used first', async () => {
    const { shown, limits } = await asked([5, 3]);
    expect(limits.map(({ max }) => max)).toEqual([10, 4, 4]);
    expect(shown.map(({ key, used, of }) => [key, used, of])).toEqual([
      [limits[1]?.key, 3, 4],
      [limits[0]?.key, 5, 10],
      [limits[2]?.key, 0, 4],
    ]);
  });

  it('names the first of two that are equally full', async () => {
    const { shown } = await asked([5, 2]);
    expect(shown[0]).toMatchObject({ used: 5, of: 10, period_seconds: 3600 });
  });

  it('counts nothing where nothing was counted in the window that is open now', async () => {
    const { shown, full } = await asked([10, 4], undefined, new Date('2026-03-02T08:30:00Z'));
    expect(shown[0]).toMatchObject({ used: 0, of: 10 });
    expect(full).toBeUndefined();
  });

  it('names a limit that is full, and none before', async () => {
    expect((await asked([9, 3])).full).toBeUndefined();
    await store.database.db.deleteFrom('counters').execute();
    const { full, limits } = await asked([9, 4]);
    expect(full).toBe(limits[1]?.key);
  });

  it('names of two full limits the one whose name comes first', async () => {
    const { full, limits } = await asked([10, 4, 4]);
    expect(full).toBe(limits.map(({ key }) => key).sort()[0]);
  });

  it('adds the limits of the toolkit itself', async () => {
    const own = { key: 'limits.own', used: 6, of: 6, period_seconds: 86_400 };
    const { shown } = await asked([5, 2], bound('x_like_tweet', { limits: async () => [own] }));
    expect(shown[0]).toEqual(own);
    expect(shown).toHaveLength(4);
  });

  it('leaves out composites, whose parts are counted, and refuses no read', async () => {
    expect((await asked([10, 4], bound('x_like_tweet', { composite: true }))).shown).toEqual([]);
    await store.database.db.deleteFrom('counters').execute();
    const read = { ...bound('x_like_tweet'), tool: { ...bound('x_like_tweet').tool, effect: 'read' } };
    expect((await asked([10, 4], read as BoundTool)).full).toBeUndefined();
  });
});

describe('the label of a rule', () => {
  it('is that of the rule or of the template, and none where there is none', async () => {
    const rules: JsonObject[] = [
      { id: 'mine', action: 'deny', label: 'No likes', tools: ['x_like_tweet'] },
      { id: 'plain', action: 'deny', tools: ['x_like_tweet'] },
    ];
    const policy = await compile({ rules });
    const { template_rules } = policy.status() as unknown as {
      template_rules: { id: string; label?: string }[];
    };
    expect(ruleLabel(policy, 'mine')).toBe('No likes');
    expect(ruleLabel(policy, 'plain')).toBeUndefined();
    expect(ruleLabel(policy, 'nothing')).toBeUndefined();
    const writes = template_rules.find(({ id }) => id === 'writes');
    expect(writes).toBeDefined();
    expect(ruleLabel(policy, 'template:safe_default:writes')).toBe(writes?.label);
    expect(ruleLabel(policy, 'writes')).toBeUndefined();
  });
});
