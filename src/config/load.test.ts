import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configSection } from '../contract/config.ts';
import { type LoadOptions, loadConfig } from './load.ts';
import { ConfigError } from './path.ts';

const forge = configSection('forge', 'A section a toolkit adds.', () =>
  z.object({
    token: z.string().min(8).optional().describe('Token.').meta({ secret: true }),
    retries: z.number().int().min(0).max(5).default(2).describe('Retries.'),
    slots: z
      .union([z.literal('auto'), z.array(z.string())])
      .default([])
      .describe('Slots.'),
    zone: z
      .string()
      .refine((zone) => zone !== 'Mars', 'must be a zone on Earth')
      .default('UTC')
      .describe('Zone.'),
    base: z.url().default('https://example.org').describe('Address.'),
    // Not strict on purpose: unknown keys inside must be found all the same.
    repos: z
      .record(
        z.string(),
        z.object({ path: z.string(), keys: z.array(z.string().meta({ secret: true })).default([]) }),
      )
      .default({})
      .describe('Repos.'),
  }),
);

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'countersign-config-'));
  file = join(home, 'config.toml');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const load = (toml: string | undefined, options: Partial<LoadOptions> = {}) => {
  if (toml !== undefined) writeFileSync(file, toml);
  return loadConfig({ sections: [forge], ...options, env: { COUNTERSIGN_HOME: home, ...options.env } });
};

const messageOf = (toml: string | undefined, options: Partial<LoadOptions> = {}): string => {
  try {
    load(toml, options);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message.replaceAll(file, 'config.toml');
  }
  throw new Error('the configuration was accepted');
};

describe('layers', () => {
  it('gives the defaults when the default file does not exist', () => {
    const config = load(undefined);
    expect(config).toMatchObject({
      mode: 'autopilot',
      approvalMode: false,
      profile: 'write',
      path: file,
      dataDir: home,
    });
    expect(config.policy).toMatchObject({
      template: 'safe_default',
      require_approval_for: [],
    });
    expect(config.approvals).toEqual({
      expiry_hours: 24,
      hold_seconds: 8,
      agents_may_approve: false,
      dialogs: 'local',
      without_terminal: false,
      passkey: 'off',
      max_pending_per_agent: 10_000,
      notify: { desktop: true, webhook_kind: 'json' },
    });
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 8765, allowed_hosts: [] });
    expect(config.storageUrl).toBe(join(home, 'countersign.db'));
  });

  it('requires the domain of passkeys to be that of the public address, or a parent of it', () => {
    const toml = (domain: string, url = 'https://sign.example.org') =>
      `[server]\n${url && `public_url = "${url}"\n`}[approvals]\nrp_id = "${domain}"`;
    for (const domain of ['sign.example.org', 'example.org'])
      expect(load(toml(domain)).approvals.rp_id).toBe(domain);
    for (const domain of ['other.org', 'gn.example.org', 'a.sign.example.org'])
      expect(() => load(toml(domain))).toThrow('is not sign.example.org or a parent domain of it');
    expect(() => load(toml('example.org', ''))).toThrow('needs server.public_url');
  });

  it('lets the environment win over the file and a flag over both', () => {
    const toml = '[server]\nport = 1\nhost = "a"\nallowed_hosts = ["a"]';
    const env = { COUNTERSIGN_SERVER__PORT: '2', COUNTERSIGN_SERVER__HOST: 'b' };
    const config = load(toml, { env, flags: { 'server.port': '3', 'server.host': undefined } });
    expect(config.server).toMatchObject({ port: 3, host: 'b', allowed_hosts: ['a'] });
  });

  it('turns environment text into the kind of value the field wants', () => {
    const config = load(undefined, {
      env: {
        COUNTERSIGN_MODE: 'composer',
        COUNTERSIGN_MCP_POLICY__DRY_RUN_MUTATIONS: 'yes',
        COUNTERSIGN_MCP_POLICY__BLOCKED_TOOLS: 'x_post, x_put',
        COUNTERSIGN_MCP_POLICY__RULES: '[{"id":"a","action":"deny"}]',
        COUNTERSIGN_APPROVALS__NOTIFY__DESKTOP: '0',
        COUNTERSIGN_FORGE__SLOTS: '09:00,10:00',
        COUNTERSIGN_FORGE__REPOS: '{"main":{"path":"/tmp"}}',
        COUNTERSIGN_LOG__LEVEL: '',
      },
    });
    expect(config.approvalMode).toBe(true);
    expect(config.policy).toMatchObject({ dry_run_mutations: true, blocked_tools: ['x_post', 'x_put'] });
    expect(config.policy.rules[0]).toMatchObject({ id: 'a', action: 'deny', priority: 100, enabled: true });
    expect(config.approvals.notify.desktop).toBe(false);
    expect(config.section(forge)).toMatchObject({
      slots: ['09:00', '10:00'],
      repos: { main: { path: '/tmp' } },
    });
    expect(load(undefined, { env: { COUNTERSIGN_FORGE__SLOTS: 'auto' } }).section(forge).slots).toBe('auto');
    expect(config.log.level).toBe('info');
  });

  it('freezes every value', () => {
    const config = load('[forge.repos.main]\npath = "/a"');
    expect(() => Object.assign(config, { mode: 'composer' })).toThrow(TypeError);
    expect(() => config.policy.blocked_tools.push('x')).toThrow(TypeError);
    expect(() => Object.assign(config.section(forge).repos.main ?? {}, { path: 'b' })).toThrow(TypeError);
  });
});

