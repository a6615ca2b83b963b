import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './support.ts';

const SECRET = 'planted-9f8e7d6c5b4a';

/** One sample per client: a local server with a secret, a remote one with a header, comments and odd formatting. */
const SAMPLES: Record<string, readonly [file: string, text: string]> = {
  'claude-code': [
    '.claude.json',
    `{\n  "numStartups": 3,\n  "mcpServers": {\n    "files": { "type": "stdio", "command": "npx", "args": ["-y", "files"], "env": { "API_KEY": "${SECRET}", "HOME_DIR": "\${HOME}" } },\n    "web": { "type": "http", "url": "https://mcp.example/mcp", "headers": { "Authorization": "Bearer ${SECRET}" } }\n  },\n  "other": [1,2]\n}\n`,
  ],
  'claude-desktop': [
    '.config/Claude/claude_desktop_config.json',
    `{"mcpServers":{"files":{"command":"npx","args":["-y","files"],"env":{"API_KEY":"${SECRET}"}}},"theme":"dark"}`,
  ],
  cursor: [
    '.cursor/mcp.json',
    `{\n\t// mine\n\t"mcpServers": {\n\t\t"Files Server": { "command": "npx", "args": ["-y", "files"], "env": { "TOKEN": "\${env:FILES_TOKEN}" }, "autoApprove": ["*"] },\n\t\t"web": { "url": "https://mcp.example/mcp", "headers": { "X-Api-Key": "${SECRET}" } }, // remote\n\t}\n}\n`,
  ],
  vscode: [
    '.config/Code/User/mcp.json',
    `{\r\n  "inputs": [{ "id": "key", "type": "promptString" }],\r\n  "servers": {\r\n    "files": { "type": "stdio", "command": "npx", "args": ["files"], "env": { "API_KEY": "${SECRET}" } },\r\n    "asks": { "command": "x", "env": { "API_KEY": "\${input:key}" } }\r\n  }\r\n}\r\n`,
  ],
  codex: [
    '.codex/config.toml',
    `model = "o" # keep\n\n[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "files"]\n\n[mcp_servers.files.env]\nAPI_KEY = "${SECRET}"\n\n# the web\n[mcp_servers.web]\nurl = "https://mcp.example/mcp"\nbearer_token_env_var = "WEB_TOKEN"\n\n[tui]\ntheme = "x"\n`,
  ],
  gemini: [
    '.gemini/settings.json',
    `{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["files"], "env": { "API_KEY": "${SECRET}" }, "trust": true },\n    "old": { "url": "https://mcp.example/sse" },\n    "web": { "httpUrl": "https://mcp.example/mcp" }\n  }\n}\n`,
  ],
  windsurf: [
    '.codeium/windsurf/mcp_config.json',
    `{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["files"], "env": { "API_KEY": "${SECRET}" } },\n    "web": { "serverUrl": "https://mcp.example/mcp" },\n    "off": { "command": "x", "disabled": true }\n  }\n}\n`,
  ],
  zed: [
    '.config/zed/settings.json',
    `// Zed\n{\n  "vim_mode": true,\n  "context_servers": {\n    "files": { "command": { "path": "npx", "args": ["files"], "env": { "API_KEY": "${SECRET}" } } },\n    "web": { "url": "https://mcp.example/mcp" },\n  },\n}\n`,
  ],
  opencode: [
    '.config/opencode/opencode.json',
    `{\n  "$schema": "https://opencode.example/config.json",\n  "mcp": {\n    "files": { "type": "local", "command": ["npx", "-y", "files"], "environment": { "API_KEY": "${SECRET}" } },\n    "web": { "type": "remote", "url": "https://mcp.example/mcp", "headers": { "Authorization": "Bearer {env:WEB_TOKEN}" } }\n  }\n}\n`,
  ],
  goose: [
    '.config/goose/config.yaml',
    `# goose\nGOOSE_MODEL: m\nextensions:\n  developer: # built in\n    type: builtin\n    enabled: true\n  files:\n    name: files\n    type: stdio\n    enabled: true\n    cmd: npx\n    args: [-y, files]\n    envs: { API_KEY: ${SECRET} }\n  web:\n    type: streamable_http\n    enabled: true\n    uri: https://mcp.example/mcp\n`,
  ],
};

