import { AgentNameError } from '../../kernel/agents.ts';
import { CliError, type GlobalOptions, withApp } from '../context.ts';
import { print, printJson, table } from '../output.ts';

export function addAgent(global: GlobalOptions, name: string): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    try {
      const token = await kernel.agents.add(name, person);
      if (global.json) return printJson({ name, token });
      print(
        `Agent ${name} added. Its token, shown only now:\n\n  ${token}\n\nHTTP: Authorization: Bearer TOKEN   stdio: COUNTERSIGN_TOKEN=TOKEN   TCP: _meta["countersign/token"]`,
      );
    } catch (error) {
      if (!(error instanceof AgentNameError)) throw error;
      const taken = (await kernel.agents.list()).some((agent) => agent.name === name);
      throw new CliError(error.message, taken ? 1 : 2);
    }
  });
}

export function revokeAgent(global: GlobalOptions, name: string): Promise<void> {
  return withApp(global, async ({ kernel, person }) => {
    if (!(await kernel.agents.revoke(name, person)))
      throw new CliError(`There is no active agent named ${name}; see \`countersign agents list\`.`);
    print(`Agent ${name} revoked. Its token no longer works.`);
  });
}

export function listAgents(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ kernel }) => {
    const agents = await kernel.agents.list();
    if (global.json) return printJson(agents);
    if (agents.length === 0)
      return print(
        'No agents have tokens. Clients without one act as the agent "local".\nAdd one with: countersign agents add NAME',
      );
    print(
      table(
        ['NAME', 'SINCE', 'STATE'],
        agents.map((one) => [one.name, one.createdAt.toISOString(), one.revokedAt ? 'revoked' : 'active']),
      ),
    );
  });
}
