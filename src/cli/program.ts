import { Argument, Command, CommanderError, Option } from 'commander';
import { ConfigError } from '../config/path.ts';
import { CliError, type CommandHost, type GlobalOptions } from '../contract/command.ts';
import { ToolError } from '../contract/errors.ts';
import { PROFILES } from '../contract/tool.ts';
import type { ToolkitEntry } from '../contract/toolkit-entry.ts';
import { describeDatabaseError } from '../lib/database-error.ts';
import { describeFileError } from '../lib/file-error.ts';
import { VERSION } from '../lib/log.ts';
import { hasColor, paint, paintOpening } from '../terminal/color.ts';
import { print, printJson, printStderr } from '../terminal/output.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';
import { hintOf } from './act.ts';
import { addAgentCommands, clientOption } from './agent-commands.ts';
import { addApprovalCommands } from './approval-commands.ts';
import { globals } from './globals.ts';
import { addServerCommands } from './server-commands.ts';
import { explainUsageError } from './usage-error.ts';

/** Reads the command line and runs one command. Each is loaded only when it is called. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const json = wantsJson(argv);
  const program = createProgram(json);
  // Without a command no hook runs, so the plain question is answered here.
  const [first] = argv.slice(2).filter((word) => word !== '--json');
  if (first === '-V' || first === '--version') return printVersion(json);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = printError(error, json);
  }
}

/** Read before commander does, whose own errors must be JSON too. What follows `--` belongs to another program. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(2, end < 0 ? undefined : end).includes('--json');
}

const printVersion = (json: boolean): void => (json ? printJson({ version: VERSION }) : print(VERSION));

/** `quiet`: usage errors are left to the caller to print. */
export function createProgram(quiet = false): Command {
  const program = new Command('countersign')
    .description('Run AI agents under policy, human approval and a verifiable audit log')
    .option('-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file (default: ~/.countersign/config.toml)')
    .option('--json', 'print JSON')
    .option('--verbose', 'verbose logging on stderr')
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(paintOpening(text.replace(/^error:/, 'Error:'))),
      getOutHasColors: () => hasColor(),
      getErrHasColors: () => hasColor(process.stderr),
      ...(quiet ? { writeErr: () => {} } : {}),
    })
    // An option of our own: a command may print a version line of its own, which commander's would swallow.
    .hook('preAction', (_program, command) => {
      const hasOwn = command.options.some(({ long }) => long === '--version');
      if (!globals(command).version || hasOwn) return;
      printVersion(globals(command).json === true);
      throw new CommanderError(0, 'countersign.version', VERSION);
    })
    .configureHelp({
      sortSubcommands: false,
      showGlobalOptions: true,
      // Commander drops the codes where the two functions above say that there is no colour.
      styleTitle: (text) => paint('bold', text, true),
      styleCommandText: (text) => paint('cyan', text, true),
      styleSubcommandText: (text) => paint('cyan', text, true),
      styleOptionText: (text) => paint('cyan', text, true),
    });
  const group = (heading: string, ...adds: ((program: Command) => void)[]): void => {
    program.commandsGroup(heading);
    for (const add of adds) add(program);
  };
  group('Start:', addServing, addCompletion);
  group('Decide:', addApprovalCommands);
  group('Observe:', addStatusCommands);
  group('Policy and agents:', addPolicyCommands, addAgentCommands, addPasskeyCommands);
  group('Audit log and backups:', addAuditCommands);
  group('Third-party servers:', addServerCommands);
  group('Toolkits:', addToolkitCommands);
  explainUsageError(program);
  return program;
}

function addServing(program: Command): void {
  program
    .command('init')
    .description('Create a configuration file and connect the MCP clients of this machine')
    .option('-y, --yes', 'skip prompts, use the defaults and write what is shown')
    .addOption(clientOption('only this client'))
    .option(
      '--allow-tools',
      'let Claude Code and Gemini CLI call Countersign without asking: Countersign asks',
    )
    .option('--undo', "remove what the latest init wrote into the clients' files")
    .option('--force', 'overwrite an existing configuration; with --undo also remove a changed entry')
    .action(async (options, command) => (await import('./commands/init.ts')).init(globals(command), options));
  exposureOptions(program.command('up').description('Run the server: inbox, HTTP API and schedules'))
    .option('--port <port>', 'HTTP port')
    .option('--host <address>', 'address to listen on')
    .action(async (options, command) => (await import('./commands/up.ts')).up(globals(command), options));
  program
    .command('open')
    .description('Sign in to the inbox with a one-time link')
    .argument('[page]', 'approval to show, by ID, or a page such as /activity')
    .option('--no-browser', 'only print the link')
    .action(async (page, options, command) =>
      (await import('./commands/open.ts')).open(globals(command), page, options),
    );
  const mcp = program.command('mcp').description('Serve agents over MCP');
  exposureOptions(mcp.command('serve').description('Serve agents on stdio (default) or TCP'))
    .option('--discovery', 'list three meta-tools instead of all tools')
    .option('--tcp <address>', 'listen on HOST:PORT with newline-delimited JSON-RPC')
    .action(async (options, command) =>
      (await import('./commands/mcp-serve.ts')).mcpServe(globals(command), options),
    );
  exposureOptions(mcp.command('manifest').description('List the tools that a profile exposes'))
    .addOption(new Option('--format <format>', 'output format').choices(['json', 'table']).default('table'))
    .action(async (options, command) =>
      (await import('./commands/mcp-manifest.ts')).mcpManifest(globals(command), options),
    );
}

