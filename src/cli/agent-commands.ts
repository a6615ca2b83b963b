import { type Command, Option } from 'commander';
import { CLIENT_NAMES } from '../clients/formats.ts';
import { globals } from './globals.ts';

/** Agents, their tokens and their pauses. */
export function addAgentCommands(program: Command): void {
  const loadAgents = () => import('./commands/agents.ts');
  const agents = program.command('agents').description('Manage agents and their tokens');
  agents
    .command('list', { isDefault: true })
    .description('List all agents')
    .action(async (_options, command) => (await loadAgents()).listAgents(globals(command)));
  agents
    .command('add <name>')
    .description('Create an agent; its token is shown once, with what each client needs to use it')
    .addOption(clientOption('only for this client'))
    .option('--http', 'connect to the running server instead of starting one')
    .action(async (name, options, command) => (await loadAgents()).addAgent(globals(command), name, options));
  agents
    .command('revoke <name>')
    .description("Revoke an agent's token")
    .action(async (name, _options, command) => (await loadAgents()).revokeAgent(globals(command), name));
  for (const paused of [true, false]) {
    agents
      .command(paused ? 'pause <name>' : 'resume <name>')
      .description(
        paused ? "Refuse an agent's calls until it is resumed" : "Lift the pause on an agent's calls",
      )
      .action(async (name, _options, command) =>
        (await loadAgents()).setAgentPaused(globals(command), name, paused),
      );
  }
}

/** One of a fixed set, as often as wanted; a variadic option would swallow the arguments after it. */
export function clientOption(text: string): Option {
  const option = new Option('--client <name>', `${text}, repeatable`).choices(CLIENT_NAMES);
  const { parseArg: checked } = option;
  return option.argParser((value, all: string[] = []) => [...all, checked?.(value, '') ?? value]);
}
