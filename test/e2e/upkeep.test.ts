import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectStdio, createHome, startUp } from './support.ts';

describe('upkeep', () => {
  it('notifies a webhook of a pending approval, without the content', async () => {
    const heard: string[] = [];
    const hook = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        heard.push(body);
        response.end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const { port } = hook.address() as AddressInfo;
    const home = createHome(
      `toolkits = ["x"]\n[approvals.notify]\nwebhook = "http://127.0.0.1:${port}/waiting"\n`,
    );
    const session = await connectStdio(home);
    await session.client.callTool({ name: 'x_post_tweet', arguments: { text: 'a secret plan' } });
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(1);
    expect(JSON.parse(heard[0] ?? '{}')).toMatchObject({
      event: 'approval_waiting',
      approval_id: 1,
      tool: 'x_post_tweet',
      requester: 'agent:local',
    });
    expect(heard[0]).not.toContain('secret plan');
    await session.close();
    hook.close();
    home.close();
  });

  it('shows where the running server is, and when it has not read a changed configuration yet', async () => {
    const home = createHome('toolkits = ["x"]\n');
    const server = await startUp(home);
    const told = `The server at ${server.url} runs with a different configuration`;
    expect(home.cli('status')).not.toContain(told);
    expect(home.cli('doctor')).toContain(`\`countersign up\` is running on ${new URL(server.url).host}\n`);
    expect(home.cli('research', 'mcp-json', home.dir)).toContain(`localhost:${new URL(server.url).port}/mcp`);
    for (const args of [['agents', 'add', 'robin', '--http'], ['init']])
      expect(home.cli(...args)).toContain(`localhost:${new URL(server.url).port}/mcp`);
    const config = 'toolkits = ["x"]\n[mcp_policy]\nblocked_tools = ["x_post_tweet"]\n';
    writeFileSync(join(home.dir, 'config.toml'), config);
    for (const args of [['status'], ['doctor'], ['policy', 'explain', 'x_post_tweet']])
      expect(home.cli(...args)).toContain(told);
    await server.stop();
    expect(home.cli('policy', 'explain', 'x_post_tweet')).not.toContain(told);
    home.close();
  });

  it('restores a backup with its queue, log and key, and moves aside what was there', () => {
    const home = createHome('toolkits = ["x"]\n');
    const post = (text: string) => home.failing('call', 'x_post_tweet', '--args', JSON.stringify({ text }));
    post('before the backup');
    const folder = join(home.dir, 'kept');
    home.cli('backup', folder);
    const key = home.cli('audit', 'key');
    post('after the backup');
    expect(JSON.parse(home.cli('approvals', '--json'))).toHaveLength(2);
    expect(home.cli('restore', folder)).toContain('The previous data was moved to');
    const waiting = JSON.parse(home.cli('approvals', '--json')) as { args: { text: string } }[];
    expect(waiting.map(({ args }) => args.text)).toEqual(['before the backup']);
    expect(home.cli('audit', 'verify')).toContain('No problems found.');
    expect(home.cli('audit', 'key')).toBe(key);
    expect(home.failing('restore', join(home.dir, 'nowhere'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not a backup'),
    });
    home.close();
  });

  it('refuses to restore while a server or an agent has the store open, unless forced', async () => {
    const home = createHome('toolkits = ["x"]\n');
    const folder = join(home.dir, 'kept');
    home.cli('backup', folder);
    expect(statSync(join(folder, 'countersign.db')).mode & 0o077).toBe(0);

    const server = await startUp(home);
    expect(home.failing('restore', folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`running at ${server.url}`),
    });
    await server.stop();

    const session = await connectStdio(home);
    expect(home.failing('restore', folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Another process has the database open'),
    });
    expect(home.cli('restore', folder, '--force')).toContain('Restored from');
    await session.close();
    expect(home.cli('restore', folder)).toContain('Restored from');

    writeFileSync(join(home.dir, 'countersign.db'), 'not a database at all '.repeat(100));
    expect(home.failing('restore', folder).stderr).toContain('is not a SQLite database');
    expect(home.cli('restore', folder, '--force')).toContain('Restored from');
    expect(home.cli('audit', 'verify')).toContain('No problems found.');
    home.close();
  });

  it('takes no server for its own that serves another data directory at the configured address', async () => {
    const neighbour = createHome('toolkits = ["x"]\n');
    const server = await startUp(neighbour);
    const home = createHome(`toolkits = ["x"]\n[server]\nport = ${new URL(server.url).port}\n`);
    const folder = join(home.dir, 'kept');
    home.cli('backup', folder);
    const session = await connectStdio(home);
    expect(home.failing('restore', folder).stderr).toContain('Another process has the database open');
    expect(JSON.parse(home.cli('status', '--json'))).not.toHaveProperty('server');
    expect(JSON.parse(neighbour.cli('status', '--json'))).toMatchObject({ server: server.url });
    await session.close();
    await server.stop();
    home.close();
    neighbour.close();
  });
});
