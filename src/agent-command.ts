import { basename, join, resolve } from 'node:path';
import type { App } from './app.ts';

/** How another program on this machine starts an MCP server on the very store this process uses. */
export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export function agentCommand(
  { config, env }: Pick<App, 'config' | 'env'>,
  started: readonly string[] = process.argv,
): AgentCommand {
  const { path, dataDir } = config;
  const named = path !== undefined && path !== join(dataDir, 'config.toml') ? ['-c', path] : [];
  const [command, ...args] = programOf(started);
  const home = env.COUNTERSIGN_HOME;
  return {
    command,
    args: [...args, ...named, 'mcp', 'serve'],
    env: home ? { COUNTERSIGN_HOME: resolve(home) } : {},
  };
}

/** By its name where it is installed; otherwise by the file that runs now, which is certainly there. */
function programOf([node = 'node', script = '']: readonly string[]): [string, ...string[]] {
  if (/[/\\]_npx[/\\]/.test(script)) return ['npx', '-y', 'countersign'];
  return basename(script) === 'countersign' ? ['countersign'] : [node, script];
}
