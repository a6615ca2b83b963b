import { join } from 'node:path';

export type ClientName =
  | 'claude-code'
  | 'claude-desktop'
  | 'cursor'
  | 'vscode'
  | 'codex'
  | 'gemini'
  | 'windsurf'
  | 'zed'
  | 'opencode'
  | 'goose';

/** How a client starts Countersign. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Where a client keeps its servers, and how its file is written. */
export interface ClientFormat {
  readonly name: ClientName;
  readonly title: string;
  readonly syntax: 'json' | 'toml' | 'yaml';
  /** Files in a project, of which the current directory may have one. */
  readonly project: (place: Place) => readonly string[];
  /** Files of the person's own configuration; of two in one directory the client reads either. */
  readonly user: (place: Place) => readonly string[];
  /** What shows that the client is installed, where it is not the directory of its file. */
  readonly mark?: (place: Place) => string;
  /** Tables of servers, as paths into the file; the first that exists and has servers is used. */
  readonly tables: (place: Place) => readonly (readonly string[])[];
  /** The table in which a new entry is written. */
  readonly table: readonly string[];
  /** Our own entry in the client's terms. */
  readonly entry: (own: OwnCommand) => object;
  /** The same over HTTP; without it the client only starts commands. */
  readonly remote?: (url: string, headers: Readonly<Record<string, string>>) => object;
  /** Why an entry has a key, written above it as a comment. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** How the client is made to call our tools without asking itself: keys of our entry, or an item of a list elsewhere. */
  readonly allow?:
    | { readonly entry: Readonly<Record<string, unknown>> }
    | {
        readonly file: (place: Place) => string;
        readonly list: readonly string[];
        readonly item: string;
      };
}

