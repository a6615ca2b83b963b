import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEPARTURES, type Generation, openRecorded, outcomesOf } from './recorded-client.ts';
import { createHome, type Home, spawnCli } from './support.ts';

const SERVER = resolve('test/gateway/scripted-server.mjs');
const tool = (name: string) => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
});

let home: Home;
let script: string;
let third: string[];

beforeAll(() => {
  home = createHome();
  script = join(home.dir, 'script.json');
  third = ['--', process.execPath, SERVER, script];
  const answers = { slow: { delay: 400 }, stuck: { hang: true } };
  writeFileSync(script, JSON.stringify({ tools: [tool('slow'), tool('stuck')], answers }));
  home.cli('servers', 'add', 'third', '--yes', ...third);
});
beforeEach(() => rmSync(`${script}.calls`, { force: true }));
afterAll(() => home.close());

const arrived = (name: string): Promise<unknown> =>
  expect
    .poll(() => (existsSync(`${script}.calls`) ? readFileSync(`${script}.calls`, 'utf8') : ''), {
      timeout: 30_000,
    })
    .toContain(name);

const ways = Object.entries(DEPARTURES).flatMap(([name, leave], index) => [
  { name, leave, isWrapped: index % 2 === 0, generation: (index < 2 ? '2025' : '2026') as Generation },
  { name, leave, isWrapped: index % 2 === 1, generation: (index < 2 ? '2026' : '2025') as Generation },
]);

describe.each(ways)('wrap $isWrapped, $generation, ended by $name', ({ leave, isWrapped, generation }) => {
  const command = () => (isWrapped ? ['wrap', 'third', ...third] : ['mcp', 'serve', '--toolkits', 'third']);
  const named = (name: string) => (isWrapped ? name : `third__${name}`);

  it('lets short work finish, answers it, and exits with 0', async () => {
    const before = outcomesOf(home, 'third__slow').length;
    const client = await openRecorded(home, command(), generation);
    const reply = client.call(1, named('slow'), {});
    await arrived('slow');
    await leave(client.child);
    expect(await reply).toMatchObject({ content: [] });
    expect(await client.ended).toBe(0);
    expect(outcomesOf(home, 'third__slow').slice(before)).toEqual(['ok']);
  });

  it('waits no longer than clients do for work that does not end, and records it', async () => {
    const before = outcomesOf(home, 'third__stuck').length;
    const client = await openRecorded(home, command(), generation);
    void client.call(1, named('stuck'), {});
    await arrived('stuck');
    await leave(client.child);
    expect(await client.ended).toBe(0);
    expect(outcomesOf(home, 'third__stuck').slice(before)).toHaveLength(1);
    expect(home.cli('audit', 'verify')).toContain('No problems found');
  });
});

describe('a client that closes stdin right after its request', () => {
  it.each(['2025', '2026'] as const)('is answered all the same, with evidence (%s)', async (generation) => {
    const recorded = () => outcomesOf(home, 'third__slow');
    const attempt = async (): Promise<boolean> => {
      const before = recorded().length;
      const client = await openRecorded(home, ['mcp', 'serve', '--toolkits', 'third'], generation);
      const reply = client.call(1, 'third__slow', {});
      client.child.stdin.end();
      const answer = await Promise.race([reply, client.ended.then(() => undefined)]);
      expect(await client.ended).toBe(0);
      if (answer) expect(answer).toMatchObject({ content: [] });
      expect(recorded().slice(before)).toEqual([answer ? 'ok' : expect.not.stringMatching('ok')]);
      return answer !== undefined;
    };
    // On a very busy machine the third-party server may take longer to start than a client that has left can wait.
    let answered = await attempt();
    for (let left = 9; !answered && left > 0; left -= 1) answered = await attempt();
    expect(answered).toBe(true);
  });
});

describe('a server with --json', () => {
  it.each([
    [['up', '--port', '0'], { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), tcp: null }],
    [['mcp', 'serve', '--tcp', '127.0.0.1:0'], { tcp: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }],
  ])('prints where it listens as JSON: %j', async (args, shown) => {
    const child = spawnCli(home, ['--json', ...args]);
    child.stderr.resume();
    let out = '';
    const ended = new Promise((done) => child.once('close', done));
    await new Promise<void>((done) => {
      child.stdout.on('data', (chunk) => {
        out += chunk;
        if (out.endsWith('}\n')) done();
      });
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(JSON.parse(out)).toEqual(shown);
  });
});
