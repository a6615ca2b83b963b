import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { agentCommand } from '../../app/agent-command.ts';
import { DEFAULT_TOOLKITS, readConfig } from '../../app/app.ts';
import { clientPlace } from '../../app/client-place.ts';
import { detectClients } from '../../clients/connect.ts';
import type { ClientName } from '../../clients/formats.ts';
import { describeSnippet, type Snippet, snippetsFor } from '../../clients/snippets.ts';
import { dataDirOf, findStore } from '../../config/store-place.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { configuredUrl, findServerUrl } from '../../daemon/running-server.ts';
import { describeFileError, makeFolder } from '../../lib/file-error.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { print, printJson } from '../../terminal/output.ts';
import { withApp } from '../context.ts';
import { type Consent, connectClients, undoConnections } from './init-clients.ts';

interface InitOptions {
  readonly yes?: boolean;
  readonly force?: boolean;
  readonly undo?: boolean;
  readonly allowTools?: boolean;
  readonly client?: readonly ClientName[];
}

const CONFIG = (
  mode: string,
): string => `# Countersign. Every setting and its default: docs/reference/configuration.md

# "autopilot", or "composer": every change on social media requires your approval.
mode = "${mode}"

# Toolkits exposed to agents.
toolkits = ${JSON.stringify(DEFAULT_TOOLKITS).replaceAll(',', ', ')}

[mcp_policy]
# Predefined rules: posts, messages and all destructive calls require your approval.
template = "safe_default"
# Set to true to see what agents would do, without running any change.
dry_run_mutations = false
`;

/** Writes a first configuration and connects the clients of this machine. Without a terminal and --yes it only shows. */
export async function init(global: GlobalOptions, options: InitOptions): Promise<void> {
  const dataDir = dataDirOf(process.env);
  if (options.undo) return undoConnections(global, dataDir, options.force ?? false);
  const path = resolve(global.config ?? join(dataDir, 'config.toml'));
  const how: Consent = options.yes ? 'given' : process.stdin.isTTY && !global.json ? 'ask' : 'none';
  const config = await firstConfig(global, path, how, options.force ?? false);
  if (!global.json) print(config.text);
  const place = clientPlace();
  const own = agentCommand({ config: { path, dataDir }, env: process.env });
  const { detected, missing } = detectClients(place, own, options.client);
  const { connected, rest } = await connectClients(global, detected, {
    how,
    allowTools: options.allowTools ?? false,
    dataDir,
  });
  const snippets = snippetsFor([...rest, ...missing], place, own);
  const address = config.exists ? await addressOf(global) : undefined;
  const url = address && `${address}/mcp`;
  if (global.json) printJson({ config: path, written: config.written, url, clients: connected, snippets });
  else print(closing(snippets, missing.length, url));
  const unwritten = !config.exists || connected.some(({ state }) => state === 'not_written');
  // The one document that --json prints says it itself.
  if (how === 'none' && unwritten && global.json) process.exitCode = 2;
  else if (how === 'none' && unwritten)
    throw new CliError(
      'Nothing was written, because no terminal is available to ask for your consent. Run `countersign init --yes`.',
      2,
    );
}

interface FirstConfig {
  readonly exists: boolean;
  readonly written: boolean;
  readonly text: string;
}

async function firstConfig(
  global: GlobalOptions,
  path: string,
  how: Consent,
  force: boolean,
): Promise<FirstConfig> {
  if (existsSync(path) && !force)
    return {
      exists: true,
      written: false,
      text: `Configuration already exists at ${path}; left unchanged (--force overwrites it).`,
    };
  if (how === 'none') return { exists: false, written: false, text: `Would write configuration to ${path}` };
  const isComposer =
    how === 'ask' &&
    (await askYesNo('Require your approval for every change on social media, regardless of policy rules?'));
  try {
    makeFolder(dirname(path), 0o700);
    writeFileSync(path, CONFIG(isComposer ? 'composer' : 'autopilot'), { mode: 0o600 });
  } catch (error) {
    const place = global.config === undefined ? 'Set COUNTERSIGN_HOME to' : 'Pass -c with a file in';
    throw new CliError(
      `Could not write the configuration. ${describeFileError(error) ?? error} ${place} a writable directory.`,
    );
  }
  return { exists: true, written: true, text: `Wrote configuration to ${path}` };
}

/** A database is not created for this: without one, no server has run yet. */
async function addressOf(global: GlobalOptions): Promise<string | undefined> {
  const { storageUrl } = findStore({ path: global.config, env: process.env });
  if (/^postgres(ql)?:/.test(storageUrl) || existsSync(storageUrl)) return withApp(global, findServerUrl);
  return configuredUrl(readConfig({ configPath: global.config, env: process.env }).server);
}

/** What a person gives away with the loosest setting. */
const DIALOGS =
  'Approval dialogs in a client decide only what stays on this computer or in a sandbox and can be undone. With `dialogs = "all"` under [approvals] they decide every call, and then a file of a project can approve in your place.';

function closing(snippets: readonly Snippet[], missing: number, url: string | undefined): string {
  return [
    ...(snippets.length > 0
      ? [`\n${missing > 0 ? 'To connect another client' : 'To connect by hand'}, paste what it needs:`]
      : []),
    ...snippets.map((snippet) => `\n${describeSnippet(snippet)}`),
    '\nThen start the server with `countersign up`, and sign in to the inbox with `countersign open`.',
    DIALOGS,
    ...(url ? [`While it is running, clients that speak HTTP can connect to ${url}`] : []),
  ].join('\n');
}