describe('mistakes in the file', () => {
  it.each([
    [
      'mode = "autopilott"',
      'config.toml:1: mode: must be one of "autopilot", "composer", not "autopilott"; did you mean "autopilot"?',
    ],
    [
      '\n[mcp_polcy]\n',
      'config.toml:2: mcp_polcy: is neither a known key nor a known section; did you mean "mcp_policy"?',
    ],
    [
      '# hi\n[mcp_policy]\nblocked_tool = []',
      'config.toml:3: mcp_policy.blocked_tool: is not a known key; did you mean "blocked_tools"?',
    ],
    ['[log]\nzebra = 1', 'config.toml:2: log.zebra: is not a known key; known here: level'],
    ['[server]\nport = "8765"', 'config.toml:2: server.port: must be a number, not "8765"'],
    ['[server]\nport = 1.5', 'config.toml:2: server.port: must be an integer, not 1.5'],
    ['[server]\nport = 70000', 'config.toml:2: server.port: must be at most 65535, not 70000'],
    ['[approvals]\nhold_seconds = 31', 'config.toml:2: approvals.hold_seconds: must be at most 30, not 31'],
    ['[approvals]\nexpiry_hours = 0', 'config.toml:2: approvals.expiry_hours: must be more than 0, not 0'],
    [
      '[mcp_policy]\ndry_run_mutations = 1',
      'config.toml:2: mcp_policy.dry_run_mutations: must be true or false, not 1',
    ],
    [
      '[mcp_policy]\nblocked_tools = "x_post"',
      'config.toml:2: mcp_policy.blocked_tools: must be a list, not "x_post"',
    ],
    ['[server]\nhost = ""', 'config.toml:2: server.host: must not be empty'],
    ['toolkits = []', 'config.toml:1: toolkits: must not be an empty list'],
    ['server = 3', 'config.toml:1: server: must be a table, not 3'],
    [
      '[forge]\nbase = "example"',
      'config.toml:2: forge.base: must be a full URL such as https://example.org, not "example"',
    ],
    ['[forge]\nzone = "Mars"', 'config.toml:2: forge.zone: must be a zone on Earth, not "Mars"'],
    ['[forge]\nslots = 3', 'config.toml:2: forge.slots: must be "auto", not 3, or must be a list, not 3'],
    [
      '[server]\ntcp = "nowhere"',
      'config.toml:2: server.tcp: must be an address such as 127.0.0.1:8090, not "nowhere"',
    ],
    [
      '[forge.repos.main]\npath = "/"\npth = 1',
      'config.toml:3: forge.repos.main.pth: is not a known key; did you mean "path"?',
    ],
    ['[forge.repos.main]\nkeys = []', 'config.toml:1: forge.repos.main.path: is missing'],
    ['[server]\nport = 1979-05-27', 'config.toml:2: server.port: must be a number, not a date'],
  ])('%j is refused with the line and what is wrong', (toml, message) => {
    expect(messageOf(toml)).toBe(message);
  });

  it('counts the entries of a list of tables and finds the line of each', () => {
    const toml =
      '[[mcp_policy.rules]]\nid = "a"\naction = "deny"\n\n[[mcp_policy.rules]]\nid = "b b"\naction = "denie"';
    expect(messageOf(toml)).toBe(
      'config.toml:6: mcp_policy.rules[1].id: must be letters, digits, dots, dashes and underscores, not "b b"\n' +
        'config.toml:7: mcp_policy.rules[1].action: must be one of "allow", "ask", "dry_run", "deny", not "denie"; did you mean "deny"?',
    );
  });

  it('names the line of the table when a key is missing from it', () => {
    expect(messageOf('\n[[mcp_policy.rules]]\naction = "deny"')).toBe(
      'config.toml:2: mcp_policy.rules[0].id: is missing',
    );
  });

  it('finds the first line of a value that spans several', () => {
    expect(messageOf('[mcp_policy]\nblocked_tools = [\n  "a",\n  3,\n]')).toBe(
      'config.toml:2: mcp_policy.blocked_tools[1]: must be a string in quotes, not 3',
    );
  });

  it('lists all mistakes together in the order of the file', () => {
    const message = messageOf('mode = "x"\n[log]\nlevel = 3\n[server]\nprt = 1');
    expect(message.split('\n').map((line) => line.split(': ')[0])).toEqual([
      'config.toml:1',
      'config.toml:3',
      'config.toml:5',
    ]);
  });

  it('names the line where the file stops being TOML', () => {
    expect(messageOf('mode = "composer"\n[server\nport = 1')).toMatch(/^config\.toml:2: invalid TOML: /);
  });

  it('refuses keys that could reach into object prototypes', () => {
    const refused = 'invalid TOML: the key __proto__ is not allowed; choose another name';
    expect(messageOf('[forge.repos]\n__proto__ = 1')).toBe(`config.toml:2: ${refused}`);
    expect(messageOf('mode = "autopilot"\n[servers.__proto__]\ncommand = "node"')).toBe(
      `config.toml:2: ${refused}`,
    );
    expect(messageOf('[forge.repos]\n"\\U0000005f_proto__" = 1')).toBe(`config.toml:1: ${refused}`);
  });

  it('never quotes a secret', () => {
    expect(messageOf('[forge]\ntoken = "hunter2"')).toBe(
      'config.toml:2: forge.token: must have at least 8 characters',
    );
    expect(messageOf('[forge]\ntoken = 12345')).toBe(
      'config.toml:2: forge.token: must be a string in quotes, not what is written',
    );
  });

  it('refuses an unknown toolkit', () => {
    expect(messageOf('toolkits = ["x", "reserch"]', { toolkits: ['x', 'research'] })).toBe(
      'config.toml:1: toolkits[1]: "reserch" is not a known toolkit; did you mean "research"?',
    );
  });
});

