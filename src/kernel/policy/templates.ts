import type { PolicyLimit, PolicyRule, TemplateName } from '../../contract/policy.ts';

export interface Template {
  readonly name: TemplateName;
  readonly doc: string;
  /** Never `allow`: it would exempt from the lists, and adding a template must not loosen anything. */
  readonly rules: readonly PolicyRule[];
  readonly limits: readonly PolicyLimit[];
}

const HOUR = 3_600;
const DAY = 86_400;

const rule = (id: string, label: string, categories: string[]): PolicyRule => ({
  id,
  label,
  enabled: true,
  priority: 100,
  toolkits: ['x'],
  categories,
  effects: ['change'],
  action: 'ask',
});

const perPeriod = (
  key: string,
  dimension: PolicyLimit['dimension'],
  match: string,
  max: number,
  period_seconds: number,
): PolicyLimit => ({ key, dimension, match, max, period_seconds });

/** Deletions need no rule here: a hard rule asks for everything that destroys. */
export const TEMPLATES: Readonly<Record<TemplateName, Template>> = {
  safe_default: {
    name: 'safe_default',
    doc: 'What others read or what costs money waits for a person; likes, follows and reposts go through, within limits.',
    rules: [
      rule('writes', 'Posts, replies, quotes and threads wait for a person.', ['write']),
      rule('messages', 'Direct messages wait for a person.', ['direct_message']),
      rule('enterprise', 'Ads and compliance changes wait for a person.', ['ads', 'compliance']),
    ],
    limits: [
      perPeriod('x_changes_per_hour', 'toolkit', 'x', 20, HOUR),
      perPeriod('engagements_per_day', 'category', 'engage', 50, DAY),
    ],
  },
  growth_aggressive: {
    name: 'growth_aggressive',
    doc: 'Only deletions wait for a person; twice as many changes an hour.',
    rules: [],
    limits: [
      perPeriod('x_changes_per_hour', 'toolkit', 'x', 50, HOUR),
      perPeriod('engagements_per_day', 'category', 'engage', 100, DAY),
    ],
  },
  agency_mode: {
    name: 'agency_mode',
    doc: 'Only deletions wait for a person; limits by the day, as agencies plan.',
    rules: [],
    limits: [
      perPeriod('x_changes_per_day', 'toolkit', 'x', 200, DAY),
      perPeriod('posts_per_day', 'tool', 'x_post_tweet', 30, DAY),
      perPeriod('likes_per_day', 'tool', 'x_like_tweet', 50, DAY),
      perPeriod('follows_per_day', 'tool', 'x_follow_user', 20, DAY),
    ],
  },
  none: { name: 'none', doc: 'Your own rules, lists and limits only.', rules: [], limits: [] },
};