const exposureOptions = (command: Command): Command =>
  command
    .option('--toolkits <list>', 'toolkits to expose, such as x,dev')
    .addOption(new Option('--profile <name>', 'tool profile to expose').choices([...PROFILES]));

function addStatusCommands(program: Command): void {
  program
    .command('status')
    .description('Show server state, pending approvals and unknown outcomes')
    .action(async (_options, command) => (await import('./commands/status.ts')).status(globals(command)));
  program
    .command('doctor')
    .description('Diagnose problems and suggest fixes')
    .action(async (_options, command) => (await import('./commands/doctor.ts')).doctor(globals(command)));
  program
    .command('stats')
    .description('Show calls, errors and latency per tool')
    .option('--since <span>', 'period to cover, such as 30m, 24h or 7d', '24h')
    .option('--toolkit <id>', 'only this toolkit')
    .action(async (options, command) =>
      (await import('./commands/stats.ts')).stats(globals(command), options),
    );
  program
    .command('call <tool>')
    .description('Call a tool as yourself, under the same policy')
    .option('--args <json>', 'arguments as JSON')
    .option('--idempotency-key <key>', 'idempotency key; repeating the call with it returns the first result')
    .action(async (tool, options, command) =>
      (await import('./commands/call.ts')).callTool(globals(command), tool, options),
    );
}

function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print a completion script, such as: source <(countersign completion bash)')
    .addArgument(new Argument('<shell>', 'shell to complete in').choices(['bash', 'zsh', 'fish']))
    .action(async (shell, _options, command) =>
      (await import('./commands/completion.ts')).printCompletion(globals(command), shell, program),
    );
}

function addPolicyCommands(program: Command): void {
  const loadPolicy = () => import('./commands/policy.ts');
  const policy = program.command('policy').description('Explain and test the policy');
  policy
    .command('explain <tool>')
    .description('Show the decision for a call and every rule that contributed; runs nothing')
    .option('--args <json>', 'arguments as JSON')
    .option('--as <principal>', 'principal that makes the call, such as agent:NAME', 'agent:local')
    .option('--at <time>', 'evaluate at this time instead of now')
    .action(async (tool, options, command) => (await loadPolicy()).explain(globals(command), tool, options));
  policy
    .command('test <file>')
    .description('Check the policy against a file of expected decisions')
    .action(async (file, _options, command) => (await loadPolicy()).testPolicy(globals(command), file));
  policy
    .command('recommend')
    .description('Propose standing approvals and rules from past decisions, with the evidence; saves nothing')
    .action(async (_options, command) =>
      (await import('./commands/recommend.ts')).recommendPolicy(globals(command)),
    );
}

function addPasskeyCommands(program: Command): void {
  const load = () => import('./commands/passkeys.ts');
  const passkeys = program.command('passkeys').description('Manage the passkeys that sign approvals');
  passkeys
    .command('list', { isDefault: true })
    .description('List all passkeys with their fingerprints')
    .action(async (_options, command) => (await load()).listPasskeys(globals(command)));
  passkeys
    .command('reset')
    .description('Remove all passkeys without a signature; the audit log shows it permanently')
    .option('--yes', 'confirm the removal')
    .action(async (options, command) => (await load()).resetPasskeys(globals(command), options));
}

