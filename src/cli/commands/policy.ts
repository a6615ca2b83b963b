import { readFileSync } from 'node:fs';
import type { App } from '../../app.ts';
import type { JsonObject } from '../../contract/json.ts';
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { Parsed } from '../../contract/schema.ts';
import { parseCases, runCases } from '../../kernel/policy/cases.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { noTool } from '../names.ts';
import { print, printJson, table } from '../output.ts';
import { outdatedServer } from '../running-server.ts';
import { parseArgs } from '../text.ts';

interface ExplainOptions {
  readonly args?: string;
  readonly as?: string;
  readonly at?: string;
}

/** Says what policy would decide and which rules had a say, without running or counting anything. */
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
    const principal = parsePrincipal(options.as);
    const paused = await app.kernel.isPaused();
    const now = options.at === undefined ? app.now() : new Date(options.at);
    if (Number.isNaN(now.getTime()))
      throw new CliError(`"${options.at}" is not a time; use 2026-03-01T09:00:00Z.`, 2);
    const call = { subject, args, principal, now, dryRunRequested: args.dry_run === true };
    const judged = policy.explain(call);
    // A pause stops what would run now; what asks is put in the inbox all the same.
    const { decision, considered, limits } =
      paused && judged.decision.action === 'allow' ? policy.explain({ ...call, paused }) : judged;
    if (global.json) return printJson({ tool: subject.name, decision, considered, limits });
    print(`${subject.name}: ${decision.action.toUpperCase()} by ${decision.rule}\n${decision.reason}\n`);
    print(
      table(
        ['', 'RULE', 'FROM', 'ACTION', 'WHY'],
        considered.map((one) => [one.applied ? '✓' : '·', one.rule, one.source, one.action, one.why]),
        90,
      ),
    );
    for (const limit of limits)
      print(`Counts in ${limit.key}: at most ${limit.max} per ${limit.periodSeconds} s`);
    if (paused)
      print(
        `Changes are paused now.${decision.action === 'ask' ? ' It would wait; it can run after `countersign resume`.' : ''}`,
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
    `Arguments of ${name} do not fit: ${parsed?.issues.map(({ path, message }) => `${path || 'arguments'}: ${message}`).join('; ')}`,
    2,
  );
}

function parsePrincipal(text: string | undefined): Principal {
  if (text === undefined) return LOCAL_AGENT;
  const match = /^(agent|person|system):(.+)$/.exec(text);
  if (!match?.[1] || !match[2])
    throw new CliError(`"${text}" is not a principal; use agent:NAME, person:NAME or system:NAME.`, 2);
  return { kind: match[1] as Principal['kind'], id: match[2] };
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
