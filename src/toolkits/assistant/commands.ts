import type { ToolkitCommands } from '../../contract/command.ts';

const health = () => import('./cli/health.ts');

export const commands: ToolkitCommands = {
  order: 0,
  add(program, host) {
    program
      .command('mcp-server')
      .description('Serve only the assistant, on stdio')
      .option('-v, --verbose', 'Enable verbose logging for debugging')
      .option('--version', 'Print MCP server version and exit')
      .action(async (_options, command) =>
        (await import('./cli/mcp-server.ts')).serveAssistant(host(command)),
      );
    program
      .command('sessions')
      .description("List the assistant's sessions")
      .option('--active <minutes>', 'only sessions used in the last MINUTES minutes')
      .option('--store <path>', 'path of another SQLite database; `file` is the one in use')
      .action(async (options, command) =>
        (await import('./cli/sessions.ts')).sessions(host(command), options),
      );
  },
  status: async (app) => (await health()).statusLine(app),
  check: async (host) => (await health()).checkAssistant(host),
};