describe('mistakes elsewhere', () => {
  it('refuses a missing file that was asked for by name', () => {
    const missing = join(home, 'other.toml');
    expect(() => load(undefined, { path: missing })).toThrow(
      `${missing}: configuration file not found; run \`countersign init\` to create one`,
    );
  });

  it('says so when the file cannot be read', () => {
    expect(() => load(undefined, { path: home })).toThrow(
      `${home}: the configuration file cannot be read: this is a directory, not a file; name another with -c`,
    );
  });

  it('names the environment variable whose value is wrong', () => {
    expect(messageOf(undefined, { env: { COUNTERSIGN_SERVER__PORT: 'abc' } })).toBe(
      'environment COUNTERSIGN_SERVER__PORT: server.port: must be a number, not "abc"',
    );
  });

  it.each([
    [
      'COUNTERSIGN_SERVER__PROT',
      'environment COUNTERSIGN_SERVER__PROT: is not a known setting; did you mean COUNTERSIGN_SERVER__PORT?',
    ],
    [
      'COUNTERSIGN_MODEE',
      'environment COUNTERSIGN_MODEE: is not a known setting; did you mean COUNTERSIGN_MODE?',
    ],
    ['COUNTERSIGN_ZEBRA__CROSSING', 'environment COUNTERSIGN_ZEBRA__CROSSING: is not a known setting'],
  ])('refuses the variable %s, which sets nothing', (name, message) => {
    expect(messageOf(undefined, { env: { [name]: '1' } })).toBe(message);
  });

  it('leaves a variable alone that is no near miss of a setting', () => {
    expect(load(undefined, { env: { COUNTERSIGN_TEST_POSTGRES_PORT: '1' } }).mode).toBe('autopilot');
  });

  it('names the flag whose value is wrong', () => {
    expect(messageOf('profile = "admin"', { flags: { profile: 'writ' } })).toContain(
      'flag --profile: profile: must be one of "readonly", "api-readonly", "write", "admin", not "writ"; did you mean "write"?',
    );
  });

  it('refuses two sections of the same name as a programming error', () => {
    expect(() => load(undefined, { sections: [forge, forge] })).toThrow(
      'the configuration section [forge] is declared twice',
    );
  });
});

