import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createTwoFilesPatch } from 'diff';
import { clientPlace } from '../../app/client-place.ts';
import type { Detected } from '../../clients/connect.ts';
import type { ClientFormat, ClientName } from '../../clients/formats.ts';
import {
  type FileChange,
  forgetRecord,
  type InitRecord,
  keepRecord,
  latestRecord,
  recordFiles,
  saveRecord,
} from '../../clients/records.ts';
import { planUndo } from '../../clients/undo.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { looksSecret } from '../../gateway/secrets.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { print, printJson, printStderr } from '../../terminal/output.ts';
import { plainText } from '../../terminal/text.ts';
import { withApp } from '../context.ts';

/** Given in advance with --yes, asked for each file on a terminal, or impossible to ask for. */
export type Consent = 'given' | 'ask' | 'none';

interface Connected {
  readonly client: string;
  readonly path: string;
  readonly state: 'connected' | 'already_connected' | 'not_written' | 'not_editable';
  /** Created for this client. */
  readonly agent?: string;
  readonly diff?: string;
  readonly problem?: string;
}

interface Agreed {
  readonly detected: Detected;
  readonly allowTools: boolean;
}

interface Connecting {
  readonly how: Consent;
  readonly allowTools: boolean;
  readonly dataDir: string;
}

const REASON =
  'Countersign asks you where your policy requires it, so it need not ask about the same call again.';

/** Shows each change, writes those that are agreed to, and returns the clients that are left to the person. */
export async function connectClients(
  global: GlobalOptions,
  detected: readonly Detected[],
  { how, allowTools, dataDir }: Connecting,
): Promise<{ connected: Connected[]; rest: ClientFormat[] }> {
  const show = (text: string): void => (global.json ? undefined : print(text));
  const agreed: Agreed[] = [];
  const asking = new Set<string>();
  const connected: Connected[] = [];
  for (const one of detected) {
    const { client, path, kind, problem, asks } = one;
    const common = { client: client.name, path };
    if (problem) {
      show(`\n${client.title}: ${path} was left unchanged: ${problem}`);
      connected.push({ ...common, state: 'not_editable', problem });
      continue;
    }
    if (asks && !allowTools && how !== 'ask') asking.add(client.title);
    const isAllowed =
      allowTools || (how === 'ask' && asks && (kind === 'permission' || (await askToAllow(client))));
    const change = one.plan({ token: '…', allowTools: isAllowed });
    if (!change) {
      if (kind === 'permission') continue;
      show(`\n${client.title} is already connected.`);
      connected.push({ ...common, state: 'already_connected' });
      continue;
    }
    const diff = shownDiff(change);
    const why =
      kind === 'permission' ? `\nIt then calls Countersign without asking you itself. ${REASON}` : '';
    show(`\n${client.title}${why}\n${diff}`);
    const isAgreed = how === 'given' || (how === 'ask' && (await askYesNo(`Write this change to ${path}?`)));
    if (isAgreed) agreed.push({ detected: one, allowTools: isAllowed });
    connected.push({ ...common, state: isAgreed ? 'connected' : 'not_written', diff });
  }
  if (asking.size > 0)
    show(
      `\n${[...asking].join(' and ')} will also ask you about each call. With --allow-tools only Countersign asks, where your policy requires it.`,
    );
  const names = agreed.length > 0 ? await connect(global, agreed, dataDir, show) : new Map<string, string>();
  const isLeft = ({ client, path }: Detected): boolean =>
    connected.some(
      (one) =>
        one.client === client.name &&
        one.path === path &&
        (one.state === 'not_editable' || (one.state === 'not_written' && how === 'ask')),
    );
  return {
    connected: connected.map((one) => {
      const agent = one.state === 'connected' ? names.get(one.client) : undefined;
      return agent === undefined ? one : { ...one, agent };
    }),
    rest: [
      ...new Set(detected.filter((one) => one.kind === 'entry' && isLeft(one)).map(({ client }) => client)),
    ],
  };
}

/** Each client becomes an agent of its own. If anything fails, the agents that were created for it are revoked. */
function connect(
  global: GlobalOptions,
  agreed: readonly Agreed[],
  dataDir: string,
  show: (text: string) => void,
): Promise<Map<string, string>> {
  return withApp(global, async ({ kernel, person }) => {
    const clients = new Set(
      agreed.filter((one) => one.detected.needsToken).map((one) => one.detected.client.name),
    );
    const taken = new Set((await kernel.agents.list()).map(({ name }) => name));
    const agents: { name: string; client: ClientName }[] = [];
    const tokens = new Map<ClientName, string>();
    try {
      for (const client of clients) {
        const name = freeName(client, taken);
        tokens.set(client, await kernel.agents.add(name, person));
        agents.push({ name, client });
      }
      const changes = agreed.flatMap(({ detected, allowTools }) => {
        const token = tokens.get(detected.client.name) ?? '';
        return detected.plan({ token, allowTools }) ?? [];
      });
      const backup = apply(changes, agents, dataDir);
      show(`\nConnected: ${changes.map(({ path }) => path).join(', ')}`);
      if (agents.length > 0)
        show(
          `Agents: ${agents.map(({ name }) => name).join(', ')}. The token of each is in its client's file; do not share or commit it.`,
        );
      show(`Backup: ${backup}\nUndo it with: countersign init --undo`);
    } catch (error) {
      for (const { name } of agents) await kernel.agents.revoke(name, person);
      throw error;
    }
    return new Map(agents.map(({ name, client }) => [client, name]));
  });
}

