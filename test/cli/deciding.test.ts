import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tool } from '../gateway/scripted.ts';
import { openTerminal, type Terminal } from './support.ts';

let terminal: Terminal;
beforeEach(() => {
  terminal = openTerminal('toolkits = ["x"]\n');
});
afterEach(() => terminal.close());

const ARGS = '{"text":"Hello"}';

describe('permits', () => {
  it('are listed while unused and can be withdrawn, as reject and edit say', async () => {
    await terminal.run('approvals', 'permit', 'x_post_tweet', '--args', ARGS);
    const { out } = await terminal.run('approvals');
    expect(out).toContain('No pending approvals.');
    expect(out).toMatch(/Unused permits:\n.*\n1 +approved/);

    const advice = 'countersign approvals withdraw 1';
    expect((await terminal.run('approvals', 'reject', '1')).err).toContain(advice);
    expect((await terminal.run('approvals', 'edit', '1', '--args', ARGS)).err).toContain(advice);

    expect(await terminal.run('approvals', 'withdraw', '1')).toMatchObject({
      code: 0,
      out: 'Withdrew approval 1. It can no longer authorize x_post_tweet.\n',
    });
    expect((await terminal.run('approvals')).out).toBe('No pending approvals.\n');
    expect((await terminal.run('approvals', 'withdraw', '1')).code).toBe(1);
  });

  it('are refused for an agent that does not exist, and given to one that does', async () => {
    await terminal.run('agents', 'add', 'claude');
    const permit = (name: string) =>
      terminal.run('approvals', 'permit', 'x_post_tweet', '--args', ARGS, '--for', name);
    expect(await permit('nobody')).toMatchObject({
      code: 2,
      err: 'Error: Unknown agent "nobody". Known agents: local, assistant, claude.\n',
    });
    expect(await permit('claude')).toMatchObject({ code: 0, err: '' });
  });

  it('come with a warning when agents are not offered the tool', async () => {
    terminal.configure('toolkits = ["x"]\nprofile = "readonly"\n');
    const { code, err } = await terminal.run('approvals', 'permit', 'x_post_tweet', '--args', ARGS);
    expect(code).toBe(0);
    expect(err).toContain('Warning: no agent can call x_post_tweet: profile readonly');
  });
});

describe('standing approvals', () => {
  it('are tested, saved only with --yes, listed with their uses, and revoked', async () => {
    const call = () => terminal.run('call', 'x_post_tweet', '--args', '{"text":"Hello again"}');
    await call();
    const add = ['approvals', 'standing', 'add', '--agent', 'local', '--tool', 'x_post_tweet'];
    const where = ['--where', 'text:starts_with:Hello', '--uses', '2', '--until', '12h'];
    const tried = await terminal.run(...add, ...where);
    expect(tried).toMatchObject({ code: 0 });
    expect(tried.out).toContain('with text starting with “Hello”, at most 2 times, until ');
    expect(tried.out).toContain('No earlier calls of this agent and tool were decided.');
    expect(tried.out).toContain('Nothing was saved.');
    expect((await terminal.run('approvals', 'standing')).out).toContain('No standing approvals.');
    expect((await terminal.run(...add, ...where, '--yes')).out).toContain('Saved standing approval 1');
    expect((await terminal.run('approvals', 'standing')).out).toMatch(/1 +active +0 of 2 +20\d\d/);
    expect((await terminal.run(...add, '--where', 'text~x')).code).toBe(2);
    expect((await terminal.run(...add, '--uses', '0')).code).toBe(2);
    const never = [...add.slice(0, -1), 'x_delete_tweet'];
    expect((await terminal.run(...never, '--where', 'tweet_id:any')).err).toContain(
      'Destructive calls require approval each time.',
    );
    expect((await terminal.run('approvals', 'standing', 'revoke', '1')).out).toBe(
      'Revoked standing approval 1. Such calls require approval again.\n',
    );
    expect((await terminal.run('approvals', 'standing', 'revoke', '1')).code).toBe(1);
  });
});

