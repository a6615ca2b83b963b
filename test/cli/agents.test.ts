import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openApp } from '../../src/app/app.ts';
import { Upkeep } from '../../src/daemon/upkeep.ts';
import { openTerminal, type Terminal } from './support.ts';

describe('agents and their requests on the command line', () => {
  let terminal: Terminal;
  beforeEach(() => {
    terminal = openTerminal('toolkits = ["x"]\napproval_mode = true\n');
  });
  afterEach(() => terminal.close());

  /** Requests of agents, as a client would make them. */
  const request = async (agent: string, tool: string, args: object): Promise<void> => {
    const app = await openApp({ env: process.env });
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    const principal = { kind: 'agent', id: agent } as const;
    await app.kernel.invoke({ bound, args, principal, transport: 'test' });
    await app.close();
  };
  const pending = async (): Promise<string[]> =>
    (await terminal.json<{ requester: string; tool: string }[]>('approvals')).map(
      ({ requester, tool }) => `${requester} ${tool}`,
    );

  it('rejects what one agent, or one tool, has pending, and then everything', async () => {
    await terminal.run('agents', 'add', 'robin');
    await request('robin', 'x_post_tweet', { text: 'a' });
    await request('robin', 'x_like_tweet', { tweet_id: '1234567890' });
    await request('local', 'x_post_tweet', { text: 'b' });
    await request('local', 'x_like_tweet', { tweet_id: '1234567890' });
    expect((await terminal.run('approvals', 'reject')).code).toBe(2);
    expect((await terminal.run('approvals', 'reject', '1', '--all')).code).toBe(2);
    expect((await terminal.run('approvals', 'reject', '--agent', 'nobody')).code).toBe(2);
    const byAgent = await terminal.run(
      'approvals',
      'reject',
      '--agent',
      'agent:robin',
      '--reason',
      'not now',
    );
    expect(byAgent).toMatchObject({ code: 0, out: expect.stringContaining('Rejected 2 approvals') });
    expect(await pending()).toEqual(['agent:local x_like_tweet', 'agent:local x_post_tweet']);
    await terminal.run('approvals', 'reject', '--tool', 'x_like_tweet');
    expect(await pending()).toEqual(['agent:local x_post_tweet']);
    await request('robin', 'x_post_tweet', { text: 'c' });
    expect(await terminal.json('approvals', 'reject', '--all')).toEqual({ rejected: [3, 5], failed: [] });
    expect(await pending()).toEqual([]);
    expect((await terminal.run('approvals', 'reject', '--all')).out).toContain('No pending approvals match.');
    expect((await terminal.run('approvals', 'show', '1')).out).toContain('not now');
  });

  it('pauses an agent, lists and reports it, and resumes it', async () => {
    await terminal.run('agents', 'add', 'robin');
    expect((await terminal.run('agents', 'pause', 'nobody')).code).toBe(1);
    expect((await terminal.run('agents', 'pause', 'robin')).out).toContain('Paused agent robin.');
    expect((await terminal.run('agents', 'pause', 'robin')).out).toContain('already paused');
    await terminal.run('agents', 'pause', 'local');
    const { out } = await terminal.run('agents', 'list');
    expect(out).toMatch(/robin\s+\S+\s+PAUSED by person:/);
    expect(out).toMatch(/local\s+PAUSED by person:/);
    expect((await terminal.run('status')).out).toContain('PAUSED: local, robin');
    await request('robin', 'x_post_tweet', { text: 'a' });
    expect(await pending()).toEqual([]);
    await terminal.run('agents', 'resume', 'robin');
    expect((await terminal.run('agents', 'resume', 'robin')).out).toContain('was not paused');
    await request('robin', 'x_post_tweet', { text: 'a' });
    expect(await pending()).toEqual(['agent:robin x_post_tweet']);
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
  });

  it('sweeps expired sign-ins and keys in the daemon', async () => {
    const app = await openApp({ env: process.env });
    const { db } = app.database;
    const past = '2020-01-01T00:00:00.000Z';
    await db
      .insertInto('web_sessions')
      .values({ id_hash: 'h', kind: 'session', person: 'ada', created_at: past, expires_at: past })
      .execute();
    await new Upkeep(app).run();
    expect(await db.selectFrom('web_sessions').selectAll().execute()).toEqual([]);
    await app.close();
  });
});
