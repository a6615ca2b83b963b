import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTerminal, type Terminal } from './support.ts';

let terminal: Terminal;
beforeEach(() => {
  terminal = openTerminal('toolkits = ["x", "dev"]\n');
});
afterEach(() => terminal.close());

const fileWith = (name: string, text: string): string => {
  const path = join(terminal.home, name);
  writeFileSync(path, text);
  return path;
};

describe('wrong use', () => {
  it.each([
    [['up', '--port', 'abc'], 'flag --port'],
    [['up', '--port', '99999'], 'flag --port'],
    [['up', '--toolkits', 'y'], 'flag --toolkits'],
    [['x', 'schedule', 'add', 'Hello', '--at', 'yesterday'], '--at "yesterday" is not a time'],
    [['agents', 'add', 'bad name!'], 'Invalid agent name'],
    [['auth', 'x', 'statos'], "unknown command 'statos'\n(Did you mean status?)"],
    [['auth', 'x', 'logout'], "unknown command 'logout'\n(Available commands: status, sign-out.)"],
  ])('exits with 2 and names what was wrong: %s', async (words, message) => {
    const { code, err } = await terminal.run(...words);
    expect(err).toContain(message);
    expect(err).toMatch(/^Error: /);
    expect(code).toBe(2);
  });

  it.each([
    [['approvel'], "unknown command 'approvel'\n(Did you mean approvals?)", '[options] [command]'],
    [['audit', 'verfy'], "unknown command 'verfy'\n(Did you mean verify?)", 'audit [options] [command]'],
    [['mcp', 'serv'], "unknown command 'serv'\n(Did you mean serve?)", 'mcp [options] [command]'],
    [
      ['mcp', 'zzz'],
      "unknown command 'zzz'\n(Available commands: serve, manifest.)",
      'mcp [options] [command]',
    ],
    [['auth', 'y'], "unknown command 'y'\n(Did you mean x?)", 'auth [options] [command]'],
    [['auth', 'x', 'statos'], '(Did you mean status?)', 'auth x [options] [command]'],
    [['help', 'statu'], "unknown command 'statu'\n(Did you mean status?)", '[options] [command]'],
    [['audit', 'help', 'verfy'], '(Did you mean verify?)', 'audit [options] [command]'],
    [['approvals', 'aprove', '1'], '(Did you mean approve?)', 'approvals [options] [command]'],
    [['audit', 'verify', '--chekpoint', 'x'], '(Did you mean --checkpoint?)', 'audit verify [options]'],
    [['--jsn', 'status'], '(Did you mean --json?)', '[options] [command]'],
    [['up', '--port'], "option '--port <port>' argument missing", 'up [options]'],
    [['approvals', 'show'], "missing required argument 'id'", 'approvals show [options] <id>'],
    [['approvals', 'show', '1', '2'], "unexpected argument '2'", 'approvals show [options] <id>'],
    [['pause', 'now'], "unexpected argument 'now'", 'pause [options]'],
    [['mcp', 'serve', '--profile', 'wirte'], 'Allowed choices are readonly', 'mcp serve [options]'],
    [['approvals', 'edit', '1', '--args', '{}', '--file', 'x'], 'cannot be used with', 'approvals edit'],
    [['approvals', 'settle', 'c', '--happened', '--not-happened'], 'cannot be used', 'approvals settle'],
  ])('is answered with the way it is meant: %s', async (words, message, usage) => {
    const { code, out, err } = await terminal.run(...words);
    expect(err).toMatch(/^Error: /);
    expect(err).toContain(message);
    expect(err).toContain(`\nUsage: countersign ${usage}`);
    expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  it.each([
    [['approvals', 'list', '--limit', 'abc'], 'Invalid number "abc". Use a number from 1 to'],
    [['approvals', 'list', '--limit', '-3'], 'Invalid number "-3". Use a number from 1 to'],
    [['approvals', 'list', '--toolkit', 'xx'], 'Unknown toolkit "xx". Did you mean x?'],
    [['stats', '--toolkit', 'reserch'], 'Unknown toolkit "reserch". Did you mean research?'],
    [['approvals', 'approve', '1', '--all'], 'Specify only one of IDs, --all and --batch.'],
    [['approvals', 'permit', 'x_pots_tweet', '--args', '{}'], 'Did you mean x_post_tweet?'],
    [['policy', 'explain', 'x_pots_tweet'], 'Did you mean x_post_tweet?'],
  ])('exits with 2 and says what fits: %s', async (words, message) => {
    const { code, err } = await terminal.run(...words);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  it('of a whole group shows its help', async () => {
    const { code, err } = await terminal.run('audit');
    expect(code).toBe(2);
    expect(err).toContain('Verify the entire audit log');
    expect(await terminal.run('help', 'audit', 'verify')).toMatchObject({
      code: 0,
      out: expect.stringContaining('--checkpoint <file>'),
    });
  });

  it('exits with 1 when a name is taken or a time is past', async () => {
    const late = await terminal.run('x', 'schedule', 'add', 'Hello', '--at', '2001-01-01T10:00');
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining('Error: --at is in the past') });
    await terminal.run('agents', 'add', 'claude');
    expect((await terminal.run('agents', 'add', 'claude')).code).toBe(1);
  });

  it('of a TCP port beyond this machine is refused while no agent has a token', async () => {
    process.env.TOOLHUB_MCP_LISTEN = '0.0.0.0:0';
    try {
      const { code, err } = await terminal.run('up', '--port', '0');
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringContaining('Refusing to listen on 0.0.0.0'),
      });
    } finally {
      delete process.env.TOOLHUB_MCP_LISTEN;
    }
  });

  it('says that an address is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    try {
      expect(await terminal.run('mcp', 'serve', '--tcp', `127.0.0.1:${port}`)).toMatchObject({
        code: 1,
        err: `Error: 127.0.0.1:${port} is already in use. Is \`countersign up\` running? If not, use another address with --tcp.\n`,
      });
    } finally {
      server.close();
    }
  });
});

