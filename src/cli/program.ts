import { Command, CommanderError, Option } from 'commander';
import { ToolFault } from '../contract/faults.ts';
import { PROFILES } from '../contract/profile.ts';
import { VERSION } from '../lib/version.ts';
import { CliError, type GlobalOptions } from './context.ts';
import { complain } from './output.ts';

/** Reads the command line and runs one command. Each is loaded only when it is called. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = tell(error);
  }
}

export function createProgram(): Command {
  const program = new Command('countersign')
    .description('Agents propose, a person countersigns, the log proves both.')
    .version(VERSION, '-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file (default: ~/.countersign/config.toml)')
    .option('--json', 'print JSON for programs')
    .option('--verbose', 'say more on stderr')
    .exitOverride()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  addServing(program);
  return program;
}

function addServing(program: Command): void {
  const mcp = program.command('mcp').description('serve agents over MCP');
  mcp
    .command('serve')
    .description('serve agents on stdio (default) or TCP')
    .option('--toolkits <list>', 'toolkits to offer, like x,dev')
    .addOption(new Option('--profile <name>', 'which tools exist').choices([...PROFILES]))
    .option('--discovery', 'list three meta-tools instead of all tools')
    .option('--tcp <address>', 'listen on HOST:PORT with newline-delimited JSON-RPC')
    .action(async (options, command) => {
      const { mcpServe } = await import('./commands/mcp-serve.ts');
      await mcpServe(globals(command), options);
    });
}

const globals = (command: Command): GlobalOptions => command.optsWithGlobals() as GlobalOptions;

/** Says what went wrong without a stack trace; 2 means the command was used wrongly. */
function tell(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CliError) {
    complain(`Error: ${error.message}`);
    return error.exitCode;
  }
  if (error instanceof ToolFault) {
    complain(`Error: ${error.message}\n${error.hint}`);
    return 1;
  }
  complain(`Error: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
}