/** A name is never used again, so a client that is connected a second time gets a number. */
function freeName(client: ClientName, taken: ReadonlySet<string>): string {
  for (let count = 2, name: string = client; ; count += 1) {
    if (!taken.has(name)) return name;
    name = `${client}-${count}`;
  }
}

const askToAllow = ({ title }: ClientFormat): Promise<boolean> =>
  askYesNo(`\nLet ${title} call Countersign without asking you itself? ${REASON}`);

/** The record first: if anything stops it, undoing works. */
function apply(changes: readonly FileChange[], agents: InitRecord['agents'], dataDir: string): string {
  const other = changes.find(({ path, before }) => !isUnchanged(path, before));
  if (other) throw new CliError(`${other.path} changed in the meantime. Nothing was written; run it again.`);
  const at = new Date().toISOString();
  const backup = saveRecord(dataDir, 'init', { at, files: recordFiles(changes), agents });
  for (const { path, after } of changes) replaceFile(path, after);
  return backup;
}

const isUnchanged = (path: string, before: Buffer | undefined): boolean =>
  before ? existsSync(path) && readFileSync(path).equals(before) : !existsSync(path);

/** Credentials of other servers are not repeated on the screen; the file keeps them. */
function shownDiff({ path, before, after }: FileChange): string {
  const patch = createTwoFilesPatch(
    before ? path : '/dev/null',
    path,
    before?.toString('utf8') ?? '',
    after,
    undefined,
    undefined,
    { context: 2 },
  );
  const masked = patch
    .replace(/^=+\n/, '')
    .replace(
      /([\w.-]+)(["']?\s*[:=]\s*["']?)([^"'\s,{}[\]][^"',{}\n]*)/g,
      (whole, key: string, between: string) => (looksSecret(key) ? `${key}${between}…` : whole),
    );
  const note =
    masked === patch.replace(/^=+\n/, '')
      ? ''
      : '\n(Values that look like credentials are shown as … only here.)';
  return `${plainText(masked).trimEnd()}${note}`;
}

/** Undoes the latest `init`: removes what it wrote into each file, and revokes the agents that it created. */
export async function undoConnections(global: GlobalOptions, dataDir: string, force: boolean): Promise<void> {
  const latest = latestRecord(dataDir, 'init');
  if (!latest) throw new CliError('Nothing to undo: no change to a client by `countersign init` is stored.');
  const { files, agents = [], at } = latest.record;
  const plans = files.map((file) => ({ file, ...planUndo(file, clientPlace(), force) }));
  for (const { path, next } of plans)
    if (next === null) rmSync(path, { force: true });
    else if (next !== undefined) replaceFile(path, next);
  const left = plans.filter(({ problem }) => problem !== undefined);
  const isLeft = ({ client }: { client: ClientName }): boolean =>
    left.some(({ file }) => file.client === client);
  const revoked = await revokeAgents(
    global,
    agents.filter((agent) => !isLeft(agent)).map(({ name }) => name),
  );
  if (left.length > 0 && !force)
    keepRecord(latest.path, { at, files: left.map(({ file }) => file), agents: agents.filter(isLeft) });
  else forgetRecord(latest.path);
  const restored = plans.filter(({ next }) => next !== undefined).map(({ path }) => path);
  if (left.length > 0) process.exitCode = 1;
  if (global.json)
    return printJson({ restored, revoked, left: left.map(({ path, problem }) => ({ path, problem })) });
  print(
    restored.length > 0
      ? `Undone: removed Countersign from ${restored.join(', ')}. The configuration of Countersign stays.`
      : `${left.length > 0 ? 'Nothing was undone' : 'Nothing was left to undo'}. The configuration of Countersign stays.`,
  );
  if (revoked.length > 0) print(`Revoked: ${revoked.join(', ')}. Their tokens no longer work.`);
  for (const { path, problem } of left)
    printStderr(
      `Warning: ${path} was left unchanged: ${problem}. Remove the entry \`countersign\` by hand${force ? '' : ', or repeat with --force to remove a changed entry as well'}.`,
    );
  for (const { name } of agents.filter(isLeft))
    printStderr(`Warning: agent ${name} was not revoked. Do it with: countersign agents revoke ${name}`);
}

/** The files are done by now: an agent that cannot be revoked is reported, and the rest stays undone. */
async function revokeAgents(global: GlobalOptions, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  try {
    return await withApp(global, async ({ kernel, person }) => {
      const revoked: string[] = [];
      for (const name of names) if (await kernel.agents.revoke(name, person)) revoked.push(name);
      return revoked;
    });
  } catch (error) {
    process.exitCode = 1;
    printStderr(
      `Warning: could not revoke ${names.join(', ')}. ${error instanceof Error ? error.message : error} Do it later with: countersign agents revoke NAME`,
    );
    return [];
  }
}
