import type { App } from '../../app/app.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { describeChange } from '../../gateway/definition.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { ToolReview } from '../../gateway/review.ts';
import { readServerLog } from '../../gateway/server-log.ts';
import type { GatewayDb } from '../../gateway/store.ts';
import { serverRestart } from '../../gateway/trust.ts';
import { listNames, type Reviewed, reviewServer, summarizeServer } from '../../gateway/views.ts';
import { isObject } from '../../lib/is-object.ts';
import { closest } from '../../lib/text.ts';
import { showUnseenLine } from '../../lib/unseen.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { counted, limitOf, paragraph, plainText } from '../../terminal/text.ts';
import { act, printOutcome } from '../act.ts';
import { withApp } from '../context.ts';

export const gatewayDb = (app: App): GatewayDb => app.database.db as unknown as GatewayDb;

export function listServers(global: GlobalOptions): Promise<void> {
  return withApp(global, async (app) => {
    const names = await knownNames(app);
    const rows = await Promise.all(names.map((name) => summaryOf(app, name)));
    if (global.json) return printJson(rows);
    if (rows.length === 0)
      return print(
        'No servers are configured.\nAdd one with: countersign servers add NAME -- COMMAND ARGS…   or   … add NAME URL',
      );
    const cells = rows.map((one) => [
      one.name,
      one.state,
      String(one.tools),
      one.changes,
      one.health,
      one.target,
    ]);
    print(table(['NAME', 'STATE', 'TOOLS', 'CHANGES', 'HEALTH', 'TARGET'], cells));
  });
}

async function summaryOf(app: App, name: string) {
  const { servers, dataDir } = app.config;
  const summary = summarizeServer({ servers, dataDir }, name, await readReview(app, name));
  const { trusted: tools, error, health: one, state, waiting, target, changes, changes_note } = summary;
  const health = error === null ? one : `${one}: ${error}`;
  return { name, state, tools, waiting, health, target, changes, changes_note };
}

export function showServer(
  global: GlobalOptions,
  name: string,
  options: { refresh?: boolean },
): Promise<void> {
  return withApp(global, async (app) => {
    const gateway = await requireServer(app, name);
    if (options.refresh) await listAgain(app, gateway, name);
    const review = await readReview(app, name);
    const summary = await summaryOf(app, name);
    if (global.json)
      return printJson({
        ...summary,
        listed_at: review.listedAt ?? null,
        notes: review.notes,
        tools: review.tools,
      });
    print(`${name}: ${summary.state}, ${counted(summary.tools, 'trusted tool')}, ${summary.health}`);
    print(summary.changes_note);
    if (review.listedAt === undefined)
      return print(`It was never started. List its tools with: countersign servers show ${name} --refresh`);
    print(`Listed ${review.listedAt}\n`);
    for (const note of review.notes) print(`Warning: ${note}\n`);
    print(review.tools.map(describeTool).join('\n\n'));
    if (summary.waiting > 0)
      print(`\nTrust ${counted(summary.waiting, 'tool')}: countersign servers trust ${name}`);
  });
}

/** One tool as a person must see it to decide: what is invisible is written out. */
export function describeTool({
  tool,
  state,
  effect,
  hash,
  definition,
  warnings,
  changes,
}: ToolReview): string {
  const text = typeof definition.description === 'string' ? definition.description : '';
  return [
    `${showUnseenLine(tool)}  ${effect}  ${state}  ${hash.slice(0, 12)}`,
    ...(text ? [paragraph(text)] : []),
    ...describeArguments(definition.inputSchema as JsonObject),
    ...changes.map((change) => `  Changed: ${plainText(describeChange(change))}`),
    ...warnings.map((warning) => `  Warning: ${warning}`),
  ].join('\n');
}

/** One line per argument: name, type and the server's own words about it, which a model reads as well. */
function describeArguments({ properties, required, ...others }: JsonObject): string[] {
  const needed = Array.isArray(required) ? required : [];
  const lines = Object.entries(isObject<JsonValue>(properties) ? properties : {}).map(([name, schema]) => {
    const { type, description, ...more } = isObject<JsonValue>(schema) ? schema : {};
    const facts = [
      type === undefined ? 'any' : [type].flat().join('|'),
      ...(needed.includes(name) ? ['required'] : []),
      ...(Object.keys(more).length > 0 ? [JSON.stringify(more)] : []),
    ];
    const words = typeof description === 'string' ? `: ${description}` : '';
    return `    ${plainText(`${name} (${facts.join(', ')})${words}`).replace(/\s+/g, ' ')}`;
  });
  const { type: _, $schema: __, ...rest } = others;
  const besides = Object.keys(rest).length > 0 ? [`  Schema: ${plainText(JSON.stringify(rest))}`] : [];
  return [...(lines.length > 0 ? ['  Arguments:', ...lines] : []), ...besides];
}

export function serverLogs(global: GlobalOptions, name: string, options: { lines: string }): Promise<void> {
  return withApp(global, async (app) => {
    await requireServer(app, name);
    const lines = readServerLog(app.config.dataDir, name, limitOf(options.lines, 100_000) ?? 100);
    if (global.json) return printJson(lines);
    print(lines.length === 0 ? `${name} has written nothing to stderr.` : plainText(lines.join('\n')));
  });
}

export function restartServer(global: GlobalOptions, name: string): Promise<void> {
  return withApp(global, async (app) => {
    await requireServer(app, name);
    const acted = await act(app, serverRestart, { server: name }, { approve: true });
    if (global.json && acted.outcome.status === 'ok') return printJson({ name });
    printOutcome(
      global,
      acted,
      () => `${name} will be restarted before its next call. Calls in flight finish first.`,
    );
  });
}

export async function knownNames(app: App): Promise<string[]> {
  const { servers } = app.config;
  return app.gateway ? listNames({ db: gatewayDb(app), servers }) : Object.keys(servers).sort();
}

export async function requireServer(app: App, name: string): Promise<Gateway> {
  const names = await knownNames(app);
  if (app.gateway && names.includes(name)) return app.gateway;
  const meant = closest(name, names);
  throw new CliError(
    `No server named ${name} is configured${meant === undefined ? '.' : `; did you mean ${meant}?`} See \`countersign servers\`.`,
  );
}

export const readReview = (app: App, name: string): Promise<Reviewed> =>
  reviewServer({ db: gatewayDb(app), targetOf: async (one) => app.gateway?.targetOf(one) }, name);

/** Starts the server for a person who looks at it now, so nothing is put into the inbox. */
export async function listAgain(app: App, gateway: Gateway, name: string): Promise<void> {
  // What `wrap` runs is started by the client alone; its last listing is all there is.
  if (!Object.hasOwn(app.config.servers, name)) return;
  gateway.proposing = false;
  try {
    await (await gateway.upstream(name)).ready();
  } catch (error) {
    const last = readServerLog(app.config.dataDir, name, 5).map((line) => `\n  ${plainText(line)}`);
    const why = error instanceof Error && error.cause instanceof Error ? ` ${error.cause.message}` : '';
    throw new CliError(`${error instanceof Error ? error.message : error}${plainText(why)}${last.join('')}`);
  }
}
