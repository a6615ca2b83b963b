import { realpathSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
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
  const [command, ...args] = programOf(started, env.PATH);
  const home = env.COUNTERSIGN_HOME;
  return {
    command,
    args: [...args, ...named, 'mcp', 'serve'],
    env: home ? { COUNTERSIGN_HOME: resolve(home) } : {},
  };
}

/**
 * By the absolute paths of Node and of the file that runs now: a client may have another PATH than the person's shell,
 * and a name could be another program there. `npx` and a global installation run a link to that file.
 */
function programOf(
  [node = 'node', script = '']: readonly string[],
  path: string | undefined,
): [string, string] {
  return [stableNode(node, path), realPath(script)];
}

/** The link to this Node in PATH, if there is one: the file that it leads to may have a version in its name. */
function stableNode(node: string, path = ''): string {
  const name = basename(node);
  const links = path.split(delimiter).filter(isAbsolute);
  return links.map((folder) => join(folder, name)).find((link) => realPath(link) === realPath(node)) ?? node;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