let terminal: Terminal;
let home: string | undefined;
beforeEach(() => {
  terminal = openTerminal('# ours\n');
  home = process.env.HOME;
  process.env.HOME = terminal.home;
});
afterEach(() => {
  process.env.HOME = home;
  terminal.close();
});

const place = (client: string): { path: string; text: string } => {
  const [file, text] = SAMPLES[client] ?? ['', ''];
  const path = join(terminal.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return { path, text };
};

const config = (): string => readFileSync(join(terminal.home, 'config.toml'), 'utf8');

describe.each(Object.keys(SAMPLES))('servers import --from %s', (client) => {
  it('moves the servers behind Countersign, keeps secrets out of every file but one, and undoes it to the byte', async () => {
    const { path, text } = place(client);
    const dry = await terminal.run('servers', 'import', '--from', client, '--dry-run');
    expect(dry).toMatchObject({ code: 0, err: '' });
    expect(dry.out).toContain('npx');
    expect(dry.out).not.toContain(SECRET);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(config()).toBe('# ours\n');

    const done = await terminal.run('servers', 'import', '--from', client);
    expect(done).toMatchObject({ code: 0, err: '' });
    const after = readFileSync(path, 'utf8');
    expect(after).toContain('countersign');
    expect(after).not.toContain('mcp.example/mcp');
    expect(after).not.toContain(SECRET);
    expect(config()).toMatch(/\[servers\.files(-server)?\]/);
    expect(config()).not.toContain(SECRET);
    // The record for undoing holds the old file in base64; like the secret file its owner alone can read it.
    const holding = execFileSync('grep', ['-rlE', SECRET, terminal.home], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(holding.every((file) => /secrets\.json$/.test(file))).toBe(true);
    const servers = await terminal.json<{ state: string }[]>('servers');
    expect(servers.every(({ state }) => state === 'quarantined')).toBe(true);

    const undone = await terminal.run('servers', 'import', '--undo');
    expect(undone).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(config()).toBe('# ours\n');
    expect((await terminal.run('secrets')).out).toContain('No secrets are stored');
  });
});

describe('what an import takes from a client', () => {
  it('keeps comments and formatting of what it does not replace', async () => {
    const { path } = place('cursor');
    await terminal.run('servers', 'import', '--from', 'cursor');
    expect(readFileSync(path, 'utf8')).toMatch(/^\{\n\t\/\/ mine\n\t"mcpServers": \{\n\t\t"countersign": \{/);
    const codex = place('codex');
    await terminal.run('servers', 'import', '--from', 'codex');
    const text = readFileSync(codex.path, 'utf8');
    expect(text).toContain('model = "o" # keep');
    expect(text).toContain('[tui]\ntheme = "x"');
  });

  it('turns variables into references and refuses forms that only the client resolves', async () => {
    place('claude-code');
    place('vscode');
    place('opencode');
    const { files } = await terminal.json<{
      files: { client: string; servers: object[]; skipped: object[] }[];
    }>('servers', 'import', '--dry-run');
    const of = (client: string) => files.find((one) => one.client === client);
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references as they are written in the file
    expect(of('claude-code')?.servers[0]).toMatchObject({
      env: { API_KEY: '${secret:files.API_KEY}', HOME_DIR: '${env:HOME}' },
    });
    expect(of('vscode')?.skipped).toEqual([
      { name: 'asks', problem: 'uses ${input:key} in API_KEY, which only the client resolves' },
    ]);
    expect(of('opencode')?.servers[1]).toMatchObject({
      headers: { Authorization: 'Bearer ${env:WEB_TOKEN}' },
    });
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references as they are written in the file
  });

  it('leaves built-in and disabled servers where they are, and takes no approval settings', async () => {
    const goose = place('goose');
    const windsurf = place('windsurf');
    place('gemini');
    await terminal.run('servers', 'import');
    const extensions = readFileSync(goose.path, 'utf8');
    expect(extensions).toMatch(/developer:\s+# built in\s+type: builtin/);
    expect(extensions).not.toContain('npx');
    expect(JSON.parse(readFileSync(windsurf.path, 'utf8')).mcpServers.off).toEqual({
      command: 'x',
      disabled: true,
    });
    expect(config()).not.toMatch(/trust|approve/i);
    expect(config()).toContain('[servers.old]\nurl = "https://mcp.example/sse"\ntransport = "sse"');
  });

  it('imports from a file by its path, and refuses to undo into one that cannot be edited unless forced', async () => {
    const { path, text } = place('cursor');
    await terminal.run('servers', 'import', '--from', path);
    writeFileSync(path, '{ not json');
    const refused = await terminal.run('servers', 'import', '--undo');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('Changed since the import');
    expect((await terminal.run('servers', 'import', '--undo', '--force')).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('reports a file that cannot be read and continues with the others', async () => {
    place('gemini');
    const { path } = place('cursor');
    writeFileSync(path, '{ not json');
    const done = await terminal.run('servers', 'import', '--dry-run');
    expect(done.err).toContain(`Warning: ${path}`);
    expect(done.out).toContain('gemini');
  });

  it('moves credentials out of arguments, addresses and connection strings, and reads a file with a mark', async () => {
    const { path } = place('cursor');
    const servers = {
      pg: {
        command: 'pg',
        args: ['--token', SECRET, `--api-key=${SECRET}`, `postgres://u:${SECRET}@h/db`, 'plain'],
        env: { DATABASE_URL: `postgres://u:${SECRET}@h/db` },
      },
      web: { url: `https://mcp.example/mcp?api_key=${SECRET}&region=eu` },
    };
    const text = `\ufeff${JSON.stringify({ mcpServers: servers }, null, 2).replaceAll('\n', '\r\n')}\r\n`;
    writeFileSync(path, text);
    const done = await terminal.run('servers', 'import', '--from', 'cursor');
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).not.toContain(SECRET);
    expect(done.out).toContain('An argument is a credential');
    expect(config()).not.toContain(SECRET);
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references as they are written in the file
    expect(config()).toContain('"--api-key=${secret:pg.argument-3}"');
    expect(config()).toContain('url = "https://mcp.example/mcp?api_key=${secret:web.api_key}&region=eu"');
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references as they are written in the file
    expect(readFileSync(path, 'utf8')).toMatch(/^\ufeff\{\r\n/);
    expect((await terminal.run('servers', 'import', '--undo')).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('resolves the forms of each client or says why it cannot', async () => {
    const { path: gemini } = place('gemini');
    const entry = { command: 'g', env: { API_KEY: '$GEM_KEY' }, excludeTools: ['rm'] };
    writeFileSync(gemini, JSON.stringify({ mcpServers: { g: entry } }));
    const { path: opencode } = place('opencode');
    const file = { type: 'local', command: ['o'], environment: { TOKEN: '{file:~/.token}' } };
    writeFileSync(opencode, JSON.stringify({ mcp: { o: file } }));
    const { path: goose } = place('goose');
    writeFileSync(goose, 'extensions:\n  k:\n    type: stdio\n    cmd: k\n    env_keys: [K_TOKEN]\n');
    const { path: codex } = place('codex');
    writeFileSync(codex, '[mcp_servers.c]\ncommand = "c"\nenv_vars = ["C_TOKEN"]\n');
    const { files } = await terminal.json<{
      files: { client: string; servers: { env: object; warnings: string[] }[]; skipped: object[] }[];
    }>('servers', 'import', '--dry-run');
    const of = (client: string) => files.find((one) => one.client === client);
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references as they are written in the file
    expect(of('gemini')?.servers).toMatchObject([{ env: { API_KEY: '${env:GEM_KEY}' } }]);
    expect(of('gemini')?.servers[0]?.warnings).toEqual([expect.stringContaining('restricts its tools')]);
    expect(of('opencode')?.skipped).toMatchObject([{ problem: expect.stringContaining('{file:~/.token}') }]);
    expect(of('goose')?.skipped).toMatchObject([{ problem: expect.stringContaining('K_TOKEN') }]);
    expect(of('codex')?.servers).toMatchObject([{ env: { C_TOKEN: '${env:C_TOKEN}' } }]);
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references as they are written in the file
  });

  it('names the clients where neither a client nor a file is given', async () => {
    const wrong = await terminal.run('servers', 'import', '--from', 'curser');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('curser is neither a file nor a known client: claude-code');
  });
});
