import { timesOn, WEEKDAYS } from '../growth/clock.ts';
import type { XSettings } from '../services.ts';

export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** What each table may say on its own but not together, and what the growth engine misses when it is absent. */
export function configProblems(settings: XSettings): ConfigProblem[] {
  return [...contradictions(settings), ...missing(settings)];
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

function missing({ business, llm }: XSettings): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (!business.product_name) problems.push({ path: 'business.product_name', message: 'is empty' });
  const keywords = [
    ...business.product_keywords,
    ...business.competitor_keywords,
    ...business.industry_topics,
  ];
  if (keywords.length === 0) {
    problems.push({
      path: 'business.product_keywords',
      message: 'is empty, so no post can be found or scored',
    });
  }
  if ((llm.provider === 'openai' || llm.provider === 'anthropic') && !llm.api_key) {
    problems.push({ path: 'llm.api_key', message: `is needed for provider ${llm.provider}` });
  }
  if (llm.provider === 'compatible' && !llm.base_url) {
    problems.push({ path: 'llm.base_url', message: 'is needed for provider compatible' });
  }
  return problems;
}
