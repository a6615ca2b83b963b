import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { detectClients } from '../../src/clients/connect.ts';
import { openTerminal, type Ran, type Terminal } from './support.ts';

const KEY = 'planted-1a2b3c4d5e6f';

/** One file per client with comments, odd formatting and a neighbour that must survive. */
const FILES: Record<string, readonly [file: string, table: readonly string[], text: string]> = {
  'claude-code': ['.claude.json', ['mcpServers'], '{\n  "numStartups": 3,\n  "other": [1,2]\n}\n'],
  'claude-desktop': [
    '.config/Claude/claude_desktop_config.json',
    ['mcpServers'],
    `{"mcpServers":{"files":{"command":"npx","env":{"API_KEY":"${KEY}"}}},"theme":"dark"}`,
  ],
  cursor: [
    '.cursor/mcp.json',
    ['mcpServers'],
    `{\n\t// mine\n\t"mcpServers": {\n\t\t"web": { "url": "https://mcp.example/mcp", "headers": { "X-Api-Key": "${KEY}" } }, // remote\n\t}\n}\n`,
  ],
  vscode: [
    '.config/Code/User/mcp.json',
    ['servers'],
    '{\r\n  "inputs": [],\r\n  "servers": {\r\n    "files": { "type": "stdio", "command": "npx" }\r\n  }\r\n}\r\n',
  ],
  codex: [
    '.codex/config.toml',
    ['mcp_servers'],
    `model = "o" # keep\n\n[mcp_servers.files]\ncommand = "npx"\n\n[mcp_servers.files.env]\nAPI_KEY = "${KEY}"\n\n# last\n[tui]\ntheme = "x"\n`,
  ],
  gemini: ['.gemini/settings.json', ['mcpServers'], '{}'],
  windsurf: ['.codeium/windsurf/mcp_config.json', ['mcpServers'], ''],
  zed: ['.config/zed/settings.json', ['context_servers'], '// Zed\n{\n  "vim_mode": true, // yes\n}\n'],
  opencode: [
    '.config/opencode/opencode.jsonc',
    ['mcp'],
    '{\n  "mcp": {\n    // files\n    "files": { "type": "local", "command": ["npx"] }\n  }\n}\n',
  ],
  goose: [
    '.config/goose/config.yaml',
    ['extensions'],
    '# goose\nGOOSE_MODEL: m\nextensions:\n  developer: # built in\n    type: builtin\n    enabled: true\n',
  ],
};

