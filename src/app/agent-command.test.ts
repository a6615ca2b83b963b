import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentCommand } from './agent-command.ts';
import type { App } from './app.ts';

const appWith = (path: string | undefined, env: Record<string, string> = {}) =>
  ({ config: { path, dataDir: '/home/ada/.countersign' }, env }) as unknown as App;

describe('the command for an agent', () => {
  it('names Node and the file that runs, never a name that something else could have', () => {
    const { command, args, env } = agentCommand(appWith(undefined), ['/opt/node', '/src/dist/main.js']);
    expect([command, ...args]).toEqual(['/opt/node', '/src/dist/main.js', 'mcp', 'serve']);
    expect(env).toEqual({});
  });

  it('names the link to Node in PATH, because the file may move with its next version', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'agent-command-')));
    const [cellar, bin] = [join(root, 'Cellar/node/22.1.0/bin'), join(root, 'bin')];
    for (const folder of [cellar, bin]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(cellar, 'node'), '');
    symlinkSync(join(cellar, 'node'), join(bin, 'node'));
    const app = appWith(undefined, { PATH: ['relative', '/nowhere', bin].join(delimiter) });
    expect(agentCommand(app, [join(cellar, 'node'), '/src/dist/main.js']).command).toBe(join(bin, 'node'));
    rmSync(root, { recursive: true });
  });

  it.each(['.npm/_npx/1f/node_modules/.bin', 'project/node_modules/.bin', 'usr/local/bin'])(
    'names the file itself where a link to it runs from %s',
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
      '/usr/local/bin/countersign',
      'mcp',
      'serve',
    ]);
    expect(agentCommand(appWith('/etc/cs.toml', { COUNTERSIGN_HOME: '/data' }), started)).toEqual({
      command: 'node',
      args: ['/usr/local/bin/countersign', '-c', '/etc/cs.toml', 'mcp', 'serve'],
      env: { COUNTERSIGN_HOME: '/data' },
    });
  });
});
