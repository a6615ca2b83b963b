import type { Hono } from 'hono';
import type { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { policyRule } from '../../contract/policy.ts';
import { LOCAL_AGENT, type Principal, parsePrincipal, principalName } from '../../contract/principal.ts';
import { asksForDryRun } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { describeRule } from '../../kernel/approvals/present.ts';
import { compilePolicy, PolicyError, type PolicyInput, templatesOf } from '../../kernel/policy/index.ts';
import { ruleLabel } from '../../kernel/policy/usage.ts';
import { countRuleHits } from '../../kernel/views/calls.ts';
import type { ExplainData, RuleIssue } from '../../kernel/views/policy-shapes.ts';
import { recommend } from '../../kernel/views/recommend.ts';
import { replayRule } from '../../kernel/views/replay.ts';
import { closest } from '../../lib/text.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';

const WEEK_MS = 7 * 86_400_000;

/** What policy says, and what it would say with another rule. Nothing here runs or counts a call. */
export function addPolicyRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { kernel, database, inventory } = ports;
  const resolve = (name: string): Promise<BoundTool | undefined> => inventory.resolve(name);

  answer(api, 'GET /policy', async () => {
    const overrides = await ports.overrides();
    const written = new Set(overrides.rules.map(({ id }) => id));
    const { policy, toolkits } = await ports.policyInput();
    await kernel.flush();
    return {
      status: await ports.ports.policy.status(),
      limits: await ports.ports.policy.limits(),
      overrides,
      configured: policy.rules.filter(({ id }) => !written.has(id)),
      hits: await countRuleHits(database, new Date(ports.now().getTime() - WEEK_MS)),
      templates: templatesOf(toolkits).map(({ name, doc, rules }) => ({
        name,
        doc,
        rules: rules.map(({ label, id }) => label ?? id),
      })),
    };
  });

  // What an item or a story links to: a rule of any kind, in words.
  answer(api, 'GET /policy/rules/:id', (context) => {
    const id = context.req.param('id');
    const label = ruleLabel(ports.policy(), id);
    const { title, sentence } = describeRule(id, '', label ?? '');
    return { id, title: label ?? title, sentence: /\w/.test(sentence) ? sentence : null };
  });

  answer(api, 'PUT /policy', async (context, overrides) => {
    await ports.setOverrides(overrides, context.get('session').person);
    return { status: await ports.ports.policy.status(), overrides: await ports.overrides() };
  });

  answer(api, 'GET /policy/matrix', async (context) => {
    const principal = requirePrincipal(context.req.query('principal') ?? principalName(LOCAL_AGENT));
    const tools = await offeredTools(ports);
    const outlook = await kernel.forecast.tools(tools, principal);
    return {
      principal: principalName(principal),
      rows: tools.flatMap(({ tool, toolkit }) => {
        const row = outlook.get(tool.name);
        if (!row) return [];
        const { name, title, category, effect } = tool;
        const { action, rule, reason, depends = null } = inventory.hidden.has(name) ? NOT_LISTED : row;
        // Agents cannot call what no profile has: people use it, or a suggestion queues it.
        const offered = principal.kind !== 'agent' || tool.profiles.length > 0;
        const decision = { action, rule, reason, depends };
        return [{ tool: name, title, toolkit: toolkit.id, category, effect, ...decision, offered }];
      }),
    };
  });

  answer(api, 'POST /policy/explain', async (_context, { tool: name, args: given, principal: who, rule }) => {
    const principal = requirePrincipal(who);
    const bound = await resolve(ports.policy().find(name)?.name ?? name);
    if (!bound) throw unknownTool(ports, name);
    const parsed = bound.tool.input.parse(given);
    if (!parsed.ok)
      throw new ToolError(
        'invalid_input',
        `Invalid arguments for ${bound.tool.name}: ${parsed.issues.map(({ path, message }) => `${path || 'arguments'}: ${message}`).join('; ')}`,
        { detail: { issues: parsed.issues.map(({ path, message }) => ({ field: path, message })) } },
      );
    const args = parsed.value as JsonObject;
    return rule
      ? explainDraft(ports, bound, { args, principal, rule })
      : explainCall(ports, bound, { args, principal });
  });

  // A rule that is being written is often wrong: what is wrong with it is an answer here, not an error.
  answer(api, 'POST /policy/replay', async (_context, { rule: draft }) => {
    const parsed = policyRule.safeParse(draft);
    if (!parsed.success) {
      const issues = parsed.error.issues.map(({ path, message }) => ({
        field: String(path[0] ?? ''),
        message,
      }));
      return { issues, replay: null };
    }
    await kernel.flush();
    try {
      const input = await inputWith(ports, parsed.data);
      const ofKernel = { database, telemetry: kernel.telemetry, resolve };
      return { issues: [], replay: await replayRule(ofKernel, input, parsed.data) };
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      return { issues: policyIssues(error), replay: null };
    }
  });

  answer(api, 'GET /policy/recommendations', () =>
    recommend({
      database,
      standing: kernel.standing,
      signersFor: kernel.signersFor,
      resolve,
      now: ports.now(),
    }),
  );
}

