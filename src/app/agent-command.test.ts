import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentCommand } from './agent-command.ts';
import type { App } from './app.ts';

const appWith = (path: string | undefined, env: Record<string, string> = {}) =>
  ({ config: { path, dataDir: '/home/ada/.countersign' }, env }) as unknown as App;

describe('the command for an agent', () => {
  it.each([
    [
      ['/usr/bin/node', '/usr/local/bin/countersign'],
      ['countersign', 'mcp', 'serve'],
    ],
    [
      ['/usr/bin/node', '/home/ada/.npm/_npx/1f/node_modules/.bin/countersign'],
      ['npx', '-y', 'countersign', 'mcp', 'serve'],
    ],
    [
      ['/usr/bin/node', '/src/dist/main.js'],
      ['/usr/bin/node', '/src/dist/main.js', 'mcp', 'serve'],
    ],
  ])('is one that works where the server was started as %j', (started, expected) => {
    const { command, args, env } = agentCommand(appWith(undefined), started);
    expect([command, ...args]).toEqual(expected);
    expect(env).toEqual({});
  });

  it.each(['.npm/_npx/1f/node_modules/.bin', 'project/node_modules/.bin'])(
    'names the file itself where npx runs a link to it from %s',
    (bin) => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'agent-command-')));
      const file = join(root, 'clone/dist/main.js');
      for (const folder of [join(root, 'clone/dist'), join(root, bin)])
        mkdirSync(folder, { recursive: true });
      writeFileSync(file, '');
      symlinkSync(file, join(root, bin, 'countersign'));
      const { command, args } = agentCommand(appWith(undefined), ['node', join(root, bin, 'countersign')]);
      expect([command, ...args]).toEqual(['node', file, 'mcp', 'serve']);
      rmSync(root, { recursive: true });
    },
  );

  it('names the configuration and the data directory where they are not the usual ones', () => {
    const started = ['node', '/usr/local/bin/countersign'];
    expect(agentCommand(appWith('/home/ada/.countersign/config.toml'), started).args).toEqual([
      'mcp',
      'serve',
    ]);
    expect(agentCommand(appWith('/etc/cs.toml', { COUNTERSIGN_HOME: '/data' }), started)).toEqual({
      command: 'countersign',
      args: ['-c', '/etc/cs.toml', 'mcp', 'serve'],
      env: { COUNTERSIGN_HOME: '/data' },
    });
  });
});