describe('problems found after loading', () => {
  it('are reported with the line, variable or flag that gave the value', () => {
    const config = load(
      '[mcp_policy]\nblocked_tools = ["a"]\n\n[[mcp_policy.rules]]\nid = "r"\naction = "deny"',
      {
        env: { COUNTERSIGN_MCP_POLICY__REQUIRE_APPROVAL_FOR: 'b' },
      },
    );
    const error = config.errorFor([
      { path: ['mcp_policy', 'require_approval_for', 0], message: "unknown tool 'b'" },
      { path: ['mcp_policy', 'rules', 0, 'tools', 0], message: "unknown tool 'c'" },
      { path: ['mcp_policy', 'blocked_tools', 0], message: "unknown tool 'a'" },
    ]);
    expect(error.message.replaceAll(file, 'config.toml').split('\n')).toEqual([
      "config.toml:2: mcp_policy.blocked_tools[0]: unknown tool 'a'",
      "config.toml:4: mcp_policy.rules[0].tools[0]: unknown tool 'c'",
      "environment COUNTERSIGN_MCP_POLICY__REQUIRE_APPROVAL_FOR: mcp_policy.require_approval_for[0]: unknown tool 'b'",
    ]);
  });
});

describe('tightening', () => {
  it('lets a flag loosen a default but not what is written down', () => {
    expect(load('', { flags: { profile: 'admin' } }).profile).toBe('admin');
    expect(load('profile = "write"', { flags: { profile: 'readonly' } }).profile).toBe('readonly');
    expect(messageOf('profile = "readonly"', { flags: { profile: 'admin' } })).toBe(
      'flag --profile: profile: "admin" is looser than "readonly", which the configuration sets; change it there',
    );
  });

  it('lets a session make values stricter', () => {
    const config = load('');
    const session = config.tightened(
      { profile: 'readonly', 'mcp_policy.dry_run_mutations': true, mode: 'composer' },
      'request',
    );
    expect(session).toMatchObject({ profile: 'readonly', mode: 'composer', approvalMode: true });
    expect(session.policy.dry_run_mutations).toBe(true);
    expect(config).toMatchObject({ profile: 'write', mode: 'autopilot', approvalMode: false });
  });

  it.each([
    ['profile', 'admin', 'request: profile: can only be made stricter than "write" here, not "admin"'],
    ['profile', 'nonsense', 'request: profile: can only be made stricter than "write" here, not "nonsense"'],
    [
      'approvals.agents_may_approve',
      true,
      'request: approvals.agents_may_approve: can only be made stricter than false here, not true',
    ],
    ['server.port', 1, 'request: server.port: cannot be changed for one session'],
    ['nothing.here', 1, 'request: nothing.here: cannot be changed for one session'],
  ])('refuses a session that sets %s to %j', (key, value, message) => {
    expect(() => load('').tightened({ [key]: value }, 'request')).toThrow(message);
  });
});

describe('the address of the store', () => {
  it.each(['mysql://u:secret@h/d', 'postgre://u:secret@h/d', 'libsql://h', 'file:/a/b.db'])(
    'is refused as %s, without quoting it',
    (url) => {
      const attempt = () => load(`[storage]\nurl = "${url}"`);
      expect(attempt).toThrow('storage.url: must be the path of a SQLite file or a postgres:// URL');
      expect(attempt).not.toThrow('secret');
    },
  );

  it.each(['postgres://u@h/d', 'postgresql://h/d', '/a/b.db', 'b.db', 'C:/a/b.db', ':memory:'])(
    'is taken as %s',
    (url) => {
      expect(load(`[storage]\nurl = "${url}"`).storageUrl).toBe(url);
    },
  );
});

describe('masking', () => {
  it('shows four characters at each end of a long secret and nothing of a short one', () => {
    const masked = load(
      '[forge]\ntoken = "abcd0123456789wxyz"\n[forge.repos.main]\npath = "/a"\nkeys = ["short"]\n[storage]\nurl = "postgres://u:pw@h/dbname"',
    ).masked();
    expect(masked).toMatchObject({
      mode: 'autopilot',
      forge: { token: 'abcd...wxyz', retries: 2, repos: { main: { path: '/a', keys: ['****'] } } },
      storage: { url: 'post...name' },
      mcp_policy: { template: 'safe_default' },
    });
    expect(JSON.stringify(masked)).not.toMatch(/pw@h|short|0123456789/);
  });
});
