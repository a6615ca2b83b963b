import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml, stringify as writeToml } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createHome, type Home } from './support.ts';

type Entry = Readonly<Record<string, unknown>>;

interface Case {
  readonly client: string;
  readonly file: string;
  readonly table: string;
  /** Undefined: init creates the file. */
  readonly before?: string;
  /** What the client or a person makes of the file afterwards. */
  readonly rewritten: (entry: Entry) => string;
  readonly undone: string;
}

const json = (value: unknown): string => JSON.stringify(value);
const asToml = (countersign: Entry): string => writeToml({ mcp_servers: { countersign } }).trim();

const CASES: readonly Case[] = [
  {
    client: 'claude-code',
    file: '.claude.json',
    table: 'mcpServers',
    before: '{\n  "numStartups": 3\n}\n',
    rewritten: (entry) =>
      `{"mcpServers":{"countersign":${json(entry)}},"numStartups":4,"projects":{"/home/ada":{"hasTrustDialogAccepted":true}}}`,
    undone: '{"numStartups":4,"projects":{"/home/ada":{"hasTrustDialogAccepted":true}}}',
  },
  {
    client: 'claude-desktop',
    file: '.config/Claude/claude_desktop_config.json',
    table: 'mcpServers',
    before: '{"mcpServers":{"files":{"command":"npx"}},"theme":"dark"}',
    rewritten: (entry) =>
      `{\n    "theme": "light",\n    "mcpServers": {\n        "countersign": ${json(entry)},\n        "web": {\n            "command": "web"\n        },\n        "files": { "command": "npx" }\n    }\n}`,
    undone:
      '{\n    "theme": "light",\n    "mcpServers": {\n        "web": {\n            "command": "web"\n        },\n        "files": { "command": "npx" }\n    }\n}',
  },
  {
    client: 'cursor',
    file: '.cursor/mcp.json',
    table: 'mcpServers',
    before: '{\n\t"mcpServers": { }\n}\n',
    rewritten: (entry) =>
      `{\n\t// mine\n\t"mcpServers": {\n\t\t"web": { "url": "https://mcp.example/mcp" }, // remote\n\t\t// above\n\t\t"countersign": ${json(entry)} /* after */ , // behind\n\t\t// below\n\t\t"other": {},\n\t},\n}\n`,
    undone:
      '{\n\t// mine\n\t"mcpServers": {\n\t\t"web": { "url": "https://mcp.example/mcp" }, // remote\n\t\t// above\n\t\t /* after */  // behind\n\t\t// below\n\t\t"other": {},\n\t},\n}\n',
  },
  {
    client: 'vscode',
    file: '.config/Code/User/mcp.json',
    table: 'servers',
    before: '{\r\n  "inputs": []\r\n}\r\n',
    rewritten: (entry) =>
      `{\r\n  "servers": {\r\n    "added": {}, // since\r\n    "countersign": {\r\n      "env": ${json(entry.env)},\r\n      "command": ${json(entry.command)},\r\n      "args": ${json(entry.args)}\r\n    }\r\n  },\r\n  "inputs": []\r\n}\r\n`,
    undone: '{\r\n  "servers": {\r\n    "added": {} // since\r\n  },\r\n  "inputs": []\r\n}\r\n',
  },
  {
    client: 'codex',
    file: '.codex/config.toml',
    table: 'mcp_servers',
    rewritten: (entry) =>
      `model = "gpt" # mine\n\n${asToml(entry)}\n\n[mcp_servers.countersign.tools.x]\nenabled = true\n\n# trusted by me\n[projects."/home/ada"]\ntrust_level = "trusted"\n`,
    undone: 'model = "gpt" # mine\n\n# trusted by me\n[projects."/home/ada"]\ntrust_level = "trusted"\n',
  },
  {
    client: 'codex',
    file: '.codex/config.toml',
    table: 'mcp_servers',
    before: '# empty\n',
    rewritten: ({ command, args, env }) =>
      `# empty\ntext = """\n[mcp_servers.countersign]\n"""\n[mcp_servers]\n# mine\nfiles = { command = "npx" }\ncountersign.command = ${json(command)}\ncountersign.args = [\n${(args as string[]).map((one) => `  ${json(one)}, # part\n`).join('')}]\ncountersign.env = { COUNTERSIGN_TOKEN = ${json((env as Entry).COUNTERSIGN_TOKEN)} }\n[tui]\ntheme = "x"\n`,
    undone:
      '# empty\ntext = """\n[mcp_servers.countersign]\n"""\n[mcp_servers]\n# mine\nfiles = { command = "npx" }\n[tui]\ntheme = "x"\n',
  },
  {
    client: 'gemini',
    file: '.gemini/settings.json',
    table: 'mcpServers',
    before: '{}',
    rewritten: (entry) =>
      `{\n  "security": { "auth": { "selectedType": "oauth" } },\n  "mcpServers": { "countersign": ${json(entry)} }\n}`,
    undone: '{\n  "security": { "auth": { "selectedType": "oauth" } }\n}',
  },
  {
    client: 'windsurf',
    file: '.codeium/windsurf/mcp_config.json',
    table: 'mcpServers',
    before: '{"mcpServers":{}}',
    rewritten: (entry) => `{"mcpServers":{"a":{},"countersign":${json({ ...entry, disabled: false })}}}`,
    undone: '{"mcpServers":{"a":{}}}',
  },
  {
    client: 'zed',
    file: '.config/zed/settings.json',
    table: 'context_servers',
    before: '// Zed\n{ "vim_mode": true }\n',
    rewritten: (entry) =>
      `// Zed\n{\n  "context_servers": {\n    // nothing else here\n    "countersign": ${json(entry)},\n  },\n  "vim_mode": true, // yes\n}\n`,
    undone:
      '// Zed\n{\n  "context_servers": {\n    // nothing else here\n  },\n  "vim_mode": true, // yes\n}\n',
  },
  {
    client: 'opencode',
    file: '.config/opencode/opencode.jsonc',
    table: 'mcp',
    before: '{ "mcp": { "files": {} } }',
    // The newer version of its configuration.
    rewritten: (entry) =>
      `{\n  "mcp": {\n    "servers": {\n      "countersign": ${json(entry)},\n      "files": {}\n    }\n  }\n}\n`,
    undone: '{\n  "mcp": {\n    "servers": {\n      "files": {}\n    }\n  }\n}\n',
  },
  {
    client: 'goose',
    file: '.config/goose/config.yaml',
    table: 'extensions',
    before: 'extensions:\n  developer:\n    enabled: true\n',
    rewritten: (entry) =>
      `# goose\nGOOSE_MODEL:   m\nextensions:\n    added:   {enabled: true,type: builtin}\n    # ours\n    countersign:\n        timeout: 300\n        envs: ${json(entry.envs)}\n        cmd: ${json(entry.cmd)}\n        args:\n        - ${(entry.args as string[]).map(json).join('\n        - ')} # end\n\n    # theirs\n    developer: {enabled: false}   # off\nlist: [1,2]\n`,
    undone:
      '# goose\nGOOSE_MODEL:   m\nextensions:\n    added:   {enabled: true,type: builtin}\n    # ours\n\n    # theirs\n    developer: {enabled: false}   # off\nlist: [1,2]\n',
  },
];

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.close());

