import { z } from 'zod';
import { configSection } from './config.ts';

/**
 * `[mcp_policy]` as data. It stands in the contract because the configuration reads it, the kernel compiles it and the
 * web app writes candidate rules.
 */
export const ACTIONS = ['allow', 'ask', 'dry_run', 'deny'] as const;
export type Action = (typeof ACTIONS)[number];

export const TEMPLATE_NAMES = ['safe_default', 'growth_aggressive', 'agency_mode', 'none'] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

const LIMIT_DIMENSIONS = ['tool', 'category', 'toolkit', 'principal', 'global'] as const;
export type LimitDimension = (typeof LIMIT_DIMENSIONS)[number];

export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const names = (doc: string) => z.array(z.string().min(1)).min(1).optional().describe(doc);
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day like 09:15');

const timeZones = new Set<string>();

/** Asking the platform is slow, so a good answer is kept. */
const isTimeZone = (name: string): boolean => {
  if (timeZones.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    timeZones.add(name);
    return true;
  } catch {
    return false;
  }
};

const policySchedule = z
  .object({
    start: clockTime.default('00:00').describe('First minute of the window.'),
    end: clockTime
      .default('00:00')
      .describe('First minute after it; at or before start: the window passes midnight.'),
    timezone: z
      .string()
      .refine(isTimeZone, 'must be an IANA time zone like Europe/Berlin')
      .default('UTC')
      .describe('IANA time zone of the window.'),
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .default([...WEEKDAYS])
      .describe('Days on which the window opens.'),
  })
  .strict();

export const policyRule = z
  .object({
    id: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*$/, 'must be letters, digits, dots, dashes and underscores')
      .describe('Name of the rule, shown with every decision it had a say in.'),
    label: z.string().optional().describe('What the rule is for, in plain words.'),
    enabled: z.boolean().default(true).describe('False: the rule is checked but has no say.'),
    priority: z.number().int().default(100).describe('Lower comes first; equal ones in the order written.'),
    tools: names('Tool names, policy names or patterns with `*`.'),
    categories: names('Categories of tools.'),
    toolkits: names('Toolkits.'),
    effects: z
      .array(z.enum(['read', 'change', 'destroy', 'propose', 'decide']))
      .min(1)
      .optional()
      .describe('Unset: any effect of what is named; a rule that names nothing judges changes only.'),
    modes: z
      .array(z.enum(['autopilot', 'composer']))
      .min(1)
      .optional()
      .describe('Operating modes.'),
    principals: names('Who acts: `agent`, `agent:NAME`, `person:ada`, `system:*`.'),
    schedule: policySchedule.optional().describe('Window of time in which the rule applies.'),
    when: z.string().min(1).optional().describe('CEL condition over `args`, `tool`, `principal` and `now`.'),
    action: z.enum(ACTIONS).describe('allow, ask, dry_run or deny.'),
    reason: z.string().optional().describe('Told to the caller and to the person who decides.'),
  })
  .strict();
export type PolicyRule = z.output<typeof policyRule>;
export type PolicySchedule = NonNullable<PolicyRule['schedule']>;

const policyLimit = z
  .object({
    key: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*$/, 'must be letters, digits, dots, dashes and underscores')
      .describe('Name of the limit.'),
    dimension: z
      .enum(LIMIT_DIMENSIONS)
      .describe('What is counted together: tool, category, toolkit, principal or global.'),
    match: z
      .string()
      .min(1)
      .default('*')
      .describe('The tool, category, toolkit or principal. `agent:*` counts every agent by itself.'),
    max: z.number().int().min(0).describe('Most changes within one period.'),
    period_seconds: z.number().int().min(1).describe('Length of the fixed window.'),
  })
  .strict();
export type PolicyLimit = z.output<typeof policyLimit>;

export const mcpPolicy = configSection(
  'mcp_policy',
  'What agents may do. Every part holds together with every other; adding one never switches another off.',
  () =>
    z
      .object({
        enforce_for_mutations: z
          .boolean()
          .default(true)
          .describe('False switches rules, lists and limits off, never the hard rules.')
          .meta({ tighten: 'to-true' }),
        template: z
          .enum(TEMPLATE_NAMES)
          .default('safe_default')
          .describe('Ready-made rules and limits that hold beside your own.'),
        require_approval_for: z
          .array(z.string().min(1))
          .default([])
          .describe('Tools whose calls wait for a person.'),
        blocked_tools: z.array(z.string().min(1)).default([]).describe('Tools nobody may call.'),
        dry_run_mutations: z
          .boolean()
          .default(false)
          .describe('Show what every change would do, and do nothing.')
          .meta({ tighten: 'to-true' }),
        max_mutations_per_hour: z
          .number()
          .int()
          .min(0)
          .optional()
          .describe(
            'Most changes in one clock hour, all agents and toolkits together. Unset: the limits of the template (20 for toolkit x) alone.',
          ),
        rules: z.array(policyRule).default([]).describe('Your own rules, `[[mcp_policy.rules]]`.'),
        limits: z.array(policyLimit).default([]).describe('Your own limits, `[[mcp_policy.limits]]`.'),
      })
      .strict(),
);
export type McpPolicyConfig = z.output<typeof mcpPolicy.schema>;