describe('the list', () => {
  it('shows what each call says, totals and filters, and the presentation of one', async () => {
    await terminal.run('call', 'x_post_tweet', '--args', '{"text":"Hello"}');
    await terminal.run('call', 'x_post_tweet', '--args', '{"text":"Goodbye"}');
    const { out } = await terminal.run('approvals');
    expect(out).toContain('Post to @adamarsh_dev (sandbox): Hello');
    expect(out).toMatch(/2 approvals: 2 by person:\S+ · 2 sandbox · 2 change/);
    expect((await terminal.run('approvals', '--search', 'goodbye')).out).toContain('1 approval: ');
    expect((await terminal.run('approvals', '--environment', 'live')).out).toBe('No pending approvals.\n');
    expect((await terminal.run('approvals', '--environment', 'moon')).code).toBe(2);
    const one = (await terminal.run('approvals', 'show', '1')).out;
    expect(one).toMatch(/^Post to @adamarsh_dev \(sandbox\)\n/);
    expect(one).toContain('Asked       Writes: Posts, replies, quotes and threads require approval.');
    expect(one).not.toContain('"text"');
    expect((await terminal.run('approvals', 'show', '1', '--args')).out).toContain('"text": "Hello"');
  });
});

describe('a pause', () => {
  it('is reported with a pending change, and a failed approval names the approval that is still pending', async () => {
    await terminal.run('pause');
    expect((await terminal.run('x', 'post', 'Hello')).out).toContain(
      'Pending as approval 1. Changes are paused; it can run after `countersign resume`.',
    );
    const vain = await terminal.run('x', 'post', 'Goodbye', '--approve');
    expect(vain.code).toBe(1);
    expect(vain.err).toContain('Approval 2 is still pending.');
    expect((await terminal.run('x', 'post', 'Hello', '--dry-run')).out).toContain(
      'Approval would be required',
    );
    const called = await terminal.run('call', 'x_post_tweet', '--args', ARGS);
    expect(called.err).toContain('Changes are paused; it can run after `countersign resume`.');
    const { out } = await terminal.run('policy', 'explain', 'x_post_tweet', '--args', ARGS);
    expect(out).toContain('x_post_tweet: ASK');
    expect(out).toContain(
      'Changes are paused. This call would be queued; it can run after `countersign resume`.',
    );
    const like = await terminal.run('policy', 'explain', 'x_like_tweet', '--args', '{"tweet_id":"1"}');
    expect(like.out).toContain('x_like_tweet: DENY (rule hard:paused)');
  });
});

describe('a mistyped command', () => {
  it.each([
    [
      ['approvals', 'aprove', '1'],
      "Error: unknown command 'aprove'\n(Did you mean approve?)\nUsage: countersign approvals [options] [command]\n",
    ],
    [
      ['agents', 'ad', 'x'],
      "Error: unknown command 'ad'\n(Did you mean add?)\nUsage: countersign agents [options] [command]\n",
    ],
    [
      ['x', 'schedule', 'mvoe', '1'],
      "Error: unknown command 'mvoe'\n(Did you mean move?)\nUsage: countersign x schedule [options] [command]\n",
    ],
    [
      ['aprovals'],
      "Error: unknown command 'aprovals'\n(Did you mean approvals?)\nUsage: countersign [options] [command]\n",
    ],
  ])('of a group is named as such: %s', async (words, err) => {
    expect(await terminal.run(...words)).toMatchObject({ code: 2, out: '', err });
  });

  it('does not get in the way of options of the default command', async () => {
    expect((await terminal.run('approvals', '--state', 'all')).code).toBe(0);
    expect((await terminal.run('approvals', 'list', '--limit', '5')).code).toBe(0);
  });
});

