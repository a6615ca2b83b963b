import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHome, type Home } from '../e2e/support.ts';
import { reader, tool } from './scripted.ts';
import { connect, SCRIPTED } from './support.ts';

const MAIN = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');

let home: Home;
let script: string;
beforeEach(() => {
  home = createHome();
  script = join(home.dir, 'script.json');
  writeFileSync(
    script,
    JSON.stringify({
      tools: [
        reader('look'),
        tool('wipe', { annotations: { destructiveHint: true } }),
        tool('transfer_money', { description: 'Moves an amount.' }),
        tool('send_email'),
        tool('note'),
      ],
    }),
  );
});
afterEach(() => home.close());

const calls = (): string[] =>
  existsSync(`${script}.calls`) ? readFileSync(`${script}.calls`, 'utf8').split('\n').filter(Boolean) : [];
const open = (file = script) =>
  connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'wrap', 'w', '--', process.execPath, SCRIPTED, file],
      env: { PATH: process.env.PATH ?? '', HOME: home.dir, COUNTERSIGN_HOME: home.dir },
      stderr: 'ignore',
    }),
  );
const pending = (): { id: number; tool: string; state: string }[] =>
  JSON.parse(home.cli('approvals', 'list', '--json'));

it('a call of a wrapped server is approved anywhere and runs in the client that wraps it', async () => {
  const client = await open();
  await expect.poll(pending, { timeout: 60_000 }).toMatchObject([{ tool: 'server_trust' }]);
  home.cli('servers', 'trust', 'w', '--yes');
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  await expect.poll(names, { timeout: 60_000 }).toContain('wipe');

  const wipe = (text: string) => client.callTool({ name: 'wipe', arguments: { text } });
  const routed = { structuredContent: { routed_to_approval: true } };
  expect(await wipe('one')).toMatchObject(routed);
  const [first] = pending();
  expect(first).toMatchObject({ tool: 'w__wipe' });
  const shown = home.cli('approvals', 'show', String(first?.id));
  expect(shown).not.toContain('no longer available');
  expect(home.cli('approvals', 'approve', String(first?.id))).toContain(`${first?.id}: done.`);
  expect(calls()).toHaveLength(1);
  expect(JSON.parse(calls()[0] ?? '')).toMatchObject({ name: 'wipe', arguments: { text: 'one' } });
  expect(home.cli('approvals', 'show', String(first?.id))).toContain('done');
  expect(pending()).toEqual([]);

  expect(await wipe('two')).toMatchObject(routed);
  const [second] = pending();
  await client.close();
  const refused = home.failing('approvals', 'approve', String(second?.id));
  expect(refused.stderr).toContain('No client that wraps w is running');
  expect(pending()).toMatchObject([{ id: second?.id, state: 'pending' }]);

  // It does not run by itself when the client comes back.
  const again = await open();
  await again.callTool({ name: 'look', arguments: {} });
  expect(calls().map((line) => JSON.parse(line).name)).toEqual(['wipe', 'look']);
  home.cli('approvals', 'approve', String(second?.id));
  expect(calls().map((line) => JSON.parse(line).name)).toEqual(['wipe', 'look', 'wipe']);
  await again.close();
  expect(home.cli('audit', 'verify')).toContain('No problems found');
});

it('changes of a wrapped server ask unless a rule allows them, whatever its annotations leave out', async () => {
  const client = await open();
  await expect.poll(pending, { timeout: 60_000 }).toMatchObject([{ tool: 'server_trust' }]);
  home.cli('servers', 'trust', 'w', '--yes');
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  await expect.poll(names, { timeout: 60_000 }).toContain('note');
  for (const name of ['transfer_money', 'send_email', 'note'])
    expect(await client.callTool({ name, arguments: {} })).toMatchObject({
      structuredContent: { routed_to_approval: true },
    });
  expect((await client.callTool({ name: 'look', arguments: {} })).content).toMatchObject([{ text: 'done' }]);
  expect(calls().map((line) => JSON.parse(line).name)).toEqual(['look']);
  expect(home.cli('policy', 'explain', 'w__note')).toContain('servers.w.changes = ask (default)');
  expect(home.cli('policy', 'explain', 'w__transfer_money')).toContain('hard:destroy_approval');
  await client.close();

  const rules = `[[mcp_policy.rules]]\nid = "notes"\ntools = ["w__note", "w__transfer_money"]\naction = "allow"\n`;
  writeFileSync(join(home.dir, 'config.toml'), rules);
  const again = await open();
  expect((await again.callTool({ name: 'note', arguments: {} })).content).toMatchObject([{ text: 'done' }]);
  for (const name of ['transfer_money', 'send_email'])
    expect(await again.callTool({ name, arguments: {} })).toMatchObject({
      structuredContent: { routed_to_approval: true },
    });
  await again.close();
});

it('a call is run by no client where two wrap different programs under one name', async () => {
  const other = join(home.dir, 'other.json');
  writeFileSync(other, readFileSync(script));
  const clients = [];
  for (const file of [script, other]) {
    const client = await open(file);
    clients.push(client);
    await expect.poll(pending, { timeout: 60_000 }).toMatchObject([{ tool: 'server_trust' }]);
    home.cli('servers', 'trust', 'w', '--yes');
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    await expect.poll(names, { timeout: 60_000 }).toContain('wipe');
  }
  await clients[0]?.callTool({ name: 'wipe', arguments: { text: 'mine' } });
  const asked = pending().find((one) => one.tool === 'w__wipe');
  const refused = home.failing('approvals', 'approve', String(asked?.id));
  expect(refused.stderr).toContain('clients wrap different programs under that name');
  expect(calls()).toEqual([]);
  expect(existsSync(`${other}.calls`)).toBe(false);
  for (const client of clients) await client.close();
});