describe('the record', () => {
  it('is not called damaged because of a file that is no checkpoint', async () => {
    const file = fileWith('notes.txt', 'Not a checkpoint.\n');
    expect(await terminal.run('audit', 'verify', '--checkpoint', file)).toMatchObject({
      code: 2,
      out: '',
      err: `Error: ${file} is not a checkpoint. Create one with \`countersign audit checkpoint\`.\n`,
    });
  });

  it('says in one sentence that a file is no proof', async () => {
    const file = fileWith('other.json', '{"hello": 1}');
    expect(await terminal.run('audit', 'check', file)).toMatchObject({
      code: 2,
      out: '',
      err: `Error: ${file} is not a Countersign proof or bundle.\n`,
    });
  });

  it('erases nothing for a call it does not have', async () => {
    expect(await terminal.run('audit', 'erase', '--call', 'nope')).toMatchObject({
      code: 1,
      err: 'Error: Call nope is not in the audit log. Nothing was erased.\n',
    });
  });
});

describe('what a person sees', () => {
  it('names file and line of a mistake in the policy', async () => {
    terminal.configure(`[mcp_policy]
blocked_tools = ["x_unfolow_user"]

[[mcp_policy.rules]]
id = "no-links"
tools = ["x_post_tweet"]
when = 'args.txt.contains("http")'
action = "deny"
`);
    const file = join(terminal.home, 'config.toml');
    const { code, err } = await terminal.run('status');
    expect(code).toBe(1);
    expect(err).toContain(`Error: ${file}:2: mcp_policy.blocked_tools[0]: unknown tool 'x_unfolow_user'`);
    expect(err).toContain(`\n${file}:7: mcp_policy.rules[0].when: no tool of this rule takes args.txt`);
  });

  it('is whole sentences when an approved call is refused', async () => {
    await terminal.run('x', 'post', 'Hello');
    terminal.configure('toolkits = ["x"]\n[mcp_policy]\nblocked_tools = ["x_post_tweet"]\n');
    expect((await terminal.run('approvals', 'approve', '1')).out).toContain(
      'is blocked. The approval is pending again.',
    );
  });

  it('says what to do about a database that another process has locked', async () => {
    await terminal.run('status');
    const kernel = await import('../../src/kernel/agents.ts');
    const locked = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    const agents = vi.spyOn(kernel, 'createAgents').mockImplementation(() => {
      throw locked;
    });
    const { code, err } = await terminal.run('agents', 'list');
    agents.mockRestore();
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('Wait for it or stop it') });
  });

  it('says what to do where the reply of a tool has no room for it', async () => {
    terminal.configure('toolkits = ["x", "research"]\n');
    const { out, err } = await terminal.run('call', 'list_codes');
    expect(JSON.parse(out)).toEqual({
      success: false,
      error: 'No project open',
      error_code: 'NO_PROJECT',
      hint: 'A person must open a project (`countersign research open PATH`) or create one (`countersign research create PATH`).',
    });
    expect(err).toBe('');
    const model = await terminal.run('call', 'generate_tweet', '--args', '{"topic":"a"}');
    expect(model.err).toContain('under [llm]');
  });

  it('says of a text without quotes how TOML writes it', async () => {
    terminal.configure('mode = autopilot\n');
    expect((await terminal.run('status')).err).toContain(
      'config.toml:1: invalid TOML: invalid value (strings need quotes: key = "value")',
    );
  });

  it('says where call ids are found', async () => {
    await terminal.run('status');
    expect((await terminal.run('audit', 'prove', 'nope')).err).toContain('correlation_id or tool_call_id');
  });

  it('has a hint only where it fits', async () => {
    const permit = await terminal.run('approvals', 'permit', 'x_pots_tweet', '--args', '{}');
    expect(permit.err).toContain('x_pots_tweet');
    expect(permit.err).not.toContain('List the items first');
    expect((await terminal.run('approvals', 'reject', '99')).err).toBe(
      'Error: Approval 99 not found.\nList the items first, then use a listed ID.\n',
    );
  });
});