let terminal: Terminal;
beforeEach(() => {
  terminal = openTerminal('# ours\n');
  vi.stubEnv('HOME', terminal.home);
  for (const name of ['XDG_CONFIG_HOME', 'CODEX_HOME', 'CLAUDE_CONFIG_DIR']) vi.stubEnv(name, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  terminal.close();
});

const init = (...args: string[]): Promise<Ran> => terminal.run('init', ...args);
const at = (path: string): string => join(terminal.home, path);
const read = (path: string): string => readFileSync(path, 'utf8');

function place(client: string): { path: string; table: readonly string[]; text: string } {
  const [file, table, text] = FILES[client] ?? ['', [], ''];
  const path = at(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { path, table, text };
}

function entryIn(path: string, table: readonly string[]): Record<string, unknown> {
  const text = read(path);
  const root: unknown = path.endsWith('.toml')
    ? parseToml(text)
    : path.endsWith('.yaml')
      ? parseYaml(text)
      : parseJson(text, [], { allowTrailingComma: true });
  return [...table, 'countersign'].reduce<unknown>(
    (value, key) => (value as Record<string, unknown>)[key],
    root,
  ) as Record<string, unknown>;
}

/** The command as it is started, in whichever way the client writes it. */
const commandOf = ({ command, cmd, args }: Record<string, unknown>): unknown[] =>
  [command ?? cmd, args ?? []].flat(2);

describe.each(Object.keys(FILES))('init with %s', (client) => {
  it('shows the change, writes it on consent, keeps comments and neighbours, and undoes it to the byte', async () => {
    const { path, table, text } = place(client);
    const shown = await init();
    expect(shown.code).toBe(2);
    expect(shown.err).toContain('Nothing was written');
    expect(shown.out).toContain(`+++ ${path}`);
    expect(shown.out).toMatch(/^\+.*countersign/m);
    expect(read(path)).toBe(text);
    expect(existsSync(at('init'))).toBe(false);

    const done = await init('--yes');
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toContain(`Connected: ${path}`);
    expect(done.out).not.toContain(KEY);
    expect(commandOf(entryIn(path, table)).slice(-2)).toEqual(['mcp', 'serve']);
    const after = read(path);
    for (const comment of text.match(/(\/\/|#) ?[a-z ]+/gi) ?? []) expect(after).toContain(comment);
    for (const kept of text.match(/npx|mcp\.example|planted-\w+|theme|vim_mode|GOOSE_MODEL/g) ?? [])
      expect(after).toContain(kept);
    expect(after.includes('\r\n')).toBe(text.includes('\r\n'));

    expect((await init('--yes')).out).toContain('is already connected');
    expect(read(path)).toBe(after);

    const undone = await init('--undo');
    expect(undone).toMatchObject({ code: 0, err: '' });
    expect(read(path)).toBe(text);
    expect((await init('--undo')).err).toContain('Nothing to undo');
  });
});

describe('clients that are installed', () => {
  const own = { command: 'countersign', args: ['mcp', 'serve'], env: {} };
  const linux = [
    ['.claude', '.claude.json'],
    ['.config/Claude', '.config/Claude/claude_desktop_config.json'],
    ['.cursor', '.cursor/mcp.json'],
    ['.config/Code/User', '.config/Code/User/mcp.json'],
    ['.codex', '.codex/config.toml'],
    ['.gemini', '.gemini/settings.json'],
    ['.config/devin', '.config/devin/mcp_config.json'],
    ['.config/zed', '.config/zed/settings.json'],
    ['.config/opencode', '.config/opencode/opencode.json'],
    ['.config/goose', '.config/goose/config.yaml'],
  ];
  const elsewhere: Record<string, Record<string, string>> = {
    linux: {},
    darwin: {
      '.config/Claude': 'Library/Application Support/Claude',
      '.config/Code/User': 'Library/Application Support/Code/User',
    },
    win32: {
      '.config/Claude': 'AppData/Roaming/Claude',
      '.config/Code/User': 'AppData/Roaming/Code/User',
      '.config/devin': 'AppData/Roaming/devin',
      '.config/zed': 'AppData/Roaming/Zed',
      '.config/goose': 'AppData/Roaming/Block/goose/config',
    },
  };

  it.each(Object.keys(elsewhere))('are found by their directories on %s', (platform) => {
    const moved = (path: string): string => {
      const [from = '', to = ''] =
        Object.entries(elsewhere[platform] ?? {}).find(([one]) => path.startsWith(one)) ?? [];
      return at(path.replace(from, to));
    };
    const where = { home: terminal.home, cwd: '/nowhere', platform: platform as NodeJS.Platform, env: {} };
    expect(detectClients(where, own)).toMatchObject({ detected: [], missing: { length: 10 } });
    for (const [folder = ''] of linux) mkdirSync(moved(folder), { recursive: true });
    const { detected, missing } = detectClients(where, own);
    expect(missing).toEqual([]);
    const entries = detected.filter(({ kind }) => kind === 'entry');
    expect(entries.map(({ path }) => path)).toEqual(linux.map(([, file = '']) => moved(file)));
    for (const { plan } of detected)
      expect(plan({ token: 'cs_1', allowTools: true })).toMatchObject({
        before: undefined,
        after: expect.stringContaining('countersign'),
      });
  });

  it('are found where their variables point to', () => {
    const env = { XDG_CONFIG_HOME: at('xdg'), CODEX_HOME: at('cx'), CLAUDE_CONFIG_DIR: at('cc') };
    for (const folder of ['xdg/zed', 'xdg/goose', 'cx', 'cc']) mkdirSync(at(folder), { recursive: true });
    const where = { home: terminal.home, cwd: '/nowhere', platform: 'linux' as const, env };
    expect(detectClients(where, own).detected.map(({ path }) => path)).toEqual(
      [
        'cc/.claude.json',
        'cc/settings.json',
        'cx/config.toml',
        'xdg/zed/settings.json',
        'xdg/goose/config.yaml',
      ].map(at),
    );
  });

  it('get a new file that undoing deletes, and only those that are named are changed', async () => {
    for (const folder of ['.cursor', '.codex']) mkdirSync(at(folder));
    expect((await init('--yes', '--client', 'cursor', '--client', 'gemini')).code).toBe(0);
    expect(existsSync(at('.codex/config.toml'))).toBe(false);
    expect(statSync(at('.cursor/mcp.json')).mode & 0o077).toBe(0);
    expect(existsSync(at('.gemini/settings.json'))).toBe(true);
    await init('--undo');
    expect(existsSync(at('.cursor/mcp.json'))).toBe(false);
    expect((await init('--client', 'emacs')).code).toBe(2);
  });
});

describe('consent on a terminal', () => {
  /** A terminal that gives each answer once its question is asked. */
  async function* answering(answers: readonly string[]): AsyncGenerator<string> {
    const asked = (): number =>
      vi.mocked(process.stderr.write).mock.calls.filter(([text]) => String(text).includes('[y/N]')).length;
    for (const [index, answer] of answers.entries()) {
      await vi.waitUntil(() => asked() > index, { timeout: 60_000 });
      yield `${answer}\n`;
    }
  }

  /** Once the answers are used up the input ends, which declines what follows. */
  async function initWith(...answers: string[]): Promise<Ran> {
    const real = Object.getOwnPropertyDescriptor(process, 'stdin');
    const input = Object.assign(Readable.from(answering(answers)), { isTTY: true });
    Object.defineProperty(process, 'stdin', { value: input, configurable: true });
    try {
      return await init();
    } finally {
      if (real) Object.defineProperty(process, 'stdin', real);
    }
  }

  it('is asked for each file, and what is declined is printed to paste', async () => {
    const cursor = place('cursor');
    const zed = place('zed');
    const codex = place('codex');
    const { code, out, err } = await initWith('n', 'y');
    expect(code).toBe(0);
    expect(err).toContain(`Write this change to ${cursor.path}?`);
    expect(read(cursor.path)).toBe(cursor.text);
    expect(read(codex.path)).toContain('countersign');
    expect(read(zed.path)).toBe(zed.text);
    expect(out).toContain(`Connected: ${codex.path}\n`);
    expect(out).toContain('Cursor: ~/.cursor/mcp.json');
    expect(out).not.toContain('Codex: ~/');
  });

  it.each([
    ['y', true],
    ['n', false],
  ])('is asked for calls that a client makes without asking itself: %s', async (answer, isAllowed) => {
    const claude = place('claude-code');
    const gemini = place('gemini');
    // The entry and the permissions of Claude Code, then the trust and the entry of Gemini CLI.
    const { out, err } = await initWith('y', answer, answer, 'y');
    expect(out).toContain('It then calls Countersign without asking you itself. Countersign asks you where');
    expect(err).toContain(
      'Let Gemini CLI call Countersign without asking you itself? Countersign asks you where',
    );
    expect(entryIn(claude.path, claude.table)).toHaveProperty('command');
    expect(existsSync(at('.claude/settings.json'))).toBe(isAllowed);
    expect(entryIn(gemini.path, gemini.table).trust).toBe(isAllowed ? true : undefined);
  });
});

describe('what init does not do', () => {
  it('overwrites no token, setting or HTTP connection of an entry that is there', async () => {
    const { path } = place('cursor');
    writeFileSync(
      path,
      '{ "mcpServers": { "countersign": { "command": "old", "env": { "COUNTERSIGN_TOKEN": "cs_secret" }, "disabled": false } } }',
    );
    const remote = '{ "mcpServers": { "countersign": { "httpUrl": "https://me.example/mcp" } } }';
    mkdirSync(at('.gemini'));
    writeFileSync(at('.gemini/settings.json'), remote);
    const { out } = await init('--yes');
    expect(out).not.toContain('cs_secret');
    expect(entryIn(path, ['mcpServers'])).toMatchObject({
      args: expect.arrayContaining(['mcp', 'serve']),
      env: { COUNTERSIGN_TOKEN: 'cs_secret', COUNTERSIGN_HOME: terminal.home },
      disabled: false,
    });
    expect(read(at('.gemini/settings.json'))).toBe(remote);
  });

  it.each([
    ['.cursor/mcp.json', '{ not json'],
    ['.cursor/mcp.json', '{ "mcpServers": [] }'],
    ['.codex/config.toml', 'mcp_servers = { files = { command = "npx" } }\n'],
    ['.config/goose/config.yaml', 'a: [\n'],
  ])('edits no %s that it cannot edit safely, and prints the snippet instead: %s', async (file, text) => {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text);
    const { out } = await init('--yes');
    expect(out).toContain(`${at(file)} was left unchanged: `);
    expect(out).toContain(`~/${file}\n`);
    expect(read(at(file))).toBe(text);
  });

  it('replaces no link by a file', async () => {
    const { path, text } = place('zed');
    const target = at('dotfiles.json');
    writeFileSync(target, text);
    mkdirSync(at('.cursor'));
    symlinkSync(target, at('.cursor/mcp.json'));
    await init('--yes');
    expect(lstatSync(at('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
    expect(read(target)).toContain('countersign');
    await init('--undo');
    expect([read(target), read(path)]).toEqual([text, text]);
  });
});

describe('what init prints', () => {
  it('is the snippet for every client that is not installed, with the reason where Codex must not ask again', async () => {
    place('goose');
    const { out } = await init('--yes');
    for (const title of [
      'Claude Desktop',
      'Cursor',
      'VS Code',
      'Codex',
      'Gemini CLI',
      'Windsurf',
      'Zed',
      'opencode',
    ])
      expect(out).toMatch(new RegExp(`^${title}.*: ~/`, 'm'));
    expect(out).toContain('claude mcp add --scope user countersign ');
    expect(out).toMatch(/^# Countersign asks you .*\.\ndefault_tools_approval_mode = "approve"$/m);
    expect(out).not.toMatch(/^Goose: /m);
  });

  it('writes Codex its approval mode with the reason above it', async () => {
    const { path, table } = place('codex');
    await init('--yes');
    expect(entryIn(path, table)).toMatchObject({ default_tools_approval_mode: 'approve' });
    expect(read(path)).toMatch(/^# Countersign asks you .*\ndefault_tools_approval_mode/m);
  });

  it('is JSON with --json, which asks nothing', async () => {
    const { path } = place('cursor');
    const shown = await terminal.json<{ clients: object[]; url: string }>('init');
    expect(shown.clients).toEqual([
      expect.objectContaining({ client: 'cursor', path, state: 'not_written' }),
    ]);
    expect(shown.url).toBe('http://localhost:8765/mcp');
    const done = await terminal.json<{ clients: object[] }>('init', '--yes');
    expect(done.clients).toEqual([expect.objectContaining({ client: 'cursor', state: 'connected' })]);
    expect(await terminal.json('init', '--undo')).toEqual({
      restored: [path],
      revoked: ['cursor'],
      left: [],
    });
  });
});

describe('the address in snippets', () => {
  it.each([
    ['', 'http://localhost:8765/mcp'],
    ['[server]\nport = 9000\n', 'http://localhost:9000/mcp'],
    ['[server]\nhost = "0.0.0.0"\n', 'http://localhost:8765/mcp'],
    ['[server]\nhost = "192.0.2.7"\n', 'http://192.0.2.7:8765/mcp'],
    ['[server]\nhost = "::1"\n', 'http://[::1]:8765/mcp'],
    ['[server]\npublic_url = "https://agents.example.org/"\n', 'https://agents.example.org/mcp'],
  ])('is the one the server has with %j', async (config, url) => {
    terminal.configure(config);
    expect(await terminal.json('init', '--yes')).toMatchObject({ url });
    expect(await terminal.json('agents', 'add', 'one')).toMatchObject({ url });
    const { out } = await terminal.run('agents', 'add', 'two', '--http');
    expect(out).toContain(`"url": "${url}"`);
    expect(await terminal.json('research', 'mcp-json', terminal.home)).toMatchObject({ url });
  });

  it('is not guessed while the port is chosen at start', async () => {
    terminal.configure('[server]\nport = 0\n');
    for (const args of [
      ['agents', 'add', 'one', '--http'],
      ['research', 'mcp-json', terminal.home],
    ])
      expect(await terminal.run(...args)).toMatchObject({
        code: 1,
        err: expect.stringContaining('Start `countersign up` first'),
      });
    expect(await terminal.json('agents')).toEqual([]);
    expect((await terminal.run('agents', 'add', 'one')).out).toContain('Over HTTP: the address that');
    expect(await terminal.json('init', '--yes')).not.toHaveProperty('url');
  });
});

describe('agents add', () => {
  it('prints what each client needs, with the token', async () => {
    const { out } = await terminal.run('agents', 'add', 'claude');
    const token = /cs_\S+/.exec(out)?.[0] ?? '';
    expect(out.split(token).length - 1).toBe(8);
    expect(out).toContain(`-e COUNTERSIGN_TOKEN=${token}`);
    expect(out).toContain(`COUNTERSIGN_TOKEN = "${token}"`);
    const http = await terminal.run(
      'agents',
      'add',
      'other',
      '--http',
      '--client',
      'codex',
      '--client',
      'goose',
    );
    const second = /cs_\S+/.exec(http.out)?.[0] ?? '';
    expect(http.out).toContain(`Authorization = "Bearer ${second}"`);
    expect(http.out).toContain('uri: http://localhost:8765/mcp');
    expect(http.out).not.toContain('mcpServers');
  });
});
