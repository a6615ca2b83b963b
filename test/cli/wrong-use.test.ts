import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
    [['agents', 'add', 'bad name!'], 'is not a usable name'],
    [['auth', 'x', 'statos'], "unknown command 'statos'\n(Did you mean status?)"],
    [['auth', 'x', 'logout'], "unknown command 'logout'\n(It takes status, sign-out.)"],
  ])('exits with 2 and names what was wrong: %s', async (words, message) => {
    const { code, err } = await terminal.run(...words);
    expect(err).toContain(message);
    expect(err).toMatch(/^Error: /);
    expect(code).toBe(2);
  });

  it('exits with 1 when a name is taken or a time is past', async () => {
    const late = await terminal.run('x', 'schedule', 'add', 'Hello', '--at', '2001-01-01T10:00');
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining('Error: --at is in the past') });
    await terminal.run('agents', 'add', 'claude');
    expect((await terminal.run('agents', 'add', 'claude')).code).toBe(1);
  });

  it('says that an address is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    try {
      expect(await terminal.run('mcp', 'serve', '--tcp', `127.0.0.1:${port}`)).toMatchObject({
        code: 1,
        err: `Error: 127.0.0.1:${port} is in use. Is \`countersign up\` running already? Otherwise use another address with --tcp.\n`,
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
      err: `Error: ${file} is not a checkpoint; \`countersign audit checkpoint\` prints one.\n`,
    });
  });

  it('says in one sentence that a file is no proof', async () => {
    const file = fileWith('other.json', '{"hello": 1}');
    expect(await terminal.run('audit', 'check', file)).toMatchObject({
      code: 2,
      out: '',
      err: `Error: ${file} is neither a proof nor a bundle that Countersign wrote.\n`,
    });
  });

  it('erases nothing for a call it does not have', async () => {
    expect(await terminal.run('audit', 'erase', '--call', 'nope')).toMatchObject({
      code: 1,
      err: 'Error: The log has no call nope; nothing was erased.\n',
    });
  });
});

describe('what a person is told', () => {
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
    expect((await terminal.run('approvals', 'approve', '1')).out).toContain('is blocked. It waits again.');
  });

  it('has a hint only where it fits', async () => {
    const permit = await terminal.run('approvals', 'permit', 'x_pots_tweet', '--args', '{}');
    expect(permit.err).toContain('x_pots_tweet');
    expect(permit.err).not.toContain('List the items first');
    expect((await terminal.run('approvals', 'reject', '99')).err).toBe(
      'Error: There is no approval 99.\nList the items first and use a listed id.\n',
    );
  });
});
