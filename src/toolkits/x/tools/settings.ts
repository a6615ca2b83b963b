import { z } from 'zod';
import { CHANGE_PROFILES, READ_PROFILES } from '../../../contract/tool.ts';
import type { RateLimitRow } from '../client/api.ts';
import { timesOn, WEEKDAYS } from '../growth/clock.ts';
import { defineXTool, type XServices, type XSettings } from '../services.ts';

export const getConfig = defineXTool({
  name: 'get_config',
  title: 'Get configuration',
  summary: 'Current configuration, secrets masked.',
  effect: 'read',
  reach: 'local',
  category: 'config',
  profiles: READ_PROFILES,
  errors: [],
  input: z.object({}),
  output: z.looseObject({}),
  async run(_args, { services }) {
    return services.kernel.config.masked();
  },
});

export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** What each table may say on its own but not together with the others. */
const configProblems = (settings: XSettings): ConfigProblem[] => [
  ...contradictions(settings),
  ...unusableModel(settings),
];

/** What the growth engine misses; everything else works without it. */
function configGaps({ business }: XSettings): ConfigProblem[] {
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
      message: 'is empty, so discovery has nothing to search for',
    });
  }
  return gaps;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Tokens sent without TLS can be read on the way. */
export function plainConnections({ xApi }: Pick<XSettings, 'xApi'>): ConfigProblem[] {
  return (['api_base_url', 'ads_base_url', 'authorize_url'] as const).flatMap((name) => {
    const text = xApi[name];
    const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
    if (url?.protocol !== 'http:' || LOOPBACK.test(url.hostname)) return [];
    return [
      { path: `x_api.${name}`, message: 'is plain HTTP beyond this machine: tokens can be read on the way' },
    ];
  });
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

const problem = z.object({ path: z.string(), message: z.string() });

export const validateConfig = defineXTool({
  name: 'validate_config',
  title: 'Validate configuration',
  summary: 'Checks the configuration and lists what is wrong or missing.',
  effect: 'read',
  reach: 'local',
  category: 'config',
  profiles: READ_PROFILES,
  errors: [],
  input: z.object({}),
  output: z.object({
    valid: z.boolean(),
    path: z.string(),
    errors: z.array(problem),
    warnings: z.array(problem),
  }),
  async run(_args, { services }) {
    const { config } = services.kernel;
    const errors = [...(await config.problems()), ...configProblems(services.settings)];
    const warnings = [...configGaps(services.settings), ...plainConnections(services.settings)];
    return { valid: errors.length === 0, path: config.path, errors, warnings };
  },
});

const HOUR_SECONDS = 3600;

export const getPolicyStatus = defineXTool({
  name: 'get_policy_status',
  title: 'Get policy status',
  summary: 'Policy for changes and how much of its hourly limit is used.',
  effect: 'read',
  reach: 'local',
  category: 'policy',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.looseObject({
    mode: z.string(),
    rate_limit: z.object({
      used: z.number(),
      max: z.number().nullable().describe('null: unlimited.'),
      period_seconds: z.number(),
      period_start: z.string(),
    }),
  }),
  async run(_args, { services, now }) {
    const { policy } = services.kernel;
    const [status, limits] = await Promise.all([policy.status(), policy.limits()]);
    // The tightest hourly limit that counts changes on X: the configured one, or the template's.
    const [hourly] = limits
      .filter(
        (l) =>
          l.periodSeconds === HOUR_SECONDS &&
          (l.dimension === 'global' || (l.dimension === 'toolkit' && l.match === 'x')),
      )
      .sort((a, b) => a.max - b.max);
    const max = status.max_mutations_per_hour;
    return {
      ...status,
      max_mutations_per_hour: hourly?.max ?? (typeof max === 'number' ? max : null),
      mode: services.operatingMode().mode,
      approval_mode: services.operatingMode().approvalMode,
      rate_limit: {
        used: hourly?.used ?? 0,
        max: hourly?.max ?? (typeof max === 'number' ? max : null),
        period_seconds: HOUR_SECONDS,
        period_start: (hourly?.periodStart ?? now()).toISOString(),
      },
    };
  },
});

const limit = z.object({
  action: z.string(),
  used: z.number(),
  max: z.number(),
  remaining: z.number(),
  period_seconds: z.number(),
  period_start: z.string(),
  resets_at: z.string(),
});

export const getRateLimits = defineXTool({
  name: 'get_rate_limits',
  title: 'Get rate limits',
  summary: "Use of the policy's limits, the daily safety limits and X's own limits per endpoint.",
  effect: 'read',
  reach: 'local',
  category: 'policy',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.object({
    rate_limits: z.array(limit),
    x_endpoints: z.array(
      z.object({ endpoint: z.string(), limit: z.number(), remaining: z.number(), resets_at: z.string() }),
    ),
  }),
  async run(_args, { services }) {
    const [policy, safety, endpoints] = await Promise.all([
      services.kernel.policy.limits(),
      services.safety.usage(),
      endpointLimits(services),
    ]);
    const rows = [
      ...policy.map(({ key, resetAt, ...usage }) => ({ ...usage, action: key, resetsAt: resetAt })),
      ...safety,
    ];
    return {
      rate_limits: rows.map((usage) => ({
        action: usage.action,
        used: usage.used,
        max: usage.max,
        remaining: Math.max(0, usage.max - usage.used),
        period_seconds: usage.periodSeconds,
        period_start: usage.periodStart.toISOString(),
        resets_at: usage.resetsAt.toISOString(),
      })),
      x_endpoints: endpoints.map((row) => ({
        endpoint: row.endpoint,
        limit: row.limit,
        remaining: row.remaining,
        resets_at: row.resetAt.toISOString(),
      })),
    };
  },
});

/** Without a usable provider there are none to show, and the local limits still stand. */
async function endpointLimits(services: XServices): Promise<readonly RateLimitRow[]> {
  try {
    const x = await services.x();
    return await x.rateLimits();
  } catch (error) {
    services.log.warn('X rate limits are not available', { error: String(error) });
    return [];
  }
}
