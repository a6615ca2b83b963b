import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../../../../test/cli/support.ts';
import { openApp } from '../../../app/app.ts';
import { sharedSandbox } from '../emulator/start.ts';
import { putMedia } from './support/call-world.ts';

let terminal: Terminal;
beforeEach(() => {
  terminal = openTerminal();
});
afterEach(() => terminal.close());

interface Answer {
  readonly call_id: string;
  readonly status: string;
  readonly code?: string;
  readonly approval_id?: number;
  readonly data?: Record<string, unknown>;
}

const soon = (): string => new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);

describe('countersign x post', () => {
  it('says how to approve when policy routes the post, and posts once it is approved', async () => {
    const { code, out } = await terminal.run('x', 'post', 'Hello from a test');
    expect(code).toBe(0);
    expect(out).toContain('Not run: ');
    expect(out).toContain('countersign approvals approve 1');
    const summary = await terminal.json<{ own_posts: number }>('x', 'sandbox', 'status');
    await terminal.run('approvals', 'approve', '1');
    expect((await terminal.json<{ own_posts: number }>('x', 'sandbox', 'status')).own_posts).toBe(
      summary.own_posts + 1,
    );
  });

  it('posts immediately with --approve, in the name of the person, and says that nothing reached X', async () => {
    const { code, out } = await terminal.run('x', 'post', 'Decided here', '--approve');
    expect(code).toBe(0);
    expect(out).toMatch(/^Posted in the local sandbox as \d+; nothing reached X\.$/m);
    const [row] = await terminal.json<{ state: string; requester: string; decidedBy: string }[]>(
      'approvals',
      'list',
      '--state',
      'done',
    );
    expect(row?.decidedBy).toBe(row?.requester);
    expect(row?.decidedBy).toMatch(/^person:/);
  });

  it('shows length, limits and the decision in a dry run, and posts nothing', async () => {
    const before = await terminal.json<{ posts: number }>('x', 'sandbox', 'status');
    const { code, out } = await terminal.run('x', 'post', 'Only a try', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('10 characters (270 left): Only a try');
    expect(out).toContain('Approval would be required');
    expect((await terminal.json<{ posts: number }>('x', 'sandbox', 'status')).posts).toBe(before.posts);
  });

  it('looks at the files too in a dry run, and uploads none', async () => {
    const picture = join(terminal.home, 'media', 'dot.png');
    putMedia(terminal.home);
    const good = await terminal.run('x', 'post', 'With a dot', '--media', picture, '--dry-run');
    expect(good).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was posted.') });
    const bad = await terminal.run('x', 'post', 'No dot', '--media', '/etc/hostname', '--dry-run');
    expect(bad).toMatchObject({ code: 1, err: expect.stringContaining('in an allowed directory') });
    expect((await terminal.run('x', 'usage')).out).not.toContain('media_upload');
  });

  it('fails with exit code 1 and the reason while changes are paused', async () => {
    await terminal.run('pause');
    const { code, err } = await terminal.run('x', 'post', 'Not now', '--approve');
    expect(code).toBe(1);
    expect(err).toContain('countersign resume');
  });

  it('answers a refused text in JSON with its code and exit code 1', async () => {
    const ran = await terminal.run('--json', 'x', 'post', 'x'.repeat(281), '--approve');
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out) as Answer).toMatchObject({ status: 'failed', code: 'tweet_too_long' });
  });

  it('takes a day that no calendar has for wrong use', async () => {
    const { code, err } = await terminal.run('x', 'schedule', 'add', 'Never', '--at', '2027-02-30T09:00');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('is not a time') });
  });

  it('refuses an empty text and a thread of one part as wrong use', async () => {
    expect((await terminal.run('x', 'post', '  ')).code).toBe(2);
    expect((await terminal.run('x', 'thread', 'alone')).code).toBe(2);
  });
});

describe('countersign x reply', () => {
  it('takes the number of a post or its address, and nothing else', async () => {
    const { tweets } = await terminal.json<{ tweets: { id: string }[] }>('x', 'mentions');
    const id = tweets[0]?.id ?? '';
    const done = await terminal.json<Answer>(
      'x',
      'reply',
      `https://x.com/somebody/status/${id}?s=20`,
      'Thank you',
      '--approve',
    );
    expect(done).toMatchObject({ status: 'ok', data: { in_reply_to_id: id } });
    const wrong = await terminal.run('x', 'reply', 'https://example.org/1', 'Thank you');
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining('Use the ID or URL of a post'),
    });
  });
});

