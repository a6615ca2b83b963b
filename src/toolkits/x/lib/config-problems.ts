import { timesOn, WEEKDAYS } from '../growth/clock.ts';
import type { XSettings } from '../services.ts';

export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** What each table may say on its own but not together with the others. */
export const configProblems = (settings: XSettings): ConfigProblem[] => [
  ...contradictions(settings),
  ...unusableModel(settings),
];

/** What the growth engine misses; everything else works without it. */
export function configGaps({ business }: XSettings): ConfigProblem[] {
  const gaps: ConfigProblem[] = [];
  if (!business.product_name) gaps.push({ path: 'business.product_name', message: 'is empty' });
  const keywords = [
    ...business.product_keywords,
    ...business.competitor_keywords,
    ...business.industry_topics,
  ];
  if (keywords.length === 0) {
    gaps.push({
      path: 'business.product_keywords',
      message: 'is empty, so discovery has nothing to look for',
    });
  }
  return gaps;
}

function contradictions({ limits, schedule }: XSettings): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (limits.min_action_delay_seconds > limits.max_action_delay_seconds) {
    problems.push({
      path: 'limits.min_action_delay_seconds',
      message: 'is larger than limits.max_action_delay_seconds',
    });
  }
  for (const day of WEEKDAYS) {
    const slots = timesOn(schedule, day).length;
    if (slots > limits.max_tweets_per_day) {
      problems.push({
        path: schedule.preferred_times_override[day]
          ? `schedule.preferred_times_override.${day}`
          : 'schedule.preferred_times',
        message: `has ${slots} times on ${day}, but limits.max_tweets_per_day is ${limits.max_tweets_per_day}`,
      });
    }
  }
  return problems;
}

function unusableModel({ llm }: XSettings): ConfigProblem[] {
  if ((llm.provider === 'openai' || llm.provider === 'anthropic') && !llm.api_key) {
    return [{ path: 'llm.api_key', message: `is needed for provider ${llm.provider}` }];
  }
  if (llm.provider === 'compatible' && !llm.base_url) {
    return [{ path: 'llm.base_url', message: 'is needed for provider compatible' }];
  }
  return [];
}