const at = (file: string): string => join(home.dir, file);
const read = (file: string): string => readFileSync(at(file), 'utf8');
const token = (entry: Entry): string =>
  String(((entry.env ?? entry.envs ?? entry.environment) as Entry | undefined)?.COUNTERSIGN_TOKEN);

function write(file: string, text: string): void {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
}

function entryIn(file: string, table: string): Entry {
  const text = read(file);
  const root = (
    file.endsWith('.toml')
      ? parseToml(text)
      : file.endsWith('.yaml')
        ? parseYaml(text)
        : parseJson(text, [], { allowTrailingComma: true })
  ) as Record<string, Record<string, Entry>>;
  return root[table]?.countersign ?? {};
}

const agents = (): { name: string; revokedAt?: string }[] =>
  JSON.parse(home.cli('--json', 'agents')) as { name: string; revokedAt?: string }[];
const activeAgents = (): string[] => agents().flatMap(({ name, revokedAt }) => (revokedAt ? [] : [name]));

describe('init --undo after a client has rewritten its file', () => {
  it.each(CASES)(
    'removes only its own entry: $client, $file',
    ({ client, file, table, before, rewritten, undone }) => {
      if (before !== undefined) write(file, before);
      home.cli('init', '--yes', '--client', client);
      const entry = entryIn(file, table);
      expect(token(entry)).toMatch(/^cs_/);
      expect(activeAgents()).toEqual([client]);
      if (before === undefined) expect(statSync(at(file)).mode & 0o077).toBe(0);
      write(file, rewritten(entry));

      const { status, stdout, stderr } = home.failing('init', '--undo');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(at(file));
      expect(read(file)).toBe(undone);
      expect(activeAgents()).toEqual([]);
      expect(home.failing('init', '--undo').stderr).toContain('Nothing to undo');
    },
  );

  it('deletes a file that it created once nothing else is in it, and no other', () => {
    for (const client of ['cursor', 'codex', 'goose']) home.cli('init', '--yes', '--client', client);
    write(
      '.cursor/mcp.json',
      `{ "mcpServers": { "countersign": ${json(entryIn('.cursor/mcp.json', 'mcpServers'))} } }`,
    );
    write('.codex/config.toml', `${read('.codex/config.toml')}# my note\n`);
    write('.config/goose/config.yaml', read('.config/goose/config.yaml').replace(/^/gm, ' '));
    for (let count = 0; count < 3; count += 1) home.cli('init', '--undo', '--force');
    expect(existsSync(at('.cursor/mcp.json'))).toBe(false);
    expect(read('.codex/config.toml').trim()).toBe('# my note');
    expect(existsSync(at('.config/goose/config.yaml'))).toBe(false);
  });

  it('puts back the entry that init had updated, in the rewritten file', () => {
    const earlier = { command: 'old', env: { COUNTERSIGN_TOKEN: 'cs_mine' }, disabled: true };
    write('.cursor/mcp.json', json({ mcpServers: { countersign: earlier } }));
    home.cli('init', '--yes', '--client', 'cursor');
    expect(agents()).toEqual([]);
    const entry = entryIn('.cursor/mcp.json', 'mcpServers');
    expect(token(entry)).toBe('cs_mine');
    write('.cursor/mcp.json', json({ theme: 'dark', mcpServers: { web: {}, countersign: entry } }));
    home.cli('init', '--undo');
    expect(JSON.parse(read('.cursor/mcp.json'))).toEqual({
      theme: 'dark',
      mcpServers: { web: {}, countersign: earlier },
    });
  });

  it('leaves an entry that a person has changed to something else, and its agent, until it is forced', () => {
    write('.cursor/mcp.json', '{}');
    home.cli('init', '--yes', '--client', 'cursor', '--client', 'codex');
    const changed = '{"mcpServers":{"countersign":{"url":"https://me.example/mcp"},"web":{}},"theme":1}';
    write('.cursor/mcp.json', changed);
    const { status, stderr } = home.failing('init', '--undo');
    expect(status).toBe(1);
    expect(stderr).toContain(`${at('.cursor/mcp.json')} was left unchanged`);
    expect(stderr).toContain('countersign agents revoke cursor');
    expect(read('.cursor/mcp.json')).toBe(changed);
    expect(existsSync(at('.codex/config.toml'))).toBe(false);
    expect(activeAgents()).toEqual(['cursor']);
    expect(JSON.parse(home.cli('--json', 'init', '--undo', '--force'))).toEqual({
      restored: [at('.cursor/mcp.json')],
      revoked: ['cursor'],
      left: [],
    });
    expect(read('.cursor/mcp.json')).toBe('{"mcpServers":{"web":{}},"theme":1}');
  });

  it('changes nothing in a file that it cannot read, also when forced', () => {
    write('.codex/config.toml', 'model = "o"\n');
    home.cli('init', '--yes', '--client', 'codex');
    write('.codex/config.toml', 'model = [\n');
    for (const args of [
      ['init', '--undo'],
      ['init', '--undo', '--force'],
    ]) {
      expect(home.failing(...args)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('Remove the entry `countersign` by hand'),
      });
      expect(read('.codex/config.toml')).toBe('model = [\n');
    }
  });

  it('undoes what an earlier version wrote and recorded', () => {
    write(
      '.claude.json',
      '{"mcpServers":{"countersign":{"command":"npx","args":["-y","countersign","mcp","serve"]}},"numStartups":9}',
    );
    mkdirSync(at('init'));
    write(
      'init/2026-01-01T00-00-00.000Z.json',
      json({
        at: '2026-01-01T00:00:00.000Z',
        files: [{ path: at('.claude.json'), before: null, after: '0' }],
      }),
    );
    home.cli('init', '--undo', '--force');
    expect(read('.claude.json')).toBe('{"numStartups":9}');
  });
});