function addAuditCommands(program: Command): void {
  const load = () => import('./commands/audit.ts');
  const collect = (value: string, all: string[] = []): string[] => [...all, value];
  const audit = program.command('audit').description('Verify, prove and export the audit log');
  audit
    .command('verify')
    .description('Verify the entire audit log and report the first invalid entry')
    .option('--checkpoint <file>', 'checkpoint stored elsewhere (repeatable)', collect)
    .option('--key <key>', 'public key you trust (repeatable)', collect)
    .option(
      '--signer <fingerprint>',
      'passkey you trust; a signature by any other fails (repeatable)',
      collect,
    )
    .option('--receipt <file>', 'signature you stored, as a witness of the history (repeatable)', collect)
    .action(async (options, command) => (await load()).auditVerify(globals(command), options));
  audit
    .command('prove <call>')
    .description('Create a proof that the audit log contains a call')
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .action(async (call, options, command) => (await load()).auditProve(globals(command), call, options));
  audit
    .command('receipt <approval>')
    .description('Print the passkey signature of a decision, to store as a witness of the history')
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .action(async (approval, options, command) =>
      (await load()).auditReceipt(globals(command), approval, options),
    );
  audit
    .command('story <call>')
    .description('Show what happened to a call, step by step, from its audit entries')
    .action(async (call, _options, command) =>
      (await import('./commands/story.ts')).auditStory(globals(command), call),
    );
  audit
    .command('check <file>')
    .description('Verify a proof or bundle offline')
    .option('--key <key>', 'public key you trust (repeatable)', collect)
    .option(
      '--signer <fingerprint>',
      'passkey you trust; a signature by any other fails (repeatable)',
      collect,
    )
    .action(async (file, options, command) => (await load()).auditCheck(globals(command), file, options));
  audit
    .command('export')
    .description('Export a run as one verifiable bundle, or all entries for a log collector')
    .option('--run <id>', 'ID of the run')
    .addOption(
      new Option('--format <format>', 'all entries, one per line').choices(['jsonl', 'ecs']).conflicts('run'),
    )
    .option('--follow', 'with --format: print new entries until stopped')
    .option('--after <seq>', 'with --format: only entries after this position')
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .option('--sign', 'add in-toto statements about the run, signed with the key of this log')
    .action(async (options, command) => (await load()).auditExport(globals(command), options));
  audit
    .command('erase')
    .description('Erase stored arguments and results; proofs stay valid')
    .option('--before <span>', 'erase what is older, such as 90d or 24h')
    .option('--call <id>', 'erase what this call stored (repeatable)', collect)
    .action(async (options, command) => (await load()).auditErase(globals(command), options));
  audit
    .command('rotate-key')
    .description('Rotate the signing key; the old key endorses the new one')
    .action(async (_options, command) => (await load()).auditRotate(globals(command)));
  audit
    .command('key')
    .description('Print the public key that signs checkpoints')
    .action(async (_options, command) => (await load()).auditKey(globals(command)));
  audit
    .command('checkpoint')
    .description('Sign a checkpoint now and print it')
    .action(async (_options, command) => (await load()).auditCheckpoint(globals(command)));

  program
    .command('backup [folder]')
    .description('Back up the database, configuration, signing key and artifacts')
    .action(async (folder, _options, command) =>
      (await import('./commands/backup.ts')).backup(globals(command), folder),
    );
  program
    .command('restore <folder>')
    .description('Restore a backup; current data is moved aside')
    .option(
      '--force',
      'restore even if a server or change seems to be running, or the current database cannot be opened',
    )
    .action(async (folder, options, command) =>
      (await import('./commands/backup.ts')).restore(globals(command), folder, options),
    );
}

function addToolkitCommands(program: Command): void {
  const orderOf = ({ commands }: ToolkitEntry): number => commands?.order ?? Number.POSITIVE_INFINITY;
  for (const { id, commands } of toolkitEntries.toSorted((a, b) => orderOf(a) - orderOf(b)))
    commands?.add(program, (command) => hostOf(id, globals(command)));
}

/** Nothing of the application is loaded before a command asks for it. */
const hostOf = (toolkit: string, options: GlobalOptions): CommandHost => ({
  options,
  open: async (...how) => (await import('./command-host.ts')).commandHost(toolkit, options).open(...how),
});

/** What went wrong, without a stack trace; exit code 2 means that the command was used wrongly. */
interface Failure {
  readonly exitCode: number;
  readonly message: string;
  readonly code?: string;
  readonly hints?: readonly string[];
}

function printError(error: unknown, json: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { exitCode, message, code, hints = [] } = describeError(error);
  if (json)
    printJson({ error: { ...(code ? { code } : {}), message, ...(hints[0] ? { hint: hints[0] } : {}) } });
  // Commander has printed its own errors by now.
  else if (!(error instanceof CommanderError)) printStderr(`Error: ${[message, ...hints].join('\n')}`);
  return exitCode;
}

function describeError(error: unknown): Failure {
  if (error instanceof CommanderError) {
    const isHelp = error.code === 'commander.help';
    const message = isHelp ? 'Specify a subcommand; --help lists them.' : error.message;
    return { exitCode: 2, message: message.replace(/^error: /, '') };
  }
  if (error instanceof CliError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof ToolError)
    return { exitCode: 1, message: error.message, code: error.code, hints: hintOf(error) };
  const message =
    describeFileError(error) ??
    describeDatabaseError(error) ??
    (error instanceof Error ? error.message : String(error));
  const isUsage =
    error instanceof ConfigError && error.problems.every(({ source }) => source.startsWith('flag '));
  return { exitCode: isUsage ? 2 : 1, message };
}
