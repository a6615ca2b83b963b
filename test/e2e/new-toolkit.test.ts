import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home, startUp } from './support.ts';

const FIXTURE = 'test/fixtures/notes-toolkit';

/** A copy of this repository in which one directory is new: what `git` sees as changed is what a contributor would commit. */
class Copy {
  readonly dir = mkdtempSync(join(tmpdir(), 'countersign-new-toolkit-'));

  constructor() {
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      encoding: 'utf8',
    }).split('\0');
    for (const file of files.filter((one) => one !== '' && one !== 'node_modules' && existsSync(one))) {
      mkdirSync(dirname(join(this.dir, file)), { recursive: true });
      cpSync(file, join(this.dir, file));
    }
    symlinkSync(realpathSync('node_modules'), join(this.dir, 'node_modules'));
    this.git('init', '--quiet');
    // The link is not a directory, so the ignore file does not match it.
    this.git('add', '--all', '--', ':!node_modules');
    this.git('-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', 'commit', '--quiet', '-m', 'Before');
    cpSync(FIXTURE, join(this.dir, 'src/toolkits/notes'), { recursive: true });
  }

  private git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.dir, encoding: 'utf8' });
  }

  node(...args: string[]): void {
    execFileSync(process.execPath, args, { cwd: this.dir, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  changed(): string[] {
    return this.git('status', '--porcelain', '-z', '--untracked-files=normal')
      .split('\0')
      .filter((line) => line !== '' && !line.endsWith(' node_modules'));
  }
}

describe('a toolkit that is one new directory', () => {
  let copy: Copy;
  let home: Home;

  beforeAll(() => {
    copy = new Copy();
    copy.node('scripts/run.mjs', 'scripts/gen/index.ts');
    copy.node('scripts/build.mjs');
    home = createHome('toolkits = ["notes"]\n', join(copy.dir, 'dist/main.js'));
  });

  afterAll(() => {
    home?.close();
    rmSync(copy.dir, { recursive: true, force: true });
  });

  const json = <T>(...args: string[]): T => JSON.parse(home.cli(...args, '--json')) as T;

  it('changes nothing else but generated files', () => {
    expect(copy.changed().sort()).toEqual([
      ' M docs/generated/mcp-manifest-all-admin.json',
      ' M docs/generated/mcp-manifest-all-api-readonly.json',
      ' M docs/generated/mcp-manifest-all-readonly.json',
      ' M docs/generated/mcp-manifest-all-write.json',
      ' M docs/reference/commands.md',
      ' M docs/reference/configuration.md',
      ' M docs/reference/errors.md',
      ' M src/toolkits/index.generated.ts',
      '?? docs/reference/tools-notes.md',
      '?? src/toolkits/notes/',
      '?? test/pins/tools/note_add.json',
      '?? test/pins/tools/note_get.json',
    ]);
    const read = (path: string): string => readFileSync(join(copy.dir, path), 'utf8');
    expect(read('docs/reference/errors.md')).toContain('| `note_missing` | no |');
    expect(read('docs/reference/configuration.md')).toContain('`notes.max_length`');
    expect(read('docs/reference/commands.md')).toContain('countersign notes add');
  });

  it('has its tools in the manifest', () => {
    const { tools } = json<{ tools: { name: string }[] }>('mcp', 'manifest');
    expect(tools.map(({ name }) => name).sort()).toEqual(['note_add', 'note_get']);
  });

  it('answers a client in its own envelope, with its own error code and hint', async () => {
    const session = await connectStdio(home);
    try {
      const missing = await session.client.callTool({ name: 'note_get', arguments: { name: 'plan' } });
      expect(missing.isError).toBe(true);
      expect(missing.structuredContent).toEqual({
        status: 'failed',
        problem: {
          code: 'note_missing',
          message: 'Note "plan" not found.',
          hint: 'Add the note with note_add first.',
        },
      });
      const asked = await session.client.callTool({
        name: 'note_add',
        arguments: { name: 'plan', text: 'Ship it' },
      });
      const pending = asked.structuredContent as { status: string; approval_id: number };
      expect(pending).toMatchObject({ status: 'pending', reason: "tool 'note_add' requires approval" });
      home.cli('approvals', 'approve', String(pending.approval_id));
      const found = await session.client.callTool({ name: 'note_get', arguments: { name: 'plan' } });
      expect(found.structuredContent).toEqual({ status: 'ok', note: { name: 'plan', text: 'Ship it' } });
      const { prompts } = await session.client.listPrompts();
      expect(prompts.map(({ name }) => name)).toContain('take_note');
    } finally {
      await session.close();
    }
  });

  it('takes part in the policy template', () => {
    const { decision, limits } = json<{
      decision: { action: string; rule: string };
      limits: { key: string; max: number }[];
    }>('policy', 'explain', 'note_add');
    expect(decision).toMatchObject({ action: 'ask', rule: 'template:safe_default:new_notes' });
    expect(limits).toContainEqual(
      expect.objectContaining({ key: 'template:safe_default:notes_per_hour', max: 30 }),
    );
  });

  it('has its table, made by its own migration', () => {
    const database = new Database(join(home.dir, 'countersign.db'));
    try {
      expect(database.prepare('select name from notes_notes').all()).toEqual([{ name: 'plan' }]);
      expect(database.prepare('select name from schema_migrations').all()).toContainEqual({
        name: '070-notes',
      });
    } finally {
      database.close();
    }
  });

  it('has its command, which acts under the same policy', () => {
    expect(home.cli('--help')).toMatch(/^ {2}notes +Read and add notes$/m);
    expect(home.cli('notes', 'add', 'menu', 'Soup')).toContain('Pending as approval');
    expect(home.cli('notes', 'add', 'menu', 'Soup', '--approve')).toBe('Added note menu.\n');
    expect(json('notes', 'list')).toEqual([
      { name: 'menu', text: 'Soup' },
      { name: 'plan', text: 'Ship it' },
    ]);
  });

  it('has its page, with a chunk and data for a signed-in person', async () => {
    const server = await startUp(home);
    try {
      const link = new URL(json<{ url: string }>('open', '--no-browser').url);
      const signedIn = await fetch(`${server.url}${link.pathname}${link.search}`, { redirect: 'manual' });
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const get = async (path: string): Promise<unknown> =>
        (await fetch(`${server.url}${path}`, { headers: { cookie } })).json();
      expect(await get('/api/session')).toMatchObject({ toolkits: [{ id: 'notes', title: 'Notes' }] });
      expect(await get('/api/pages/notes/notes')).toMatchObject({ data: { notes: [{ name: 'menu' }, {}] } });

      const assets = join(copy.dir, 'dist/web/assets');
      const chunk = readdirSync(assets).find(
        (name) =>
          name.startsWith('page-') &&
          name.endsWith('.js') &&
          readFileSync(join(assets, name), 'utf8').includes('No notes yet'),
      );
      const served = await fetch(`${server.url}/assets/${chunk}`);
      expect(served.headers.get('content-type')).toContain('text/javascript');
      const index = readdirSync(assets).find((name) => /^index-.*\.js$/.test(name)) ?? '';
      expect(readFileSync(join(assets, index), 'utf8')).toContain('toolkits/notes/web/page.tsx');
    } finally {
      await server.stop();
    }
  });
});