describe('servers import --undo after a client has rewritten its file', () => {
  it('puts each moved server back and keeps everything else, also the token that init gave the client', () => {
    const files = { url: 'https://mcp.example/mcp' };
    write('.cursor/mcp.json', json({ mcpServers: { files, web: { command: 'web' } } }));
    write('.codex/config.toml', '[mcp_servers.notes]\ncommand = "notes"\n');
    home.cli('init', '--yes', '--client', 'cursor');
    const own = entryIn('.cursor/mcp.json', 'mcpServers');
    home.cli('servers', 'import');
    expect(JSON.parse(read('.cursor/mcp.json'))).toEqual({ mcpServers: { countersign: own } });
    const web = { command: 'mine' };
    write('.cursor/mcp.json', json({ theme: 'dark', mcpServers: { added: {}, web, countersign: own } }));
    write(
      '.codex/config.toml',
      `${read('.codex/config.toml')}\n[projects."/home/ada"]\ntrust_level = "trusted"\n`,
    );

    home.cli('servers', 'import', '--undo');
    expect(JSON.parse(read('.cursor/mcp.json'))).toEqual({
      theme: 'dark',
      mcpServers: { added: {}, web, countersign: own, files },
    });
    expect(parseToml(read('.codex/config.toml'))).toEqual({
      mcp_servers: { notes: { command: 'notes' } },
      projects: { '/home/ada': { trust_level: 'trusted' } },
    });
    expect(JSON.parse(home.cli('--json', 'servers'))).toEqual([]);
  });
});

