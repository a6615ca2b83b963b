import type { Prompt } from '../../contract/toolkit.ts';

export const prompts: readonly Prompt[] = [
  {
    name: 'plan_week_of_posts',
    title: 'Plan a week of posts',
    description: 'Draft posts for the coming week and schedule them for approval.',
    arguments: [{ name: 'topic', description: 'What the week is about.', required: false }],
    tools: ['topic_performance_snapshot', 'get_stats', 'compose_tweet'],
    text: ({ topic }) =>
      `Plan a week of posts${topic ? ` about ${topic}` : ''}. Read topic_performance_snapshot and get_stats first, then propose one post a day with a time. Create each with compose_tweet and scheduled_for; if policy requires approval, they wait in the inbox. Show me the plan as a table before you create anything.`,
  },
];
