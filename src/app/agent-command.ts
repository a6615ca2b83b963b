import { realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { App } from './app.ts';

/** How another program on this machine starts an MCP server on the very store this process uses. */
export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Installation {
  readonly config: Pick<App['config'], 'path' | 'dataDir'>;
  readonly env: App['env'];
}

export function agentCommand(
  { config, env }: Installation,
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

/**
 * By its name where it is installed for all; otherwise by the file that runs now, which is certainly there. In a
 * clone or project, npx runs a link to that file: by the name, a client elsewhere would get the version in the registry.
 */
function programOf([node = 'node', script = '']: readonly string[]): [string, ...string[]] {
  const file = realPath(script);
  if (/[/\\]_npx[/\\]/.test(file)) return ['npx', '-y', 'countersign'];
  const isLocal = /[/\\](_npx|node_modules[/\\]\.bin)[/\\]/.test(script);
  return basename(script) === 'countersign' && !isLocal ? ['countersign'] : [node, file];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
