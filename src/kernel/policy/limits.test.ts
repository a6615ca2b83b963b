import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { windowStart } from './limits.ts';
import { CATALOGUE, callOf, compile, X_POLICY } from './policy.fixture.ts';
import { templatesOf } from './templates.ts';

const keys = async (written: JsonObject, tool: string, agent = 'local') =>
  (await compile(written))
    .limitsFor(callOf(tool, { principal: { kind: 'agent', id: agent } }))
    .map(({ key }) => key);

const limit = (key: string, dimension: string, match = '*') => ({
  key,
  dimension,
  match,
  max: 3,
  period_seconds: 60,
});

describe('limits', () => {
  it('counts every change, and nothing else, against the hourly maximum', async () => {
    const policy = await compile({ template: 'none', max_mutations_per_hour: 7 });
    const hourly = {
      key: 'max_mutations_per_hour',
      max: 7,
      periodSeconds: 3600,
      dimension: 'global',
      match: '*',
    };
    for (const subject of CATALOGUE) {
      const counts = subject.effect === 'change' || subject.effect === 'destroy';
      expect(policy.limitsFor(callOf(subject.name)), subject.name).toEqual(counts ? [hourly] : []);
    }
  });

  it.each([
    ['tool', 'x_like_tweet', 'x_like_tweet', ['l']],
    ['tool', 'x_like_tweet', 'x_post_tweet', []],
    ['tool', 'github.issues.create', 'github_issues_create', ['l']],
    ['tool', 'x_*', 'x_like_tweet', ['l:x_like_tweet']],
    ['category', 'write', 'x_post_tweet', ['l']],
    ['category', '*', 'x_post_tweet', ['l:write']],
    ['toolkit', 'x', 'x_post_tweet', ['l']],
    ['toolkit', 'dev', 'x_post_tweet', []],
    ['principal', 'agent:bot', 'x_post_tweet', ['l']],
    ['principal', 'agent:other', 'x_post_tweet', []],
    ['principal', 'agent', 'x_post_tweet', ['l:agent:bot']],
    ['principal', 'agent:*', 'x_post_tweet', ['l:agent:bot']],
    ['principal', 'person', 'x_post_tweet', []],
    ['global', '*', 'x_post_tweet', ['l']],
  ])('of dimension %s on %s counts %s in %j', async (dimension, match, tool, expected) => {
    const counted = await keys({ template: 'none', limits: [limit('l', dimension, match)] }, tool, 'bot');
    expect(counted).toEqual(expected);
  });

  it('applies those of the template in addition to the others', async () => {
    expect(await keys({ limits: [limit('mine', 'global')] }, 'x_like_tweet')).toEqual([
      'mine',
      'template:safe_default:x_changes_per_hour',
      'template:safe_default:engagements_per_day',
    ]);
    expect(await keys({ template: 'agency_mode' }, 'x_post_tweet')).toEqual([
      'template:agency_mode:x_changes_per_day',
      'template:agency_mode:posts_per_day',
    ]);
  });
});

describe('templates', () => {
  it('never allow, because that would switch the lists off', () => {
    const actions = templatesOf([X_POLICY]).flatMap(({ rules }) => rules.map(({ action }) => action));
    expect(actions).not.toContain('allow');
    expect(actions).toContain('ask');
  });

  it.each([
    ['safe_default', 'ask'],
    ['growth_aggressive', 'allow'],
    ['agency_mode', 'allow'],
    ['none', 'allow'],
  ])('%s makes a post %s and always asks for a deletion', async (template, action) => {
    const policy = await compile({ template });
    expect(policy.decide(callOf('x_post_tweet')).action).toBe(action);
    expect(policy.decide(callOf('x_delete_tweet')).action).toBe('ask');
    expect(policy.decide(callOf('x_like_tweet')).action).toBe('allow');
  });
});

it('a window begins at a multiple of its length, for every process the same', () => {
  const at = (text: string) => Date.parse(text) / 1000;
  const hour = { periodSeconds: 3600 };
  expect(windowStart(hour, new Date('2026-03-02T10:59:59.999Z'))).toBe(at('2026-03-02T10:00:00Z'));
  expect(windowStart(hour, new Date('2026-03-02T11:00:00Z'))).toBe(at('2026-03-02T11:00:00Z'));
  expect(windowStart({ periodSeconds: 60 }, new Date('2026-03-02T10:30:45Z'))).toBe(
    at('2026-03-02T10:30:00Z'),
  );
});

it('two limits of different names are fine', async () => {
  const both = [limit('one', 'tool', 'x_like_tweet'), limit('two', 'tool', 'x_like_tweet')];
  expect(await keys({ template: 'none', max_mutations_per_hour: 0, limits: both }, 'x_like_tweet')).toEqual(
    expect.arrayContaining(['one', 'two']),
  );
});

it('every template says what it is for', () => {
  for (const { doc } of templatesOf([])) expect(doc).toMatch(/\.$/);
});
