import type { Command } from 'commander';
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
    .option('--env <pair>', 'environment variable KEY=VALUE; may be repeated', collect)
    .option('--header <pair>', 'HTTP header KEY=VALUE; may be repeated', collect)
    .option('--cwd <directory>', 'directory to start the command in')
    .option('--sse', 'the URL speaks the HTTP transport before 2025')
    .option('--effect <pair>', 'effect of one tool, like read_file=read; may be repeated', collect)
    .option('-y, --yes', 'trust the tools that are shown')
    .action(async (name, target, options, command) =>
      (await change()).addServer(globals(command), name, target, options),
    );
  servers
    .command('show <name>')
    .description('Show its tools with effect, pin and changes')
    .option('--refresh', 'start it and list its tools again')
    .action(async (name, options, command) => (await load()).showServer(globals(command), name, options));
  servers
    .command('trust <name> [tools...]')
    .description('Trust its new and changed tools as they are listed now')
    .option('--effect <pair>', 'effect of one tool, like read_file=read; may be repeated', collect)
    .option('-y, --yes', 'ask nothing')
    .action(async (name, tools, options, command) =>
      (await change()).trustTools(globals(command), name, tools, options),
    );
  servers
    .command('remove <name>')
    .description('Remove it from the configuration and delete its pins')
    .action(async (name, _options, command) => (await change()).removeServer(globals(command), name));
  servers
    .command('logs <name>')
    .description('Show what it wrote to stderr')
    .option('-n, --lines <n>', 'maximum lines', '100')
    .action(async (name, options, command) => (await load()).serverLogs(globals(command), name, options));
  servers
    .command('restart <name>')
    .description('Restart it before its next call')
    .action(async (name, _options, command) => (await load()).restartServer(globals(command), name));
  servers
    .command('login <name> [url]')
    .description('Sign in to a server that uses OAuth')
    .option('--client-id <id>', 'client that is registered there; unset: registers one')
    .option('--scope <scopes>', 'scopes to ask for; unset: what the server asks for')
    .option('--port <n>', 'port that the browser returns to; unset: any free one')
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
    .option('--undo', 'restore the files of the latest import')
    .option('--force', 'undo even if a file has changed since')
    .action(async (options, command) =>
      (await import('./commands/servers-import.ts')).importServers(globals(command), options),
    );
  program
    .command('wrap <name> <command> [args...]')
    .description('Serve one server under its own tool names: wrap NAME -- COMMAND ARGS…')
    .option('--env <pair>', 'environment variable KEY=VALUE; may be repeated', collect)
    .action(async (name, run, args, options, command) =>
      (await import('./commands/wrap.ts')).wrap(globals(command), name, [run, ...args], options),
    );
  addSecrets(program);
}

function addSecrets(program: Command): void {
  const load = () => import('./commands/secrets.ts');
  const secrets = program.command('secrets').description('Manage values that the configuration refers to');
  secrets
    .command('list', { isDefault: true })
    .description('List their names')
    .action(async (_options, command) => (await load()).listSecrets(globals(command)));
  secrets
    .command('set <name>')
    .description('Store a value read from standard input')
    .action(async (name, _options, command) => (await load()).setSecret(globals(command), name));
  secrets
    .command('remove <name>')
    .description('Delete a value')
    .action(async (name, _options, command) => (await load()).removeSecret(globals(command), name));
}
