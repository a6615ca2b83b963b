import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import { ACTIONS, type Action } from '../../contract/policy.ts';
import { parsePrincipal } from '../../contract/principal.ts';
import type { Parsed } from '../../contract/schema.ts';
import { closest } from '../../lib/text.ts';
import type { Decision, Policy, PolicySubject } from './types.ts';

const isoTime = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-03-02T10:00:00Z' });

const policyCase = z
  .object({
    name: z.string().min(1).optional(),
    tool: z.string().min(1),
    args: z.record(z.string(), z.json()).default({}),
    principal: z
      .string()
      .default('agent:local')
      .transform((text, context) => {
        const principal = parsePrincipal(text);
        if (!principal) context.addIssue('must be a principal such as agent:local');
        return principal ?? z.NEVER;
      }),
    now: z.union([z.date(), isoTime.transform((text) => new Date(text))]).optional(),
    dry_run: z.boolean().default(false),
    paused: z.boolean().default(false),
    expect: z.enum(ACTIONS),
    rule: z.string().min(1).optional(),
  })
  .strict();
export type PolicyCase = z.output<typeof policyCase>;

export interface CaseResult {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: Action;
  /** Undefined when the case could not be evaluated at all. */
  readonly decision: Decision | undefined;
  /** Why it did not pass. */
  readonly problem: string | undefined;
}

/** Reads a table of expected decisions: `[[cases]]` in TOML, or `{ "cases": […] }` in JSON. */
export function parseCases(text: string, source: string): readonly PolicyCase[] {
  const table = readTable(text, source);
  if (typeof table !== 'object' || table === null || !('cases' in table))
    throw new Error(`${source}: no cases found; begin each with [[cases]], or in JSON {"cases": […]}.`);
  const result = z
    .object({ cases: z.array(policyCase).min(1) })
    .strict()
    .safeParse(table);
  if (result.success) return result.data.cases;
  const problems = result.error.issues.map(
    ({ path, message }) => `${source}: ${path.map(String).join('.')}: ${message}`,
  );
  throw new Error(problems.join('\n'));
}

function readTable(text: string, source: string): unknown {
  const json = source.endsWith('.json');
  if (text.trim() === '') return undefined;
  try {
    return json ? JSON.parse(text) : parse(text);
  } catch (error) {
    const line = error instanceof TomlError ? `:${error.line}` : '';
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new Error(`${source}${line}: invalid ${json ? 'JSON' : 'TOML'}: ${why}`, { cause: error });
  }
}

export interface CaseOptions {
  /** The tool's own check, which also fills in defaults; the pipeline does the same before it asks policy. */
  readonly validate?: (tool: PolicySubject, args: JsonObject) => Parsed<JsonObject>;
  readonly now: Date;
  readonly toolNames: readonly string[];
}

/** Asks the policy each question; nothing is run or counted. */
export const runCases = (
  policy: Policy,
  cases: readonly PolicyCase[],
  options: CaseOptions,
): readonly CaseResult[] => cases.map((one, index) => runCase(policy, one, index, options));

function runCase(policy: Policy, one: PolicyCase, index: number, options: CaseOptions): CaseResult {
  const name = one.name ?? `${index + 1}: ${one.tool}`;
  const fail = (problem: string, decision?: Decision): CaseResult => ({
    name,
    passed: false,
    expected: one.expect,
    decision,
    problem,
  });
  const subject = policy.find(one.tool);
  if (!subject) {
    const meant = closest(one.tool, options.toolNames);
    return fail(`unknown tool '${one.tool}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`);
  }
  const args = options.validate?.(subject, one.args) ?? { ok: true, value: one.args };
  if (!args.ok) {
    return fail(
      `invalid arguments: ${args.issues.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
    );
  }
  const decision = policy.decide({
    subject,
    args: args.value,
    principal: one.principal,
    now: one.now ?? options.now,
    dryRunRequested: one.dry_run,
    paused: one.paused,
  });
  if (decision.action !== one.expect) {
    return fail(
      `expected ${one.expect}, got ${decision.action} by ${decision.rule} (${decision.reason})`,
      decision,
    );
  }
  if (one.rule !== undefined && decision.rule !== one.rule) {
    return fail(`expected rule ${one.rule}, but ${decision.rule} decided`, decision);
  }
  return { name, passed: true, expected: one.expect, decision, problem: undefined };
}
