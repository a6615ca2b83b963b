import { z } from 'zod';
import { type ConfigSection, configSection } from './config.ts';
import type { ServerChanges } from './servers.ts';
import type { DeepReadonly } from './view.ts';

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
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:15');

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
      .describe('First minute after the window; if not later than start, the window ends on the next day.'),
    timezone: z
      .string()
      .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
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
      .describe('Name of the rule, shown with every decision it contributes to.'),
    label: z.string().optional().describe('What the rule is for, in plain words.'),
    enabled: z.boolean().default(true).describe('False: the rule is validated but never applied.'),
    priority: z
      .number()
      .int()
      .default(100)
      .describe('Lower numbers come first; equal ones in the order written.'),
    tools: names('Tool names, policy names or patterns with `*`.'),
    categories: names('Categories of tools.'),
    toolkits: names('Toolkits.'),
    effects: z
      .array(z.enum(['read', 'change', 'destroy', 'propose', 'decide']))
      .min(1)
      .optional()
      .describe('Unset: any effect of the named tools; a rule that names no tools applies to changes only.'),
    modes: z
      .array(z.enum(['autopilot', 'composer']))
      .min(1)
      .optional()
      .describe('Operating modes.'),
    principals: names('Who acts: `agent`, `agent:NAME`, `person:ada`, `system:*`.'),
    schedule: policySchedule.optional().describe('Window of time in which the rule applies.'),
    when: z
      .string()
      .min(1)
      .optional()
      .describe('CEL condition over `args`, `tool`, `principal` and `now`; matches() takes RE2.'),
    action: z.enum(ACTIONS).describe('allow, ask, dry_run or deny.'),
    reason: z.string().optional().describe('Shown to the agent and to the person who decides.'),
    signed: z.boolean().optional().describe('With ask: the decision must be signed with a passkey.'),
    signers: z
      .number()
      .int()
      .min(1)
      .max(5)
      .optional()
      .describe('With ask: how many people must sign, each with a passkey of their own.'),
  })
  .strict()
  .refine(({ action, signed, signers }) => action === 'ask' || !(signed || signers), {
    path: ['signed'],
    message: 'only a rule with action = "ask" can require signatures',
  });
export type PolicyRule = z.output<typeof policyRule>;
export type PolicySchedule = NonNullable<PolicyRule['schedule']>;
/** A rule as `[[mcp_policy.rules]]` writes it: what has a default may be left out. */
export type WrittenRule = DeepReadonly<z.input<typeof policyRule>>;

/**
 * What people change while servers run. It is kept in the database, so that every process follows. Strict on reading
 * too: a key that this build does not know may restrict something, and then nothing is allowed.
 */
export const policyOverrides = z.strictObject({
  mode: z.enum(['autopilot', 'composer']).optional(),
  template: z.enum(TEMPLATE_NAMES).optional(),
  rules: z.array(policyRule),
});
export type PolicyOverrides = Readonly<z.output<typeof policyOverrides>>;

/** What is configured, as `[mcp_policy]` writes it, with the effective mode and the template's rules. */
export interface PolicyStatus {
  readonly mode?: string;
  readonly template?: string;
  readonly rules?: readonly WrittenRule[];
  readonly template_rules?: readonly WrittenRule[];
  /** Why the stored rules are not in force. */
  readonly problem?: string;
  readonly [key: string]: unknown;
}

const policyLimit = z
  .object({
    key: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*$/, 'must be letters, digits, dots, dashes and underscores')
      .describe('Name of the limit.'),
    dimension: z
      .enum(LIMIT_DIMENSIONS)
      .describe('What to count: calls of a tool, category, toolkit or principal, or all (global).'),
    match: z
      .string()
      .min(1)
      .default('*')
      .describe('The tool, category, toolkit or principal. `agent:*` counts each agent separately.'),
    max: z.number().int().min(0).describe('Maximum changes within one period.'),
    period_seconds: z.number().int().min(1).describe('Length of the fixed window.'),
  })
  .strict();
export type PolicyLimit = z.output<typeof policyLimit>;

export const mcpPolicy = configSection(
  'mcp_policy',
  'What agents may do. All parts apply together; adding one never disables another.',
  () =>
    z
      .object({
        enforce_for_mutations: z
          .boolean()
          .default(true)
          .describe(
            'False disables rules, lists, limits and servers.NAME.changes, but never the built-in rules.',
          )
          .meta({ tighten: 'to-true' }),
        template: z
          .enum(TEMPLATE_NAMES)
          .default('safe_default')
          .describe('Ready-made rules and limits that apply in addition to your own.'),
        require_approval_for: z
          .array(z.string().min(1))
          .default([])
          .describe('Tools whose calls require approval.'),
        blocked_tools: z.array(z.string().min(1)).default([]).describe('Tools that no one may call.'),
        dry_run_mutations: z
          .boolean()
          .default(false)
          .describe('Run every change as a dry run.')
          .meta({ tighten: 'to-true' }),
        max_mutations_per_hour: z
          .number()
          .int()
          .min(0)
          .optional()
          .describe(
            'Maximum changes in one clock hour, all agents and toolkits together. Unset: only the limits of the template.',
          ),
        rules: z.array(policyRule).default([]).describe('Your own rules, `[[mcp_policy.rules]]`.'),
        limits: z.array(policyLimit).default([]).describe('Your own limits, `[[mcp_policy.limits]]`.'),
      })
      .strict(),
);
export type McpPolicyConfig = z.output<typeof mcpPolicy.schema>;

/** What a toolkit adds to policy. It is known without loading the toolkit. */
export interface ToolkitPolicy {
  readonly toolkit: string;
  /** Built-in rules that ask for every change of the toolkit while they apply; configuration cannot switch them off. */
  readonly hardRules?: readonly {
    readonly id: string;
    readonly why: string;
    applies(modes: { readonly mode: string; readonly approvalMode: boolean }): boolean;
  }[];
  /** Its share of each template. Rules never `allow`: a template must not loosen anything. */
  readonly templates?: Readonly<Partial<Record<TemplateName, TemplateShare>>>;
  /** Of a third-party server, where a person set it: whether its changes require approval. Unset: they do. */
  readonly changes?: ServerChanges;
  /** Reads the toolkit's own allowlist, if it has one. */
  allowlist?(tools: readonly NamedTool[], settings: PolicySettings): AllowlistReading;
}

export interface NamedTool {
  readonly name: string;
  readonly policyName?: string;
}

export interface PolicySettings {
  section<T extends z.ZodObject>(section: ConfigSection<T>): z.output<T>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface AllowlistReading {
  /** Tools that no listing shows; a call is still answered, with the refusal of the toolkit. */
  readonly hidden: readonly string[];
  /** What is wrong with names in the list, and where the list is. */
  readonly unknown: readonly string[];
  readonly source: string;
}

export interface TemplateShare {
  readonly rules: readonly PolicyRule[];
  readonly limits: readonly PolicyLimit[];
}
