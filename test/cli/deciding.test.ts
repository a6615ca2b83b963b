import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './support.ts';

let terminal: Terminal;
beforeEach(() => {
  terminal = openTerminal('toolkits = ["x"]\n');
});
afterEach(() => terminal.close());

const ARGS = '{"text":"Hello"}';

describe('permits', () => {
  it('are listed while unused and can be taken back, as reject and edit say', async () => {
    await terminal.run('approvals', 'permit', 'x_post_tweet', '--args', ARGS);
    const { out } = await terminal.run('approvals');
    expect(out).toContain('Nothing is waiting for you.');
    expect(out).toMatch(/Permits you gave that are not used yet:\n.*\n1 +approved/);

    const advice = 'countersign approvals withdraw 1';
    expect((await terminal.run('approvals', 'reject', '1')).err).toContain(advice);
    expect((await terminal.run('approvals', 'edit', '1', '--args', ARGS)).err).toContain(advice);

    expect(await terminal.run('approvals', 'withdraw', '1')).toMatchObject({
      code: 0,
      out: '1: withdrawn. x_post_tweet will not run by it.\n',
    });
    expect((await terminal.run('approvals')).out).toBe('Nothing is waiting for you.\n');
    expect((await terminal.run('approvals', 'withdraw', '1')).code).toBe(1);
  });

  it('are refused for an agent that does not exist, and given to one that does', async () => {
    await terminal.run('agents', 'add', 'claude');
    const permit = (name: string) =>
      terminal.run('approvals', 'permit', 'x_post_tweet', '--args', ARGS, '--for', name);
    expect(await permit('nobody')).toMatchObject({
      code: 2,
      err: 'Error: There is no agent "nobody"; known: local, assistant, claude.\n',
    });
    expect(await permit('claude')).toMatchObject({ code: 0, err: '' });
  });

  it('come with a warning when agents are not offered the tool', async () => {
    terminal.configure('toolkits = ["x"]\nprofile = "readonly"\n');
    const { code, err } = await terminal.run('approvals', 'permit', 'x_post_tweet', '--args', ARGS);
    expect(code).toBe(0);
    expect(err).toContain(
      'Warning: agents cannot call x_post_tweet: it is not offered with profile readonly',
    );
  });
});

describe('a pause', () => {
  it('is told of where a change waits, and an approval in vain says under which number it still does', async () => {
    await terminal.run('pause');
    expect((await terminal.run('x', 'post', 'Hello')).out).toContain(
      'It waits in the inbox as 1. Changes are paused; it can run after `countersign resume`.',
    );
    const vain = await terminal.run('x', 'post', 'Goodbye', '--approve');
    expect(vain.code).toBe(1);
    expect(vain.err).toContain('It still waits in the inbox as 2.');
    expect((await terminal.run('x', 'post', 'Hello', '--dry-run')).out).toContain(
      'It would wait for approval',
    );
    const called = await terminal.run('call', 'x_post_tweet', '--args', ARGS);
    expect(called.err).toContain('Changes are paused; it can run after `countersign resume`.');
    const { out } = await terminal.run('policy', 'explain', 'x_post_tweet', '--args', ARGS);
    expect(out).toContain('x_post_tweet: ASK');
    expect(out).toContain('Changes are paused now. It would wait; it can run after `countersign resume`.');
    const like = await terminal.run('policy', 'explain', 'x_like_tweet', '--args', '{"tweet_id":"1"}');
    expect(like.out).toContain('x_like_tweet: DENY by hard:paused');
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
