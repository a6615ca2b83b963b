import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type AgentCommand, agentCommand } from '../../agent-command.ts';
import { fileProblem } from '../../lib/file-problem.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { CliError, type GlobalOptions } from '../context.ts';
import { print } from '../output.ts';

interface InitOptions {
  readonly yes?: boolean;
  readonly force?: boolean;
}

const CONFIG = (
  mode: string,
): string => `# Countersign. Every setting and its default: docs/reference/configuration.md

# autopilot, or composer: every change of toolkit x waits for you.
mode = "${mode}"

# Toolkits offered to agents.
toolkits = ["x", "dev", "research", "assistant"]

[mcp_policy]
# Ready-made rules: posts, messages and everything destructive wait for you.
template = "safe_default"
# Start with true to see what agents would do without doing it.
dry_run_mutations = false
`;

/** Writes a first configuration and shows how to connect a client. Asks one question, none with --yes. */
export async function init(global: GlobalOptions, options: InitOptions): Promise<void> {
  const home = resolve(process.env.COUNTERSIGN_HOME || join(homedir(), '.countersign'));
  const path = resolve(global.config ?? join(home, 'config.toml'));
  if (existsSync(path) && !options.force) {
    print(`Keeping the configuration at ${path} (--force writes a new one).`);
  } else {
    const mode = options.yes ? 'autopilot' : await askMode();
    try {
      makeFolder(dirname(path), 0o700);
      writeFileSync(path, CONFIG(mode), { mode: 0o600 });
    } catch (error) {
      const place = global.config === undefined ? 'Set COUNTERSIGN_HOME to' : 'Name with -c a file in';
      throw new CliError(
        `The configuration was not written. ${fileProblem(error) ?? error} ${place} a folder you may write.`,
      );
    }
    print(`Configuration written to ${path}`);
  }
  print(clientHelp(agentCommand({ config: { path, dataDir: home }, env: process.env })));
}

async function askMode(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new CliError('There is no terminal to ask on; run `countersign init --yes`.', 2);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(
      'Should every change on X wait for your approval, whatever the rules say? [y/N] ',
    );
    return /^y(es)?$/i.test(answer.trim()) ? 'composer' : 'autopilot';
  } finally {
    lines.close();
  }
}

/** How to connect the common clients, ready to paste. */
function clientHelp({ command, args, env }: AgentCommand): string {
  const pairs = Object.entries(env);
  const server = { command, args, ...(pairs.length > 0 ? { env } : {}) };
  const flags = pairs.flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const show = (value: unknown): string => JSON.stringify(value, null, 2);
  const toml = [
    '[mcp_servers.countersign]',
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    ...(pairs.length > 0
      ? [`env = { ${pairs.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ')} }`]
      : []),
  ];
  return `
Connect your agent:

Claude Code
  ${['claude', 'mcp', 'add', 'countersign', ...flags, '--', command, ...args].map(shellWord).join(' ')}

Cursor (.cursor/mcp.json) and other clients with mcpServers
${show({ mcpServers: { countersign: server } })}

VS Code (.vscode/mcp.json)
${show({ servers: { countersign: { type: 'stdio', ...server } } })}

Codex (~/.codex/config.toml)
${toml.join('\n')}

Then start the inbox with \`countersign up\`, and sign in with \`countersign open\`.`;
}
