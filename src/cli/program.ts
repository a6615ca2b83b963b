import { Command, CommanderError, Option } from 'commander';
import { ConfigError } from '../config/error.ts';
import { ToolFault } from '../contract/faults.ts';
import { PROFILES } from '../contract/profile.ts';
import { fileProblem } from '../lib/file-problem.ts';
import { storeProblem } from '../lib/store-problem.ts';
import { VERSION } from '../lib/version.ts';
import { CliError, type GlobalOptions } from './context.ts';
import { hintOf } from './hint.ts';
import { complain, print } from './output.ts';
import { addToolkitCommands } from './toolkit-commands.ts';
import { explainWrongUse } from './wrong-use.ts';

/** Reads the command line and runs one command. Each is loaded only when it is called. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  // Without a command no hook runs, so the plain question is answered here.
  if (argv[2] === '-V' || argv[2] === '--version') return print(VERSION);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = tell(error);
  }
}

export function createProgram(): Command {
  const program = new Command('countersign')
    .description('Agents propose, a person countersigns, the log proves both.')
    .option('-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file (default: ~/.countersign/config.toml)')
    .option('--json', 'print JSON for programs')
    .option('--verbose', 'say more on stderr')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'Error:')) })
    // An option of our own: `mcp-server --version` has a line of its own, which commander's would swallow.
    .hook('preAction', (_program, command) => {
      if (!globals(command).version || command.name() === 'mcp-server') return;
      print(VERSION);
      throw new CommanderError(0, 'countersign.version', VERSION);
    })
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  addServing(program);
  addDeciding(program);
  addLooking(program);
  addGoverning(program);
  addRecord(program);
  addAssistant(program);
  addToolkitCommands(program);
  explainWrongUse(program);
  return program;
}

function addServing(program: Command): void {
  program
    .command('init')
    .description('write a first configuration and show how to connect an agent')
    .option('-y, --yes', 'ask nothing')
    .option('--force', 'replace an existing configuration')
    .action(async (options, command) => (await import('./commands/init.ts')).init(globals(command), options));
  exposureOptions(program.command('up').description('run the daemon: inbox, HTTP API, schedules'))
    .option('--port <port>', 'HTTP port')
    .option('--host <address>', 'address to listen on')
    .action(async (options, command) => (await import('./commands/up.ts')).up(globals(command), options));
  program
    .command('open')
    .description('sign in to the inbox with a one-time link')
    .option('--no-browser', 'only print the link')
    .action(async (options, command) => (await import('./commands/open.ts')).open(globals(command), options));
  const mcp = program.command('mcp').description('serve agents over MCP');
  exposureOptions(mcp.command('serve').description('serve agents on stdio (default) or TCP'))
    .option('--discovery', 'list three meta-tools instead of all tools')
    .option('--tcp <address>', 'listen on HOST:PORT with newline-delimited JSON-RPC')
    .action(async (options, command) =>
      (await import('./commands/mcp-serve.ts')).mcpServe(globals(command), options),
    );
  exposureOptions(mcp.command('manifest').description('print which tools a profile offers'))
    .addOption(new Option('--format <format>', 'output').choices(['json', 'table']).default('table'))
    .action(async (options, command) =>
      (await import('./commands/mcp-manifest.ts')).mcpManifest(globals(command), options),
    );
}

const exposureOptions = (command: Command): Command =>
  command
    .option('--toolkits <list>', 'toolkits to offer, like x,dev')
    .addOption(new Option('--profile <name>', 'which tools exist').choices([...PROFILES]));

function addLooking(program: Command): void {
  program
    .command('status')
    .description('what runs, what waits, what needs you')
    .action(async (_options, command) => (await import('./commands/status.ts')).status(globals(command)));
  program
    .command('doctor')
    .description('check that everything works, and say what to do if not')
    .action(async (_options, command) => (await import('./commands/doctor.ts')).doctor(globals(command)));
  program
    .command('stats')
    .description('calls, errors and latency per tool')
    .option('--since <span>', 'how far back: 30m, 24h, 7d', '24h')
    .option('--toolkit <id>', 'only this toolkit')
    .action(async (options, command) =>
      (await import('./commands/stats.ts')).stats(globals(command), options),
    );
  program
    .command('call <tool>')
    .description('call one tool as yourself, through the same policy')
    .option('--args <json>', 'arguments as JSON')
    .option('--idempotency-key <key>', 'the same key gives the first answer again')
    .action(async (tool, options, command) =>
      (await import('./commands/call.ts')).callTool(globals(command), tool, options),
    );
}

function addAssistant(program: Command): void {
  program
    .command('mcp-server')
    .description('serve the assistant alone on stdio')
    .option('-v, --verbose', 'Enable verbose logging for debugging')
    .option('--version', 'Print MCP server version and exit')
    .action(async (_options, command) =>
      (await import('./commands/mcp-server.ts')).serveAssistant(globals(command)),
    );
  program
    .command('sessions')
    .description('conversations of the assistant')
    .option('--active <minutes>', 'only those used within so many minutes')
    .option('--store <path>', 'another store file; `file` is the one in use')
    .action(async (options, command) =>
      (await import('./commands/sessions.ts')).sessions(globals(command), options),
    );
}

function addDeciding(program: Command): void {
  const load = () => import('./commands/approvals.ts');
  const approvals = program.command('approvals').description('the inbox: what waits for you');
  approvals
    .command('list', { isDefault: true })
    .description('what waits, oldest first')
    .option('--state <states>', 'pending (default), done, rejected, … or all')
    .option('--toolkit <id>', 'only this toolkit')
    .option('--limit <n>', 'most rows', '50')
    .action(async (options, command) => (await load()).listApprovals(globals(command), options));
  approvals
    .command('show <id>')
    .description('one item, with its exact arguments')
    .action(async (id, _options, command) => (await load()).showApproval(globals(command), id));
  approvals
    .command('approve [ids...]')
    .description('approve and run')
    .option('--all', 'everything that waits')
    .option('--note <text>', 'kept with the decision')
    .action(async (ids, options, command) => (await load()).approve(globals(command), ids, options));
  approvals
    .command('reject <id>')
    .description('reject; nothing is run')
    .option('--reason <text>', 'told to the agent')
    .option('--feedback <text>', 'what it should do instead')
    .action(async (id, options, command) => (await load()).reject(globals(command), id, options));
  approvals
    .command('withdraw <id>')
    .description('take back a permit that was not used yet, or a request')
    .action(async (id, _options, command) => (await load()).withdraw(globals(command), id));
  approvals
    .command('edit <id>')
    .description('change the arguments before approving')
    .addOption(new Option('--args <json>', 'the new arguments').conflicts('file'))
    .option('--file <file>', 'the new arguments from a file, - for stdin')
    .action(async (id, options, command) => (await load()).editApproval(globals(command), id, options));
  approvals
    .command('permit <tool>')
    .description('let an agent make one exact call, once')
    .requiredOption('--args <json>', 'the exact arguments')
    .option('--for <agent>', 'which agent', 'local')
    .option('--reason <text>', 'why')
    .action(async (tool, options, command) => (await load()).permit(globals(command), tool, options));
  approvals
    .command('settle <call>')
    .description('say whether an indeterminate change happened')
    .addOption(new Option('--happened', 'it did').conflicts('notHappened'))
    .option('--not-happened', 'it did not')
    .action(async (call, options, command) => (await load()).settle(globals(command), call, options));
  for (const paused of [true, false]) {
    program
      .command(paused ? 'pause' : 'resume')
      .description(paused ? 'refuse every change at once' : 'let policy judge changes again')
      .action(async (_options, command) =>
        (await import('./commands/pause.ts')).setPaused(globals(command), paused),
      );
  }
}

function addGoverning(program: Command): void {
  const loadPolicy = () => import('./commands/policy.ts');
  const policy = program.command('policy').description('what agents may do');
  policy
    .command('explain <tool>')
    .description('the decision for a call and every rule that had a say; runs nothing')
    .option('--args <json>', 'arguments of the call')
    .option('--as <principal>', 'who calls, like agent:NAME', 'agent:local')
    .option('--at <time>', 'at this time instead of now')
    .action(async (tool, options, command) => (await loadPolicy()).explain(globals(command), tool, options));
  policy
    .command('test <file>')
    .description('check a table of expected decisions')
    .action(async (file, _options, command) => (await loadPolicy()).testPolicy(globals(command), file));

  const loadAgents = () => import('./commands/agents.ts');
  const agents = program.command('agents').description('agents with tokens of their own');
  agents
    .command('list', { isDefault: true })
    .description('all of them')
    .action(async (_options, command) => (await loadAgents()).listAgents(globals(command)));
  agents
    .command('add <name>')
    .description('create one; its token is shown once')
    .action(async (name, _options, command) => (await loadAgents()).addAgent(globals(command), name));
  agents
    .command('revoke <name>')
    .description('its token stops working')
    .action(async (name, _options, command) => (await loadAgents()).revokeAgent(globals(command), name));
}

function addRecord(program: Command): void {
  const load = () => import('./commands/audit.ts');
  const collect = (value: string, all: string[] = []): string[] => [...all, value];
  const audit = program.command('audit').description('the record that anyone can verify');
  audit
    .command('verify')
    .description('recompute the whole log and name the first bad entry')
    .option('--checkpoint <file>', 'a checkpoint kept elsewhere; may be repeated', collect)
    .option('--key <key>', 'a public key you trust; may be repeated', collect)
    .action(async (options, command) => (await load()).auditVerify(globals(command), options));
  audit
    .command('prove <call>')
    .description('a proof that the log holds this call')
    .option('-o, --output <file>', 'write it to a file')
    .action(async (call, options, command) => (await load()).auditProve(globals(command), call, options));
  audit
    .command('check <file>')
    .description('check a proof or bundle, without the database')
    .option('--key <key>', 'a public key you trust; may be repeated', collect)
    .action(async (file, options, command) => (await load()).auditCheck(globals(command), file, options));
  audit
    .command('export')
    .description('one bundle with everything about a run')
    .requiredOption('--run <id>', 'the run')
    .option('-o, --output <file>', 'write it to a file')
    .action(async (options, command) => (await load()).auditExport(globals(command), options));
  audit
    .command('erase')
    .description('erase stored arguments and results; proofs stay valid')
    .option('--before <span>', 'older than 90d, 24h, …')
    .option('--call <id>', 'this call; may be repeated', collect)
    .action(async (options, command) => (await load()).auditErase(globals(command), options));
  audit
    .command('rotate-key')
    .description('start signing with a new key, endorsed by the old one')
    .action(async (_options, command) => (await load()).auditRotate(globals(command)));
  audit
    .command('key')
    .description('the public key that signs checkpoints')
    .action(async (_options, command) => (await load()).auditKey(globals(command)));
  audit
    .command('checkpoint')
    .description('sign the log now and print the checkpoint')
    .action(async (_options, command) => (await load()).auditCheckpoint(globals(command)));

  program
    .command('backup [folder]')
    .description('copy store, configuration, key and artifacts')
    .action(async (folder, _options, command) =>
      (await import('./commands/backup.ts')).backup(globals(command), folder),
    );
  program
    .command('restore <folder>')
    .description('put a backup in place; what was there is moved aside')
    .option('--force', 'even while a server or a change seems to run, or over a store that cannot be opened')
    .action(async (folder, options, command) =>
      (await import('./commands/backup.ts')).restore(globals(command), folder, options),
    );
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
    complain(`Error: ${[error.message, ...hintOf(error)].join('\n')}`);
    return 1;
  }
  const text =
    fileProblem(error) ?? storeProblem(error) ?? (error instanceof Error ? error.message : String(error));
  complain(`Error: ${text}`);
  return error instanceof ConfigError && error.problems.every(({ source }) => source.startsWith('flag '))
    ? 2
    : 1;
}