describe('countersign x schedule and drafts', () => {
  it('adds, lists, moves and cancels a post', async () => {
    const added = await terminal.json<Answer>(
      'x',
      'schedule',
      'add',
      'For later',
      '--at',
      soon(),
      '--approve',
    );
    expect(added).toMatchObject({ status: 'ok', data: { id: 1, status: 'scheduled' } });
    expect((await terminal.run('x', 'schedule', 'list')).out).toMatch(/1 .*scheduled .*tweet .*For later/);
    expect((await terminal.run('x', 'schedule', 'move', '1', '--at', '2020-01-01T00:00')).code).toBe(1);
    expect((await terminal.run('x', 'schedule', 'move', 'one', '--at', soon())).code).toBe(2);
    expect((await terminal.run('x', 'schedule', 'cancel', '1')).out).toContain('Cancelled 1.');
    expect((await terminal.run('x', 'schedule')).out).toContain('No scheduled posts');
    expect((await terminal.run('x', 'schedule', 'list', '--past')).out).toContain('cancelled');
  });

  it('keeps a draft until it gets a time', async () => {
    await terminal.run('x', 'drafts', 'add', 'One\n---\nTwo', '--thread', '--approve');
    const { out } = await terminal.run('x', 'drafts');
    expect(out).toMatch(/draft +thread .*1\. One 2\. Two/);
    expect(out).toMatch(/ \d{4}-\d\d-\d\dT\d\d:\d\dZ /);
    await terminal.run('x', 'schedule', 'move', '1', '--at', soon());
    expect((await terminal.run('x', 'drafts')).out).toContain('No drafts');
    expect(await terminal.json<{ upcoming: { id: number }[] }>('x', 'schedule', 'list')).toMatchObject({
      upcoming: [{ id: 1, content: ['One', 'Two'] }],
    });
  });
});

describe('what people see of the account', () => {
  it('draws posts a day and used limits after a post', async () => {
    await terminal.run('x', 'post', 'Counted', '--approve');
    const stats = await terminal.run('x', 'stats', '--days', '3');
    expect(stats.out).toContain('▁▁█  at most 1 per day');
    expect(stats.out).toContain('1 post, 0 replies');
    const usage = await terminal.run('x', 'usage');
    expect(usage.out).toMatch(/POST create_tweet +1 +0/);
    expect(usage.out).toMatch(/tweet +1 +6 +\d{4}-\d\d-\d\dT\d\d:\d\dZ /);
    expect((await terminal.run('x', 'stats', '--days', 'week')).code).toBe(2);
  });

  it('shows provider and account, and where to sign in', async () => {
    const { out, code } = await terminal.run('x', 'status');
    expect(code).toBe(0);
    expect(out).toMatch(/Provider +sandbox/);
    expect(out).toMatch(/Account +@\w+/);
    expect(out).toContain('`countersign auth x` to connect your account');
    expect(await terminal.json('auth', 'x', 'status')).toMatchObject({
      signed_in: false,
      provider: { backend: 'sandbox' },
    });
  });

  it('never lets the text of a post steer the terminal', async () => {
    const app = await openApp({ env: process.env });
    const sandbox = await sharedSandbox({ db: app.database.db as never, now: app.now });
    const me = await terminal.json<{ account: { username: string } }>('x', 'status');
    await sandbox.control('post_as', {
      username: 'hello_world',
      text: `@${me.account.username} evil \u001b]0;owned\u0007\u202e text`,
    });
    await app.close();
    const { out } = await terminal.run('x', 'mentions');
    expect(out).toContain('evil');
    for (const sign of ['\u001b', '\u0007', '\u202e']) expect(out).not.toContain(sign);
  });

  it('resets the sandbox and leaves evidence of it', async () => {
    const before = await terminal.json<{ own_posts: number }>('x', 'sandbox', 'status');
    await terminal.run('x', 'post', 'Gone soon', '--approve');
    expect(await terminal.json('x', 'sandbox', 'reset')).toMatchObject({
      reset: true,
      own_posts: before.own_posts,
    });
    const app = await openApp({ env: process.env });
    const rows = await app.database.db.selectFrom('audit_log').selectAll().execute();
    await app.close();
    expect(rows.filter((row) => JSON.stringify(row).includes('x_sandbox_reset'))).toHaveLength(1);
  });

  it('forgets with the sandbox what was posted and uploaded there, so that the same can be tried again', async () => {
    putMedia(terminal.home);
    const picture = ['--media', join(terminal.home, 'media', 'dot.png'), '--approve'];
    const tries = async () => [
      (await terminal.run('x', 'post', 'Tried twice', ...picture)).code,
      (await terminal.run('x', 'thread', 'One of two', 'Two of two', '--approve')).code,
    ];
    expect(await tries()).toEqual([0, 0]);
    await terminal.run('x', 'drafts', 'add', 'Kept', '--approve');
    await terminal.run('x', 'sandbox', 'reset');
    expect(await tries()).toEqual([0, 0]);
    expect((await terminal.run('x', 'drafts')).out).toContain('Kept');
  });

  it('lists what discovery found and the target accounts of the configuration', async () => {
    terminal.configure('[targets]\naccounts = ["hello_world"]\n');
    expect((await terminal.run('x', 'targets')).out).toMatch(/@hello_world +0 +0 +never/);
    expect((await terminal.run('x', 'feed')).out).toContain('No posts found yet');
    expect((await terminal.run('x', 'feed', '--min-score', 'high')).code).toBe(2);
  });

  it('scores a post that exists, and says so when one does not', async () => {
    const { tweets } = await terminal.json<{ tweets: { id: string }[] }>('x', 'mentions');
    expect((await terminal.run('x', 'score', tweets[0]?.id ?? '')).out).toMatch(
      /Score \d+\.\d of 100, threshold 60/,
    );
    expect((await terminal.run('x', 'score', '99')).code).toBe(1);
  });
});
