import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { commandHost } from '../../src/cli/command-host.ts';
import { views as assistantViews } from '../../src/toolkits/assistant/views.ts';
import { xPostTweet } from '../../src/toolkits/x/tools/posts.ts';
import { views as xViews } from '../../src/toolkits/x/views.ts';
import { openTerminal, type Terminal } from './support.ts';

let terminal: Terminal;
beforeEach(() => {
  terminal = openTerminal('approval_mode = true\n[server]\npublic_url = "https://inbox.example/"\n');
});
afterEach(() => terminal.close());

async function entries(): Promise<Record<string, unknown>[]> {
  const database = await openStorage({ url: `${terminal.home}/countersign.db` });
  try {
    const rows = await database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    return rows.map(({ body }) => JSON.parse(String(body)));
  } finally {
    await database.close();
  }
}

describe('the host of a command', () => {
  it('makes calls as the person, under policy, with evidence', async () => {
    await commandHost('x', {}).open(async (app) => {
      const { outcome } = await app.act(xPostTweet, { text: 'Hello' });
      expect(outcome).toMatchObject({ status: 'routed' });
      const approved = await app.act(xPostTweet, { text: 'Hello again' }, { approve: true });
      expect(approved.outcome).toMatchObject({ status: 'ok' });
    });
    const calls = (await entries()).filter(({ tool }) => tool === 'x_post_tweet');
    expect(calls.length).toBeGreaterThan(2);
    expect(calls).toContainEqual(
      expect.objectContaining({ principal: expect.stringMatching(/^person:/), transport: 'cli' }),
    );
  });

  it('ends a command whose question was not answered', async () => {
    const asked = commandHost('x', {}).open((app) => app.ask(xPostTweet, { text: 'Hello' }));
    await expect(asked).rejects.toThrow('x_post_tweet returned no result (status: routed).');
  });

  it('reads only the views of its own toolkit', async () => {
    await commandHost('assistant', {}).open(async (app) => {
      expect(await app.view(assistantViews, 'sessions')).toMatchObject({ total: 0 });
      await expect(app.view(xViews, 'drafts')).rejects.toThrow('Toolkit assistant has no view named drafts.');
    });
  });

  it('notes settings and exports in the name of the person', async () => {
    await commandHost('research', {}).open(async (app) => {
      await app.note('config', { one: 1 });
      await app.note('read', { two: 2 });
    });
    const [config, read] = await entries();
    expect(config).toMatchObject({
      kind: 'config',
      principal: expect.stringMatching(/^person:/),
      extra: { one: 1 },
    });
    expect(config).not.toHaveProperty('toolkit');
    expect(read).toMatchObject({
      kind: 'read',
      toolkit: 'research',
      effect: 'read',
      transport: 'cli',
      status: 'ok',
      extra: { two: 2 },
    });
  });

  it('names the public address of the server', async () => {
    const url = await commandHost('research', {}).open((app) => app.serverUrl());
    expect(url).toBe('https://inbox.example');
  });
});