export interface Place {
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const filesOf = (format: ClientFormat, place: Place): string[] => [
  ...format.project(place),
  ...format.user(place),
];

/** The operating system's directory for the configuration of applications. */
function configDir(place: Place): string {
  if (place.platform === 'darwin') return join(place.home, 'Library', 'Application Support');
  return dotConfig(place);
}

/** The same for programs that treat macOS like Linux. */
function dotConfig({ home, platform, env }: Place): string {
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return (platform === 'linux' && env.XDG_CONFIG_HOME) || join(home, '.config');
}

const withEnv = (key: string, env: Readonly<Record<string, string>>): object =>
  Object.keys(env).length > 0 ? { [key]: env } : {};
const plain: ClientFormat['entry'] = ({ command, args, env }) => ({ command, args, ...withEnv('env', env) });
const typed: ClientFormat['entry'] = (own) => ({ type: 'stdio', ...plain(own) });
const plainRemote: ClientFormat['remote'] = (url, headers) => ({ url, ...withEnv('headers', headers) });
const typedRemote: ClientFormat['remote'] = (url, headers) => ({
  type: 'http',
  url,
  ...withEnv('headers', headers),
});
const mcpServers = { tables: () => [['mcpServers']], table: ['mcpServers'] };
const none = (): string[] => [];

const APPROVE = { default_tools_approval_mode: 'approve' };

export const CLIENTS: readonly ClientFormat[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    syntax: 'json',
    project: ({ cwd }) => [join(cwd, '.mcp.json')],
    user: ({ home, env }) => [join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')],
    mark: ({ home, env }) => env.CLAUDE_CONFIG_DIR || join(home, '.claude'),
    tables: ({ cwd }) => [['mcpServers'], ['projects', cwd, 'mcpServers']],
    table: ['mcpServers'],
    entry: typed,
    remote: typedRemote,
    allow: {
      file: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
      list: ['permissions', 'allow'],
      item: 'mcp__countersign',
    },
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    syntax: 'json',
    project: none,
    user: (place) => [join(configDir(place), 'Claude', 'claude_desktop_config.json')],
    ...mcpServers,
    entry: plain,
  },
  {
    name: 'cursor',
    title: 'Cursor',
    syntax: 'json',
    project: ({ cwd }) => [join(cwd, '.cursor', 'mcp.json')],
    user: ({ home }) => [join(home, '.cursor', 'mcp.json')],
    ...mcpServers,
    entry: plain,
    remote: plainRemote,
  },
  {
    name: 'vscode',
    title: 'VS Code',
    syntax: 'json',
    project: ({ cwd }) => [join(cwd, '.vscode', 'mcp.json')],
    user: (place) => [join(configDir(place), 'Code', 'User', 'mcp.json')],
    tables: () => [['servers']],
    table: ['servers'],
    entry: typed,
    remote: typedRemote,
  },
  {
    name: 'codex',
    title: 'Codex',
    syntax: 'toml',
    project: ({ cwd }) => [join(cwd, '.codex', 'config.toml')],
    user: ({ home, env }) => [join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')],
    tables: () => [['mcp_servers']],
    table: ['mcp_servers'],
    entry: (own) => ({ ...plain(own), ...APPROVE }),
    remote: (url, headers) => ({ url, ...withEnv('http_headers', headers), ...APPROVE }),
    reasons: {
      default_tools_approval_mode:
        'Countersign asks you where your policy requires it, so Codex need not ask about the same call again.',
    },
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    syntax: 'json',
    project: ({ cwd }) => [join(cwd, '.gemini', 'settings.json')],
    user: ({ home }) => [join(home, '.gemini', 'settings.json')],
    ...mcpServers,
    entry: plain,
    remote: (httpUrl, headers) => ({ httpUrl, ...withEnv('headers', headers) }),
    allow: { entry: { trust: true } },
  },
  {
    name: 'windsurf',
    title: 'Windsurf (Devin Desktop)',
    syntax: 'json',
    project: none,
    user: (place) => [
      join(dotConfig(place), 'devin', 'mcp_config.json'),
      join(place.home, '.codeium', 'windsurf', 'mcp_config.json'),
    ],
    ...mcpServers,
    entry: plain,
    remote: (url, headers) => ({ url, transport: 'http', ...withEnv('headers', headers) }),
  },
  {
    name: 'zed',
    title: 'Zed',
    syntax: 'json',
    project: ({ cwd }) => [join(cwd, '.zed', 'settings.json')],
    user: (place) => [join(dotConfig(place), place.platform === 'win32' ? 'Zed' : 'zed', 'settings.json')],
    tables: () => [['context_servers']],
    table: ['context_servers'],
    entry: plain,
    remote: plainRemote,
  },
  {
    name: 'opencode',
    title: 'opencode',
    syntax: 'json',
    project: ({ cwd }) => opencodeFiles(cwd),
    // It looks there on Windows too.
    user: ({ home, env }) => opencodeFiles(join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')),
    tables: () => [['mcp', 'servers'], ['mcp']],
    table: ['mcp'],
    entry: ({ command, args, env }) => ({
      type: 'local',
      command: [command, ...args],
      ...withEnv('environment', env),
    }),
    remote: (url, headers) => ({ type: 'remote', url, ...withEnv('headers', headers) }),
  },
  {
    name: 'goose',
    title: 'Goose',
    syntax: 'yaml',
    project: none,
    user: (place) => [
      place.platform === 'win32'
        ? join(dotConfig(place), 'Block', 'goose', 'config', 'config.yaml')
        : join(dotConfig(place), 'goose', 'config.yaml'),
    ],
    tables: () => [['extensions']],
    table: ['extensions'],
    entry: ({ command, args, env }) => ({
      name: 'countersign',
      type: 'stdio',
      enabled: true,
      cmd: command,
      args,
      timeout: 300,
      ...withEnv('envs', env),
    }),
    remote: (uri, headers) => ({
      name: 'countersign',
      type: 'streamable_http',
      enabled: true,
      uri,
      timeout: 300,
      ...withEnv('headers', headers),
    }),
  },
];

export const CLIENT_NAMES = CLIENTS.map(({ name }) => name);

function opencodeFiles(folder: string): string[] {
  return ['opencode.json', 'opencode.jsonc'].map((file) => join(folder, file));
}
