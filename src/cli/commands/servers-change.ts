import type { App } from '../../app/app.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { principalName } from '../../contract/principal.ts';
import { SERVER_NAME, type ServerChanges } from '../../contract/servers.ts';
import { readConfigText, type ServerTable, withoutServer, withServer } from '../../gateway/config-file.ts';
import type { ToolReview } from '../../gateway/review.ts';
import { looksLikeCredential, looksSecret, SecretStore } from '../../gateway/secrets.ts';
import { forget, type Pin } from '../../gateway/store.ts';
import { serverTrust, trustArgs } from '../../gateway/trust.ts';
import { describeChanges } from '../../gateway/views.ts';
import { lookup, put } from '../../lib/lookup.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { print, printJson, printStderr } from '../../terminal/output.ts';
import { counted } from '../../terminal/text.ts';
import { act, printOutcome } from '../act.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';
import { describeTool, gatewayDb, listAgain, readReview, requireServer } from './servers.ts';

interface TrustOptions {
  readonly effect?: readonly string[];
  readonly yes?: boolean;
}

interface AddOptions extends TrustOptions {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly sse?: boolean;
  readonly changes?: ServerChanges;
}

const SECRET_REFERENCE = '$' + '{secret:';

/** Starts the server, shows its tools, and writes it down only once it was seen to work. */
export async function addServer(
  global: GlobalOptions,
  name: string,
  target: readonly string[],
  options: AddOptions,
): Promise<void> {
  if (!SERVER_NAME.test(name))
    throw new CliError(
      `"${name}" is not a usable name: use lower-case letters, digits, - and single _, at most 32.`,
      2,
    );
  const given = tableOf(target, options);
  const moved: Record<string, string> = {};
  const table = withReferences(name, given, moved);
  await withApp(
    global,
    async (app) => {
      const { config } = app;
      if (options.yes) await requirePersonHere(app);
      if (readConfigText(config.path) !== '' && isConfigured(config.path, name))
        throw new CliError(
          `A server named ${name} is configured; remove it first with \`countersign servers remove ${name}\`.`,
        );
      const store = new SecretStore(config.dataDir);
      const before = Object.keys(moved).map((key) => [key, store.get(key)] as const);
      for (const [key, value] of Object.entries(moved)) store.set(key, value);
      const gateway = await requireServer(app, name);
      await listAgain(app, gateway, name).catch((error: unknown) => {
        // A server that was not added leaves nothing behind.
        for (const [key, value] of before) value === undefined ? store.remove(key) : store.set(key, value);
        throw error;
      });
      replaceFile(config.path, withServer(readConfigText(config.path), name, table));
      const extra = { server_added: name, target: (await gateway.targetOf(name)) ?? '' };
      await app.kernel.note({
        kind: 'config',
        principal: principalName(app.person),
        transport: 'cli',
        extra,
      });
      if (!global.json)
        print(`Added server ${name} to ${config.path}.\n${describeChanges(name, options.changes)}`);
      await trustListed(global, app, name, [], options);
    },
    { flags: flagsOf(name, table) },
  );
}

/** The table as flags: the server exists for this process before it stands in the file. */
export const flagsOf = (name: string, table: ServerTable): Record<string, unknown> =>
  Object.fromEntries(Object.entries(table).map(([key, value]) => [`servers.${name}.${key}`, value]));

function tableOf(target: readonly string[], options: AddOptions): ServerTable {
  const [first, ...rest] = target;
  if (first === undefined) throw new CliError("Specify the server's URL, or its command after --.", 2);
  if (/^https?:\/\//.test(first)) {
    if (rest.length > 0) throw new CliError(`A URL takes no arguments, but got "${rest[0]}".`, 2);
    return {
      url: first,
      headers: pairs(options.header, '--header'),
      ...(options.sse ? { transport: 'sse' } : {}),
      changes: options.changes,
    };
  }
  const { cwd, changes } = options;
  return { command: first, args: rest, env: pairs(options.env, '--env'), cwd, changes };
}

export function pairs(given: readonly string[] | undefined, flag: string): Record<string, string> {
  return Object.fromEntries(
    (given ?? []).map((pair) => {
      const [, key, value] = /^([^=:\s]+)(?:=|:\s*)(.*)$/s.exec(pair) ?? [];
      if (key === undefined || value === undefined)
        throw new CliError(`${flag} takes KEY=VALUE, not "${pair}".`, 2);
      return [key, value];
    }),
  );
}

