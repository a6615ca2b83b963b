import { type Command, Option } from 'commander';
import { CLIENT_NAMES } from '../clients/formats.ts';
import { globals } from './globals.ts';

const collect = (value: string, all: string[] = []): string[] => [...all, value];

/** Third-party MCP servers behind the gateway, and the secrets they are given. */
export function addServerCommands(program: Command): void {
  const load = () => import('./commands/servers.ts');
  const change = () => import('./commands/servers-change.ts');
  const servers = program.command('servers').description('Put third-party MCP servers behind your policy');
  servers
    .command('list', { isDefault: true })
    .description('List servers with state and health')
    .action(async (_options, command) => (await load()).listServers(globals(command)));
  servers
    .command('add <name> [target...]')
    .description('Add a server: its URL, or -- COMMAND ARGS…')
    .option('--env <pair>', 'environment variable KEY=VALUE (repeatable)', collect)
    .option('--header <pair>', 'HTTP header KEY=VALUE (repeatable)', collect)
    .option('--cwd <directory>', 'directory to start the command in')
    .option('--sse', 'the URL uses the older HTTP+SSE transport')
    .addOption(
      new Option('--changes <action>', 'whether its changes require approval').choices(['ask', 'allow']),
    )
    .option('--effect <pair>', 'effect of one tool, such as read_file=read (repeatable)', collect)
    .option('-y, --yes', 'trust the tools that are shown')
    .action(async (name, target, options, command) =>
      (await change()).addServer(globals(command), name, target, options),
    );
  servers
    .command('show <name>')
    .description("Show a server's tools with effect, pin and changes")
    .option('--refresh', 'start the server and list its tools again')
    .action(async (name, options, command) => (await load()).showServer(globals(command), name, options));
  servers
    .command('trust <name> [tools...]')
    .description("Trust a server's new and changed tools as they are listed now")
    .option('--effect <pair>', 'effect of one tool, such as read_file=read (repeatable)', collect)
    .option('-y, --yes', 'trust without asking')
    .action(async (name, tools, options, command) =>
      (await change()).trustTools(globals(command), name, tools, options),
    );
  servers
    .command('remove <name>')
    .description('Remove a server from the configuration and delete its pins')
    .action(async (name, _options, command) => (await change()).removeServer(globals(command), name));
  servers
    .command('logs <name>')
    .description('Show what a server wrote to stderr')
    .option('-n, --lines <n>', 'maximum number of lines', '100')
    .action(async (name, options, command) => (await load()).serverLogs(globals(command), name, options));
  servers
    .command('restart <name>')
    .description('Restart a server before its next call')
    .action(async (name, _options, command) => (await load()).restartServer(globals(command), name));
  servers
    .command('login <name> [url]')
    .description('Sign in to a server that uses OAuth')
    .option('--client-id <id>', 'ID of a client registered at the server (default: register one)')
    .option('--scope <scopes>', 'scopes to request (default: those that the server names)')
    .option('--port <n>', 'port of the local callback (default: any free port)')
    .option('--no-browser', 'only print the address')
    .option('--remove', 'delete the stored tokens')
    .action(async (name, url, options, command) =>
      (await import('./commands/servers-login.ts')).loginServer(globals(command), name, url, options),
    );
  servers
    .command('import')
    .description('Move the servers of your clients behind Countersign')
    .option('--from <client>', `a client or a file: ${CLIENT_NAMES.join(', ')}`)
    .option('--dry-run', 'show what would be imported')
    .option('-y, --yes', 'start each server and trust its tools')
    .option('--undo', "put the servers of the latest import back into the clients' files")
    .option('--force', 'with --undo replace a file that cannot be edited by the earlier one')
    .action(async (options, command) =>
      (await import('./commands/servers-import.ts')).importServers(globals(command), options),
    );
  program
    .command('wrap <name> <command> [args...]')
    .description('Serve one server under its own tool names: wrap NAME -- COMMAND ARGS…')
    .option('--env <pair>', 'environment variable KEY=VALUE (repeatable)', collect)
    .action(async (name, run, args, options, command) =>
      (await import('./commands/wrap.ts')).wrap(globals(command), name, [run, ...args], options),
    );
  addSecrets(program);
}

function addSecrets(program: Command): void {
  const load = () => import('./commands/secrets.ts');
  const secrets = program.command('secrets').description('Manage secrets that the configuration refers to');
  secrets
    .command('list', { isDefault: true })
    .description('List the names of the stored secrets')
    .action(async (_options, command) => (await load()).listSecrets(globals(command)));
  secrets
    .command('set <name>')
    .description('Store a secret read from standard input')
    .action(async (name, _options, command) => (await load()).setSecret(globals(command), name));
  secrets
    .command('remove <name>')
    .description('Delete a secret')
    .action(async (name, _options, command) => (await load()).removeSecret(globals(command), name));
}