describe('a limit that is full', () => {
  it('is shown before the decision, and a refused call leaves its approval pending', async () => {
    terminal.configure('toolkits = ["x"]\n[limits]\nmax_tweets_per_day = 1\n');
    for (const text of ['The first post of the day', 'Something else entirely, later'])
      await terminal.run('call', 'x_post_tweet', '--args', JSON.stringify({ text }));
    const before = (await terminal.run('approvals', 'show', '2')).out;
    expect(before).toContain('0 of 1 used (limits.max_tweets_per_day)');
    expect((await terminal.run('approvals', 'approve', '1')).code).toBe(0);
    const full = (await terminal.run('approvals', 'show', '2')).out;
    expect(full).toContain('1 of 1 used (limits.max_tweets_per_day): the call is refused until');
    expect((await terminal.run('approvals', 'approve', '2')).code).toBe(1);
    expect(await terminal.json('approvals', 'show', '2')).toMatchObject({ state: 'pending' });
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
    terminal.configure('toolkits = ["x"]\n[limits]\nmax_tweets_per_day = 2\n');
    expect((await terminal.run('approvals', 'approve', '2')).code).toBe(0);
    expect(await terminal.json('approvals', 'show', '2')).toMatchObject({ state: 'done' });
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
  });
});

describe('what a person reads before deciding', () => {
  const WHOLE = 'tmp/../../prod; DROP TABLE customers; --forever 0001';
  const HIDDEN = 'a\u202eb\u200bc\u2028d\u0085e\u{e0041}f\u001b[8mg\u2066h';
  const WRITTEN = 'a‹U+202E›b‹U+200B›c‹U+2028›d‹U+0085›e‹U+E0041›f‹U+001B›[8mg‹U+2066›h';
  /** What no output may contain, besides the colours of a terminal. */
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
  const UNSEEN = /[\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029\u0085]|[\u{e0000}-\u{e007f}]|\u001b\[8m/u;

  beforeEach(async () => {
    const script = join(terminal.home, 'script.json');
    writeFileSync(script, JSON.stringify({ tools: [tool('act')] }));
    const server = resolve('test/gateway/scripted-server.mjs');
    await terminal.run('servers', 'add', 's', '--', process.execPath, server, script);
    await terminal.run('servers', 'trust', 's', '--yes', '--effect', 'act=destroy');
    const args = {
      id: WHOLE,
      file_hash: `${WHOLE} ${HIDDEN}`,
      'na\u202eme\nUndo        Can be undone': 'x',
      deep: { a: { b: { c: { d: { e: { f: { g: WHOLE } } } } } } },
      at: '2026-01-01T00:00:00 (and the rest)',
    };
    await terminal.run('call', 's__act', '--args', JSON.stringify(args));
  });

  const expectWhole = (out: string): void => {
    expect(out).toMatch(new RegExp(`^ +id +${literally(WHOLE)}`, 'mu'));
    expect(out).toContain(`${WHOLE} ${WRITTEN}`);
    expect(out).toContain(`"g": "${WHOLE}"`);
    expect(out).toContain('2026-01-01T00:00:00 (and the rest)');
    expect(out).toContain('na‹U+202E›me‹U+000A›Undo');
    expect(out).not.toMatch(/^Undo +Can be undone/mu);
    expect(out).not.toMatch(UNSEEN);
  };
  const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);

  it('is every argument whole, with what is not seen written out', async () => {
    expectWhole((await terminal.run('approvals', 'show', '1')).out);
    expect((await terminal.run('approvals')).out).not.toMatch(UNSEEN);
    const exact = await terminal.json<{ args: { file_hash: string } }>('approvals', 'show', '1');
    expect(exact.args.file_hash).toBe(`${WHOLE} ${HIDDEN}`);
  });

  it('is the same on a terminal, in review', async () => {
    const main = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');
    const env = { ...process.env, COUNTERSIGN_HOME: terminal.home, NO_COLOR: '1' };
    const line = `stty cols 400; exec ${process.execPath} ${main} review`;
    const child = spawn('script', ['-qefc', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    const ended = new Promise((done) => child.once('close', done));
    const press = () => {
      if (out.includes('q quit')) child.stdin.write('q');
      return out;
    };
    try {
      await expect.poll(press, { timeout: 30_000, interval: 500 }).toContain('skipped 0');
      await ended;
    } finally {
      child.kill('SIGKILL');
    }
    expectWhole(out.replaceAll('\r\n', '\n'));
  });
});
