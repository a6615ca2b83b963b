import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyProduction, packInto, unpack } from '../../scripts/packed.ts';

interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

/** An empty folder with the packed tarball and production dependencies alone, and a person's home next to it. */
let root: string;
let project: string;
let home: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-installed-')));
  project = join(root, 'project');
  home = join(root, 'home');
  for (const folder of [project, join(home, '.cursor'), join(home, '.codex')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  unpack(packInto(root), join(project, 'node_modules', 'countersign'));
  copyProduction(project);
  // Links the command, as an installation does last.
  execFileSync('npm', ['rebuild', '--ignore-scripts', '--offline'], { cwd: project, stdio: 'ignore' });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const environment = (): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
  COUNTERSIGN_LOG__LEVEL: 'warn',
  // The person of this test has no terminal.
  COUNTERSIGN_APPROVALS__WITHOUT_TERMINAL: 'true',
});

const countersign = (...args: string[]): string =>
  execFileSync('./node_modules/.bin/countersign', args, {
    cwd: project,
    env: environment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

async function connect({ command, args, env }: Started): Promise<Client> {
  const client = new Client({ name: 'installed', version: '1.0.0' });
  const all = { ...environment(), ...env };
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: all, cwd: project, stderr: 'inherit' }),
  );
  return client;
}

describe('a packed tarball in an empty folder', () => {
  it('has no development dependency', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const installed = readdirSync(join(project, 'node_modules'));
    expect(installed).toEqual(expect.arrayContaining(['countersign', 'libsql', 'pg', 'mammoth', 'unpdf']));
    for (const name of ['zod', 'ai', 'hono', 'commander', 'typescript', 'vite']) {
      expect(devDependencies).toHaveProperty(name);
      expect(installed).not.toContain(name);
    }
  });

  it('leads from init over the connection to the first approval', async () => {
    const began = performance.now();
    const shown = countersign('init', '--yes');
    expect(shown).toContain(`Connected: ${join(home, '.cursor/mcp.json')}`);
    const { mcpServers } = JSON.parse(readFileSync(join(home, '.cursor/mcp.json'), 'utf8')) as {
      mcpServers: { countersign: Started };
    };
    expect(mcpServers.countersign.args[0]).toBe(join(project, 'node_modules/countersign/dist/main.js'));
    const client = await connect(mcpServers.countersign);
    const { structuredContent } = await client.callTool({
      name: 'x_post_tweet',
      arguments: { text: 'Hello from my agent' },
    });
    expect(structuredContent).toMatchObject({ data: { routed_to_approval: true, approval_queue_id: 1 } });
    expect(countersign('approvals')).toMatch(/agent:cursor .*Post to @\w+ \(sandbox\): Hello from my agent/);
    expect(countersign('approvals', 'approve', '1')).toContain('Hello from my agent');
    await client.close();
    expect(countersign('audit', 'verify')).toContain('No problems found.');
    // Stated for people; a slow machine must not turn this red.
    process.stderr.write(
      `init, connect, first approval: ${((performance.now() - began) / 1000).toFixed(1)} s\n`,
    );
    expect(countersign('init', '--undo')).toContain('Undone');
    expect(existsSync(join(home, '.cursor/mcp.json'))).toBe(false);
  });

  it('loads every part that is not needed at start', async () => {
    const chunks = readdirSync(join(project, 'node_modules/countersign/dist/chunks')).filter((name) =>
      name.endsWith('.js'),
    );
    const script = `for (const name of ${JSON.stringify(chunks)}) await import('./node_modules/countersign/dist/chunks/' + name);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: project,
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
