import type { PolicyLimit, PolicyRule, ToolkitPolicy } from '../../contract/policy.ts';

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

/** Deletions need no rule here: a built-in rule asks for everything destructive. */
export const policy: ToolkitPolicy = {
  toolkit: 'x',
  hardRules: [
    { id: 'composer_approval', why: 'Composer mode', applies: ({ mode }) => mode === 'composer' },
    {
      id: 'approval_mode',
      why: 'approval mode is on',
      applies: ({ mode, approvalMode }) => mode !== 'composer' && approvalMode,
    },
  ],
  templates: {
    safe_default: {
      rules: [
        rule('writes', 'Posts, replies, quotes and threads require approval.', ['write']),
        rule('messages', 'Direct messages require approval.', ['direct_message']),
        rule('enterprise', 'Ads and compliance changes require approval.', ['ads', 'compliance']),
      ],
      limits: [
        perPeriod('x_changes_per_hour', 'toolkit', 'x', 20, HOUR),
        perPeriod('engagements_per_day', 'category', 'engage', 50, DAY),
      ],
    },
    growth_aggressive: {
      rules: [],
      limits: [
        perPeriod('x_changes_per_hour', 'toolkit', 'x', 50, HOUR),
        perPeriod('engagements_per_day', 'category', 'engage', 100, DAY),
      ],
    },
    agency_mode: {
      rules: [],
      limits: [
        perPeriod('x_changes_per_day', 'toolkit', 'x', 200, DAY),
        perPeriod('posts_per_day', 'tool', 'x_post_tweet', 30, DAY),
        perPeriod('likes_per_day', 'tool', 'x_like_tweet', 50, DAY),
        perPeriod('follows_per_day', 'tool', 'x_follow_user', 20, DAY),
      ],
    },
  },
};
