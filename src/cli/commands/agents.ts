import { agentCommand } from '../../app/agent-command.ts';
import type { App } from '../../app/app.ts';
import { clientPlace } from '../../app/client-place.ts';
import { CLIENTS, type ClientName } from '../../clients/formats.ts';
import { describeSnippet, type Snippet, snippetsFor } from '../../clients/snippets.ts';
import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { findServerUrl, requireServerUrl } from '../../daemon/running-server.ts';
import { type Agent, AgentNameError } from '../../kernel/agents.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { agentName } from '../agent-name.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';

interface AddOptions {
  readonly client?: readonly ClientName[];
  readonly http?: boolean;
}

export function addAgent(global: GlobalOptions, name: string, options: AddOptions = {}): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    const address = await (options.http ? requireServerUrl(app) : findServerUrl(app));
    const url = address && `${address}/mcp`;
    try {
      const token = await kernel.agents.add(name, person);
      const snippets = agentSnippets(app, token, url, options);
      if (global.json) return printJson({ name, token, url, snippets });
      print(`Created agent ${name}. Copy its token now; it is not shown again:\n\n  ${token}\n`);
      print(`To connect a client as ${name}, paste what it needs:`);
      for (const snippet of snippets) print(`\n${describeSnippet(snippet)}`);
      print(
        `\nOver HTTP: ${url ?? 'the address that `countersign up` prints'}, with the header Authorization: Bearer TOKEN${options.http ? '' : ' (--http prints it for each client)'}. Over TCP: _meta["countersign/token"].`,
      );
    } catch (error) {
      if (!(error instanceof AgentNameError)) throw error;
      const taken = (await kernel.agents.list()).some((agent) => agent.name === name);
      throw new CliError(error.message, taken ? 1 : 2);
    }
  });
}

function agentSnippets(
  app: App,
  token: string,
  url: string | undefined,
  { client, http }: AddOptions,
): Snippet[] {
  const clients = CLIENTS.filter((one) => client === undefined || client.includes(one.name));
  const { command, args, env } = agentCommand(app);
  return snippetsFor(
    clients,
    clientPlace(app.env),
    http && url
      ? { url, headers: { Authorization: `Bearer ${token}` } }
      : { command, args, env: { ...env, COUNTERSIGN_TOKEN: token } },
  );
}

export function revokeAgent(global: GlobalOptions, name: string): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    if (!(await kernel.agents.revoke(name, person)))
      throw new CliError(`No active agent is named ${name}. Run \`countersign agents list\`.`);
    if (global.json) return printJson({ name, revoked: true });
    print(`Revoked agent ${name}. Its token no longer works.`);
  });
}

export function listAgents(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ kernel }) => {
    const agents = await kernel.agents.list();
    const paused = await kernel.agents.paused();
    // Clients without a token share a name that no token has; paused, it must be seen.
    const others = [...paused.keys()].filter((name) => agents.every((one) => one.name !== name));
    if (global.json)
      return printJson([
        ...agents.map((one) => ({ ...one, pausedBy: paused.get(one.name) })),
        ...others.map((name) => ({ name, pausedBy: paused.get(name) })),
      ]);
    if (agents.length + others.length === 0)
      return print(
        'No agents yet. Clients without a token share the identity agent:local.\nTo create an agent: countersign agents add NAME',
      );
    print(
      table(
        ['NAME', 'SINCE', 'STATE'],
        [
          ...agents.map((one) => [
            one.name,
            one.damaged ?? one.createdAt.toISOString(),
            stateOf(one, paused),
          ]),
          ...others.map((name) => [name, '', pausedState(paused.get(name))]),
        ],
      ),
    );
  });
}

const pausedState = (by: string | undefined): string => `PAUSED by ${by}`;

function stateOf({ name, revokedAt }: Agent, paused: ReadonlyMap<string, string>): string {
  if (revokedAt) return 'revoked';
  return paused.has(name) ? pausedState(paused.get(name)) : 'active';
}

/** Refuses the calls of one agent, in every process that shares the database, until it is resumed. */
export function setAgentPaused(global: GlobalOptions, given: string, paused: boolean): Promise<void> {
  const name = agentName(given);
  return withApp(global, async (app) => {
    const { kernel, person } = app;
    if (!(await kernel.agents.isKnown(name)))
      throw new CliError(`No agent is named ${name}. Run \`countersign agents list\`.`);
    if (!paused) await requirePersonHere(app);
    const changed = await kernel.agents.setPaused(name, paused, person);
    if (global.json) return printJson({ name, paused, changed });
    if (paused)
      print(
        changed
          ? `Paused agent ${name}. Its changes are refused immediately and its other calls within a second, until \`countersign agents resume ${name}\`.`
          : `Agent ${name} is already paused.`,
      );
    else print(changed ? `Resumed agent ${name}.` : `Agent ${name} was not paused.`);
  });
}
