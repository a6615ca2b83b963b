import { readFileSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import type { JsonObject } from '../../contract/json.ts';
import { LOCAL_AGENT, type Principal, parsePrincipal } from '../../contract/principal.ts';
import type { Parsed } from '../../contract/schema.ts';
import { outdatedServer } from '../../daemon/running-server.ts';
import { parseCases, runCases } from '../../kernel/policy/cases.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { parseArgs } from '../../terminal/text.ts';
import { withApp } from '../context.ts';
import { noTool } from '../usage-error.ts';

interface ExplainOptions {
  readonly args?: string;
  readonly as?: string;
  readonly at?: string;
}

/** Prints the decision of policy and the rules that contributed, without running or counting anything. */
export function explain(global: GlobalOptions, name: string, options: ExplainOptions): Promise<void> {
  return withApp(global, async (app) => {
    const policy = app.policy.current;
    const subject = policy.find(name);
    if (!subject) throw noTool(app.inventory, name);
    const args = await validArgs(
      app,
      subject.name,
      options.args === undefined ? {} : parseArgs(options.args),
      options.args !== undefined,
    );
    const principal = requirePrincipal(options.as);
    const at = options.at === undefined ? undefined : new Date(options.at);
    if (at && Number.isNaN(at.getTime()))
      throw new CliError(`Invalid time "${options.at}". Use RFC 3339, such as 2026-03-01T09:00:00Z.`, 2);
    const bound = await app.inventory.resolve(subject.name);
    if (!bound) throw noTool(app.inventory, name);
    const { forecast, explanation } = await app.kernel.forecast.call({
      bound,
      args,
      principal,
      ...(at && { at }),
    });
    const { considered, limits } = explanation;
    const decision = { ...explanation.decision, ...forecast };
    if (global.json) return printJson({ tool: subject.name, decision, considered, limits });
    print(`${subject.name}: ${decision.action.toUpperCase()} (rule ${decision.rule})\n${decision.reason}\n`);
    print(
      table(
        ['', 'RULE', 'FROM', 'ACTION', 'WHY'],
        considered.map((one) => [one.applied ? '✓' : '·', one.rule, one.source, one.action, one.why]),
        90,
      ),
    );
    if (decision.action === 'allow' || decision.action === 'ask')
      for (const limit of limits)
        print(`Counts toward limit ${limit.key}: ${limit.max} per ${limit.periodSeconds} s`);
    if (await app.kernel.isPaused())
      print(
        `Changes are paused.${decision.action === 'ask' ? ' This call would be queued; it can run after `countersign resume`.' : ''}`,
      );
    const outdated = await outdatedServer(app);
    if (outdated) print(`\n${outdated}`);
  });
}

async function validArgs(app: App, name: string, args: JsonObject, strict: boolean): Promise<JsonObject> {
  const bound = await app.inventory.resolve(name);
  const parsed = bound?.tool.input.parse(args);
  if (parsed?.ok) return parsed.value as JsonObject;
  // Without arguments the question is about the tool; with some, they must be ones it would take.
  if (!strict) return args;
  throw new CliError(
    `Invalid arguments for ${name}: ${parsed?.issues.map(({ path, message }) => `${path || 'arguments'}: ${message}`).join('; ')}`,
    2,
  );
}

function requirePrincipal(text: string | undefined): Principal {
  if (text === undefined) return LOCAL_AGENT;
  const principal = parsePrincipal(text);
  if (!principal)
    throw new CliError(`Invalid principal "${text}". Use agent:NAME, person:NAME or system:NAME.`, 2);
  return principal;
}

/** The tools' own checks, which the pipeline makes before it asks policy. */
async function validator(
  app: App,
): Promise<(tool: { name: string }, args: JsonObject) => Parsed<JsonObject>> {
  const loaded = await Promise.all(app.inventory.sources.map(({ id }) => app.inventory.load(id)));
  const inputs = new Map(
    loaded.flatMap(({ tools }) => tools.map(({ tool }) => [tool.name, tool.input] as const)),
  );
  return ({ name }, args) =>
    (inputs.get(name)?.parse(args) ?? { ok: true, value: args }) as Parsed<JsonObject>;
}

export function testPolicy(global: GlobalOptions, file: string): Promise<void> {
  return withApp(global, async (app) => {
    const cases = parseCases(readFileSync(file, 'utf8'), file);
    const toolNames = app.inventory.catalogue.map(({ name }) => name);
    const results = runCases(app.policy.current, cases, {
      now: app.now(),
      toolNames,
      validate: await validator(app),
    });
    const failed = results.filter(({ passed }) => !passed);
    if (global.json) printJson(results);
    else {
      for (const one of results)
        print(`${one.passed ? 'ok  ' : 'FAIL'} ${one.name}${one.problem ? `: ${one.problem}` : ''}`);
      print(`\n${results.length - failed.length} passed, ${failed.length} failed`);
    }
    if (failed.length > 0) process.exitCode = 1;
  });
}