/** Each problem with the field it is about: `mcp_policy.rules[0].tools[1]` is about the field `tools`. */
export const policyIssues = ({ problems }: PolicyError): readonly RuleIssue[] =>
  problems.map(({ path, message, rule }) => ({
    ...(rule === undefined ? {} : { rule }),
    field: String(path[rule === undefined ? 1 : 3] ?? ''),
    message,
  }));

const NOT_LISTED = {
  action: 'deny',
  rule: 'list:allowlist',
  reason: 'not on the allowlist of its toolkit',
  depends: null,
} as const;

/** Every tool that a call can reach, in the order of the catalogue. */
export async function offeredTools({ inventory }: WebPorts): Promise<readonly BoundTool[]> {
  const { catalogue, withheld } = inventory;
  const names = catalogue.map(({ name }) => name).filter((name) => !withheld.has(name));
  const bound = await Promise.all(names.map((name) => inventory.resolve(name)));
  return bound.filter((one) => one !== undefined);
}

interface Asked {
  readonly args: JsonObject;
  readonly principal: Principal;
}

async function explainCall({ kernel }: WebPorts, bound: BoundTool, asked: Asked): Promise<ExplainData> {
  const { forecast, explanation } = await kernel.forecast.call({ bound, ...asked });
  const { action, rule, reason } = forecast;
  return { tool: bound.tool.name, action, rule, reason, considered: explanation.considered };
}

async function explainDraft(
  ports: WebPorts,
  { tool, toolkit }: BoundTool,
  { args, principal, rule }: Asked & { readonly rule: z.output<typeof policyRule> },
): Promise<ExplainData> {
  const input = await inputWith(ports, rule);
  const rules = [...input.policy.rules.filter(({ id }) => id !== rule.id), rule];
  const policy = await compilePolicy({ ...input, policy: { ...input.policy, rules } });
  const subject = { name: tool.name, toolkit: toolkit.id, category: tool.category, effect: tool.effect };
  const dryRunRequested = asksForDryRun(tool, args);
  const { decision, considered } = policy.explain({
    subject,
    args,
    principal,
    now: ports.now(),
    dryRunRequested,
  });
  const { action, rule: by, reason } = decision;
  return { tool: tool.name, action, rule: by, reason, considered };
}

/** The active policy may have no condition yet, and then knows no schemas to check this one against. */
async function inputWith(
  { policyInput, inventory }: WebPorts,
  { when }: { readonly when?: string | undefined },
): Promise<PolicyInput> {
  const input = await policyInput();
  if (when === undefined) return input;
  const catalogue = await Promise.all(
    input.catalogue.map(async (subject) => {
      const bound = await inventory.resolve(subject.name);
      return bound ? { ...subject, inputJson: bound.tool.input.json } : subject;
    }),
  );
  return { ...input, catalogue };
}

function unknownTool({ inventory }: WebPorts, name: string): ToolError {
  const meant = closest(
    name,
    inventory.catalogue.map((one) => one.name),
  );
  return new ToolError(
    'not_found',
    `Tool ${name} not found.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
  );
}

function requirePrincipal(text: string): Principal {
  const principal = parsePrincipal(text);
  if (!principal)
    throw new ToolError(
      'invalid_input',
      `"${text}" is not a principal. Use agent:NAME, person:NAME or system:NAME.`,
    );
  return principal;
}