/** What looks like a secret goes into the secret file; the configuration only refers to it. */
function withReferences(name: string, table: ServerTable, moved: Record<string, string>): ServerTable {
  const replace = (values: Readonly<Record<string, string>> | undefined) =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        const isSecret = looksSecret(key) || looksLikeCredential(value);
        if (!isSecret || /\$\{(env|secret):/.test(value)) return [key, value];
        const secret = `${name}.${key}`;
        put(moved, secret, value);
        return [key, `\${secret:${secret}}`];
      }),
    );
  return { ...table, env: replace(table.env), headers: replace(table.headers) };
}

const isConfigured = (path: string, name: string): boolean =>
  new RegExp(`^\\s*\\[servers\\.("?)${name}\\1[.\\]]`, 'm').test(readConfigText(path));

export function trustTools(
  global: GlobalOptions,
  name: string,
  tools: readonly string[],
  options: TrustOptions,
): Promise<void> {
  return withApp(global, async (app) => {
    await requirePersonHere(app);
    await listAgain(app, await requireServer(app, name), name);
    await trustListed(global, app, name, tools, options);
  });
}

/** Shows what waits and trusts it once the person says so. Nothing is trusted that was not shown. */
async function trustListed(
  global: GlobalOptions,
  app: App,
  name: string,
  only: readonly string[],
  options: TrustOptions,
): Promise<void> {
  const { tools } = await readReview(app, name);
  const effects = effectsOf(options.effect, tools);
  const wanted = tools.filter(
    ({ tool, state }) =>
      (only.length === 0 || only.includes(tool)) &&
      (state === 'new' || state === 'changed' || Object.hasOwn(effects, tool)),
  );
  const unknown = only.find((one) => !tools.some(({ tool }) => tool === one));
  if (unknown !== undefined)
    throw new CliError(`${name} lists no tool named ${unknown}; see \`countersign servers show ${name}\`.`);
  if (wanted.length === 0) {
    if (global.json) return printJson({ name, trusted: 0, waiting: 0 });
    return print(`${name} has nothing new to trust.`);
  }
  const shown = wanted.map((one) => ({ ...one, effect: lookup(effects, one.tool) ?? one.effect }));
  if (!global.json) print(`\n${shown.map(describeTool).join('\n\n')}\n`);
  if (!(options.yes || (await confirm(shown.length, name)))) {
    if (global.json) return printJson({ name, trusted: 0, waiting: shown.length });
    const isNew = !tools.some(({ decidedBy }) => decidedBy !== undefined);
    const state = isNew
      ? `${name} stays in quarantine`
      : `${counted(shown.length, 'tool')} of ${name} stay refused`;
    return print(`${state}. Trust with: countersign servers trust ${name}`);
  }
  await requirePersonHere(app);
  const pins = shown.map(({ tool, hash, effect }): Pin => ({ tool, hash, effect }));
  const acted = await act(app, serverTrust, trustArgs(name, pins), { approve: true });
  printOutcome(global, acted, ({ trusted }) => `Trusted ${counted(trusted, 'tool')} of ${name}.`);
}

function effectsOf(
  given: readonly string[] | undefined,
  tools: readonly ToolReview[],
): Record<string, Pin['effect']> {
  const effects = pairs(given, '--effect');
  for (const [tool, effect] of Object.entries(effects)) {
    if (!['read', 'change', 'destroy'].includes(effect))
      throw new CliError(`The effect of ${tool} is read, change or destroy, not "${effect}".`, 2);
    if (!tools.some((one) => one.tool === tool))
      throw new CliError(`--effect names ${tool}, which the server does not list.`, 2);
  }
  return effects as Record<string, Pin['effect']>;
}

async function confirm(count: number, name: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  printStderr(
    'Effects are proposed from what the server claims, its names and its descriptions; change one with --effect TOOL=read|change|destroy.',
  );
  return askYesNo(`Trust ${counted(count, 'tool')} of ${name} with these effects?`);
}

export function removeServer(global: GlobalOptions, name: string): Promise<void> {
  return withApp(global, async (app) => {
    await requireServer(app, name);
    const { path } = app.config;
    const usesSecrets = JSON.stringify(lookup(app.config.servers, name) ?? {}).includes(SECRET_REFERENCE);
    if (Object.hasOwn(app.config.servers, name)) {
      const next = withoutServer(readConfigText(path), name);
      if (next === undefined)
        throw new CliError(`The table of ${name} in ${path} cannot be removed safely; delete it by hand.`);
      replaceFile(path, next);
    }
    await forget(gatewayDb(app), name);
    const extra = { server_removed: name };
    await app.kernel.note({ kind: 'config', principal: principalName(app.person), transport: 'cli', extra });
    if (global.json) return printJson({ name });
    const kept = usesSecrets
      ? ' The secrets it referred to are still stored; see `countersign secrets`.'
      : '';
    print(`Removed server ${name}.${kept}`);
  });
}
