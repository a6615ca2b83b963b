import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './support.ts';

const SERVER = resolve('test/gateway/scripted-server.mjs');
const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});

let terminal: Terminal;
let script: string;
const write = (tools: object[]): void => writeFileSync(script, JSON.stringify({ tools }));
const add = (...more: string[]) =>
  terminal.run('servers', 'add', 's', ...more, '--', process.execPath, SERVER, script);

beforeEach(() => {
  terminal = openTerminal('# kept\nmode = "autopilot" # as is\n');
  script = join(terminal.home, 'script.json');
  write([tool('look', { annotations: { readOnlyHint: true } }), tool('act')]);
});
afterEach(() => terminal.close());

const config = (): string => readFileSync(join(terminal.home, 'config.toml'), 'utf8');

describe('countersign servers', () => {
  it('adds a server, shows its tools and leaves it in quarantine until it is trusted', async () => {
    const added = await add();
    expect(added).toMatchObject({ code: 0, err: '' });
    expect(added.out).toContain('look  read  new');
    expect(added.out).toContain('act  change  new');
    expect(added.out).toContain('s stays in quarantine');
    expect(config()).toMatch(/^# kept\nmode = "autopilot" # as is\n\n\[servers\.s\]\ncommand = /);
    expect(await terminal.json('servers')).toMatchObject([
      { name: 's', state: 'quarantined', tools: 0, waiting: 2 },
    ]);
    expect((await terminal.run('call', 's__look')).code).toBe(2);

    const trusted = await terminal.run('servers', 'trust', 's', '--yes', '--effect', 'act=destroy');
    expect(trusted.out).toContain('Trusted 2 tools of s.');
    expect(await terminal.json('servers')).toMatchObject([
      { name: 's', state: 'trusted', tools: 2, waiting: 0 },
    ]);
    expect((await terminal.run('call', 's__look')).out).toContain('done');
    expect((await terminal.run('call', 's__act')).out).toContain('routed_to_approval');
  });

  it('takes names that every object has, for servers and tools alike', async () => {
    write([tool('look', { annotations: { readOnlyHint: true } }), tool('constructor'), tool('toString')]);
    const file = [process.execPath, SERVER, script];
    expect(await terminal.run('servers', 'add', 'constructor', '--', ...file)).toMatchObject({
      code: 0,
      err: '',
    });
    const effects = ['--effect', 'constructor=destroy', '--effect', 'toString=destroy'];
    const trusted = await terminal.run('servers', 'trust', 'constructor', '--yes', ...effects);
    expect(trusted.out).toContain('Trusted 3 tools of constructor.');
    expect((await terminal.run('call', 'constructor__look')).out).toContain('done');
    for (const name of ['constructor', 'toString'])
      expect((await terminal.run('call', `constructor__${name}`)).out, name).toContain('routed_to_approval');
    writeFileSync(
      join(terminal.home, 'config.toml'),
      `${config()}[servers.constructor.effects]\nconstructor = "read"\n`,
    );
    expect((await terminal.run('call', 'constructor__constructor')).out).toContain('done');
    expect((await terminal.run('servers', 'remove', 'constructor')).code).toBe(0);
    expect(await terminal.json('servers')).toEqual([]);
    const refused = await terminal.run('servers', 'add', '__proto__', '--', ...file);
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining('"__proto__" is not a usable name'),
    });
  });

  it('says that changes ask, proposes effects from names, and explain names the setting', async () => {
    write([
      tool('save'),
      tool('delete_repo'),
      tool('transfer_money'),
      tool('send_email', { annotations: { readOnlyHint: true } }),
    ]);
    const added = await add('--yes');
    expect(added.out).toContain('Reads of s run, changes and destructive calls require approval by default.');
    expect(added.out).toContain('set changes = "allow" under [servers.s]');
    expect(added.out).toMatch(/delete_repo {2}destroy {2}new[\s\S]*Warning: Its name speaks of deleting/);
    expect(added.out).toContain('transfer_money  destroy  new');
    expect(added.out).toMatch(
      /send_email {2}change {2}new[\s\S]*Claims to be read-only, but its name speaks of sending/,
    );
    for (const name of ['save', 'delete_repo', 'transfer_money', 'send_email'])
      expect((await terminal.run('call', `s__${name}`)).out).toContain('routed_to_approval');
    const explained = await terminal.run('policy', 'explain', 's__save');
    expect(explained.out).toContain('s__save: ASK (rule setting:servers.s.changes)');
    expect(explained.out).toContain('servers.s.changes = ask (default)');
    expect(await terminal.json('servers')).toMatchObject([{ name: 's', changes: 'ask' }]);
    expect((await terminal.run('servers', 'show', 's')).out).toContain('require approval by default');

    await terminal.run('servers', 'remove', 's');
    const open = await add('--yes', '--changes', 'allow');
    expect(open.out).toContain('Reads and changes of s run, destructive calls require approval');
    expect(config()).toContain('changes = "allow"');
    expect((await terminal.run('call', 's__save')).out).toContain('done');
    expect((await terminal.run('call', 's__delete_repo')).out).toContain('routed_to_approval');
    expect((await terminal.run('servers')).out).toMatch(/CHANGES[\s\S]* allow /);
  });

  it('shows a changed definition field by field and trusts it on request', async () => {
    await add('--yes');
    write([
      tool('look', { annotations: { readOnlyHint: true }, description: 'Does\u202elook.' }),
      tool('act'),
    ]);
    const shown = await terminal.run('servers', 'show', 's', '--refresh');
    expect(shown.out).toContain('look  read  changed');
    expect(shown.out).toContain('Changed: description: "Does look." → "Does‹U+202E›look."');
    expect(shown.out).toContain('Warning: Contains 1 invisible or direction-changing character');
    await terminal.run('servers', 'trust', 's', 'look', '--yes');
    expect((await terminal.json<{ state: string }[]>('servers'))[0]?.state).toBe('trusted');
  });

  it('keeps secrets out of the configuration, in a file only its owner can read', async () => {
    await add('--yes', '--env', 'API_TOKEN=planted-secret-value', '--env', 'MODE=fast');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written in the file
    expect(config()).toContain('API_TOKEN = "${secret:s.API_TOKEN}"');
    expect(config()).toContain('MODE = "fast"');
    expect(config()).not.toContain('planted');
    const path = join(terminal.home, 'secrets.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ 's.API_TOKEN': 'planted-secret-value' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await terminal.run('secrets')).out).toBe('s.API_TOKEN\n');
    expect((await terminal.run('secrets', 'remove', 's.API_TOKEN')).code).toBe(0);
    expect((await terminal.run('servers', 'show', 's', '--refresh')).err).toContain(
      'run `countersign secrets set s.API_TOKEN`',
    );
  });

  it('writes nothing down when the server cannot be started, and shows what it wrote', async () => {
    writeFileSync(script, JSON.stringify({ tools: [], dieAtStart: true }));
    const failed = await add('--yes');
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('could not be started');
    expect(failed.err).toContain('exit code 3');
    expect(config()).toBe('# kept\nmode = "autopilot" # as is\n');
  });

  it('removes a server and leaves the rest of the file as it was', async () => {
    await add('--yes', '--env', 'MODE=fast');
    writeFileSync(join(terminal.home, 'config.toml'), `${config()}\n[log] # mine\nlevel = "silent"\n`);
    expect((await terminal.run('servers', 'remove', 's')).out).toContain('Removed server s.');
    expect(config()).toBe('# kept\nmode = "autopilot" # as is\n\n[log] # mine\nlevel = "silent"\n');
    expect((await terminal.run('servers')).out).toContain('No servers are configured.');
    expect((await terminal.run('servers', 'logs', 's')).code).toBe(1);
  });

  it('refuses names and values that cannot be used', async () => {
    expect(await terminal.run('servers', 'add', 'My__Server', '--', 'x')).toMatchObject({ code: 2 });
    expect((await terminal.run('servers', 'add', 'x', '--', 'true')).err).toContain(
      'is the name of a toolkit',
    );
    expect((await add('--env', 'novalue')).err).toContain('--env takes KEY=VALUE');
    expect((await add('--effect', 'act=maybe')).err).toContain('read, change or destroy');
    expect((await terminal.run('servers', 'show', 'nothing')).err).toContain('No server named nothing');
  });
});