describe('what init writes', () => {
  it('is the path of the program that runs, and an agent of its own for each client whose token is never printed', () => {
    const files = { cursor: '.cursor/mcp.json', gemini: '.gemini/settings.json' };
    const run = (...args: string[]) =>
      home.failing('init', '--client', 'cursor', '--client', 'gemini', ...args);
    const printed = [run(), run('--yes'), run('--yes'), run('--json')];
    const entries = Object.values(files).map((file) => entryIn(file, 'mcpServers'));
    const tokens = entries.map(token);
    expect(new Set(tokens).size).toBe(2);
    for (const { stdout, stderr } of printed)
      for (const secret of [...tokens, 'cs_']) expect(stdout + stderr).not.toContain(secret);
    expect(printed[1]?.stdout).toContain('Agents: cursor, gemini.');
    expect(printed[2]?.stdout).toContain('Cursor is already connected.');
    expect(activeAgents()).toEqual(['cursor', 'gemini']);
    for (const { command, args } of entries) {
      expect(isAbsolute(String(command))).toBe(true);
      expect(args).toEqual([home.main, 'mcp', 'serve']);
    }

    home.cli('init', '--undo');
    expect(run('--yes').stdout).toContain('Agents: cursor-2, gemini-2.');
  });

  it('lets Claude Code and Gemini CLI call it unasked only with --allow-tools, and undoes exactly that', () => {
    const clients = ['--client', 'claude-code', '--client', 'gemini'];
    const settings = '{\n  "permissions": {\n    "allow": ["Bash(ls)"], // mine\n    "deny": []\n  }\n}\n';
    write('.claude/settings.json', settings);
    const { stdout } = home.failing('init', '--yes', ...clients);
    expect(stdout).toContain(
      'Claude Code and Gemini CLI will also ask you about each call. With --allow-tools',
    );
    expect(read('.claude/settings.json')).toBe(settings);
    expect(entryIn('.gemini/settings.json', 'mcpServers')).not.toHaveProperty('trust');

    expect(home.cli('init', '--yes', '--allow-tools', ...clients)).toContain(
      'Countersign asks you where your policy requires it',
    );
    expect(parseJson(read('.claude/settings.json'))).toEqual({
      permissions: { allow: ['Bash(ls)', 'mcp__countersign'], deny: [] },
    });
    expect(entryIn('.gemini/settings.json', 'mcpServers')).toHaveProperty('trust', true);
    write(
      '.claude/settings.json',
      '{ "permissions": { "deny": [], "allow": [ "mcp__countersign", "Bash(ls)", "Read" ] }, "model": "opus" }',
    );
    home.cli('init', '--undo');
    expect(read('.claude/settings.json')).toBe(
      '{ "permissions": { "deny": [], "allow": [ "Bash(ls)", "Read" ] }, "model": "opus" }',
    );
    expect(entryIn('.gemini/settings.json', 'mcpServers')).not.toHaveProperty('trust');
    expect(activeAgents()).toEqual(['claude-code', 'gemini']);
    home.cli('init', '--undo');
    expect(existsSync(at('.claude.json'))).toBe(false);
    expect(activeAgents()).toEqual([]);
  });

  it('creates and deletes the settings of Claude Code if there were none, and keeps a permission of the person', () => {
    home.cli('init', '--yes', '--allow-tools', '--client', 'claude-code');
    write('.claude/settings.json', '{"permissions":{"allow":["mcp__countersign"]}}');
    home.cli('init', '--undo');
    expect(existsSync(at('.claude/settings.json'))).toBe(false);
    const own = '{"permissions":{"allow":["mcp__countersign"]}}';
    write('.claude/settings.json', own);
    home.cli('init', '--yes', '--allow-tools', '--client', 'claude-code');
    home.cli('init', '--undo');
    expect(read('.claude/settings.json')).toBe(own);
  });
});
