import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../../../../test/cli/support.ts';
import { openApp } from '../../../app/app.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { LOCAL_AGENT, type Principal } from '../../../contract/principal.ts';

const TEXT = 'Anna: I worry a lot about work. 😟 I sleep badly.\nAt home I feel calm and safe.\n';

let terminal: Terminal;
const at = (name: string): string => join(terminal.home, name);
beforeEach(async () => {
  terminal = openTerminal();
  writeFileSync(at('anna.txt'), TEXT);
  writeFileSync(at('notes.md'), '# Notes\n\nWork stress is everywhere.\n');
});
afterEach(() => terminal.close());

const research = (...args: string[]) => terminal.run('research', ...args);

async function callAs(principal: Principal, tool: string, args: JsonObject): Promise<void> {
  const app = await openApp({ env: process.env });
  try {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`no ${tool}`);
    const { outcome } = await app.kernel.invoke({ bound, args, principal, transport: 'cli' });
    expect(outcome).toMatchObject({ status: 'ok' });
  } finally {
    await app.close();
  }
}

const person: Principal = { kind: 'person', id: 'ada' };

/** A project with one source and one code, coded by a person and by an agent. */
async function codedProject(): Promise<void> {
  await research('create', at('study'), '--coder', 'Ada');
  await research('import', at('anna.txt'));
  await callAs(person, 'create_code', { name: 'Anxiety', memo: 'fear\n#####\nsecret thought' });
  await callAs(person, 'create_code', { name: 'Sleep' });
  const operation = (code_id: number, start: number, end: number) => ({
    code_id,
    source_id: 1,
    start_position: start,
    end_position: end,
  });
  await callAs(person, 'batch_apply_codes', { operations: [operation(1, 6, 31), operation(2, 6, 49)] });
  await callAs(LOCAL_AGENT, 'batch_apply_codes', { operations: [operation(1, 6, 20)] });
}

describe('projects and documents', () => {
  it('creates, imports, lists, undoes, closes and opens again', async () => {
    expect((await research('sources')).code).toBe(1);
    const created = await research('create', at('study'));
    expect(created).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${at('study.qda')} (format v14)`),
    });
    expect((await research('create', at('study'))).code).toBe(1);
    const imported = await research('import', at('anna.txt'), at('notes.md'));
    expect(imported.out).toContain('Imported 2 sources.');
    // Progress is for people at a terminal.
    expect(imported.err).toBe('');
    expect((await research('sources')).out).toMatch(/1 +anna\.txt +text/);
    expect((await research('changes')).out).toContain('2 sources added');
    expect((await research('undo')).out).toMatch(/^Undid change 1 .*2 sources added/);
    expect((await research('sources')).out).toContain('No sources yet');
    expect((await research('undo', 'first')).code).toBe(2);
    expect((await research('undo', '99')).code).toBe(1);
    await research('close');
    expect((await research('status')).out).toContain(`Recent projects:\n  ${at('study.qda')}`);
    expect((await research('open', at('study.qda'))).out).toContain('Opened study');
  });

  it('knows what ~ means where no shell has been', async () => {
    const home = homedir();
    const inHome = (path: string) => `~/${relative(home, path)}`;
    await research('create', inHome(at('quoted')));
    expect(existsSync(at('quoted.qda/data.qda'))).toBe(true);
    expect((await research('import', inHome(at('anna.txt')))).out).toContain('Imported 1 source.');
    expect((await research('export', inHome(at('codes.csv')))).code).toBe(0);
    expect(existsSync(at('codes.csv'))).toBe(true);
    await callAs(person, 'close_project', {});
    await callAs(person, 'open_project', { path: inHome(at('quoted.qda')) });
    await callAs(person, 'import_files', { paths: [inHome(at('notes.md'))] });
    expect(await terminal.json('research', 'status')).toMatchObject({
      project_path: at('quoted.qda'),
      source_count: 2,
    });
  });

  it('opens the project the configuration names with ~', async () => {
    await research('create', at('study'));
    for (const name of ['countersign.db', 'audit-key.pem']) rmSync(at(name), { force: true });
    terminal.configure(
      `[research]\nproject = ${JSON.stringify(`~/${relative(homedir(), at('study.qda'))}`)}\n`,
    );
    expect(await terminal.json('research', 'status')).toMatchObject({ project_path: at('study.qda') });
  });

  it('says what a survey brought besides sources', async () => {
    await research('create', at('study'));
    writeFileSync(at('survey.csv'), 'id,age,What helps?\nP1,34,Friends\nP2,51,Walking\n');
    expect((await research('import', at('survey.csv'))).out).toMatch(/Imported .*2 cases/);
  });

  it('refuses unknown kinds of file as wrong use and missing files as failure', async () => {
    await research('create', at('study'));
    expect((await research('import', at('tool.exe'))).code).toBe(2);
    expect((await research('import', at('missing.txt'))).code).toBe(1);
    expect((await research('exprot')).code).toBe(2);
  });
});

describe('export', () => {
  it('writes every format, never over a file unasked, and leaves evidence', async () => {
    await codedProject();
    for (const format of ['qdpx', 'qdc', 'csv', 'xlsx', 'html', 'md']) {
      const file = at(`out.${format}`);
      expect((await research('export', file)).code).toBe(0);
      expect(readFileSync(file).length).toBeGreaterThan(100);
    }
    expect((await research('export', at('out.md'))).code).toBe(1);
    expect((await research('export', at('out.md'), '--force')).code).toBe(0);
    expect((await research('export', at('out.odt'))).code).toBe(2);
    const markdown = readFileSync(at('out.md'), 'utf8');
    expect(markdown).toContain('I worry a lot about work.');
    expect(markdown).not.toContain('secret thought');
    await research('export', at('book.csv'), '--content', 'codebook', '--private-memos');
    expect(readFileSync(at('book.csv'), 'utf8')).toContain('secret thought');
    const app = await openApp({ env: process.env });
    const rows = await app.database.db.selectFrom('audit_log').selectAll().execute();
    await app.close();
    expect(rows.filter((row) => JSON.stringify(row).includes('research_export'))).toHaveLength(8);
    expect((await terminal.run('audit', 'verify')).code).toBe(0);
  });

  it('says what a REFI-QDA file leaves behind of what keeps agents out', async () => {
    await codedProject();
    await research('off-limits', 'add', 'anna.txt');
    await research('pseudonyms', 'set', 'Annabella Quist', 'P1');
    const { out } = await research('export', at('study.qdpx'));
    expect(out).toMatch(/the off-limits mark of a source; set it again .*anna\.txt/);
    expect(out).toContain('the pseudonym for a name; set it again in a project created from this file');
    expect(out).not.toContain('Annabella');
    expect((await research('export', at('book.qdc'))).out).not.toContain('pseudonym');
  });

  it('gives a project that comes back whole', async () => {
    await codedProject();
    await research('export', at('study.qdpx'));
    await research('create', at('copy'));
    expect((await research('import', at('study.qdpx'))).out).toContain('Imported 1 source, 2 codes');
    expect(await terminal.json('research', 'frequencies')).toMatchObject([
      { code: { name: 'Anxiety' }, segments: 2 },
      { code: { name: 'Sleep' }, segments: 1 },
    ]);
  });
});

describe('statistics', () => {
  it('prints frequencies, meetings of codes and agreement as tables', async () => {
    await codedProject();
    expect((await research('frequencies')).out).toMatch(/Anxiety +2 +1 +25 +66\.7 %/);
    expect((await research('cooccurrence')).out).toMatch(/Anxiety +Sleep +2 +0 +2 +0/);
    expect((await research('matrix')).out).toContain('The project has no cases');
    const { out } = await research('agreement');
    expect(out).toMatch(/Anxiety .*Cohen's kappa +0\.\d{3} +\S+ to \S+ +\d+\.\d %/);
    expect(out).toContain("Krippendorff's alpha");
    const rows = await terminal.json<{ between: string }[]>('research', 'agreement', '--per-source');
    expect(rows.every(({ between }) => between === 'people_and_agents')).toBe(true);
    expect((await research('agreement', '--unit', 'word')).code).toBe(2);
  });

  it('shows the codes with use and memos', async () => {
    await codedProject();
    expect((await research('codebook')).out).toBe('Anxiety  2  [1]\nSleep  1  [2]\n');
    expect((await research('codebook', '--memos')).out).toContain('    fear');
  });
});

describe('privacy and the audit trail', () => {
  it('closes a source by name and opens it by number', async () => {
    await codedProject();
    expect((await research('off-limits', 'add', 'anna.txt')).out).toBe(
      'Agents can no longer read anna.txt.\n',
    );
    expect((await research('off-limits')).out).toContain('1  anna.txt');
    await expect(callAs(LOCAL_AGENT, 'read_source_content', { source_id: 1 })).rejects.toThrow();
    await research('off-limits', 'remove', '1');
    await callAs(LOCAL_AGENT, 'read_source_content', { source_id: 1 });
    expect((await research('off-limits', 'add', 'nobody.txt')).code).toBe(1);
  });

  it('keeps a map of pseudonyms whose names never enter the log', async () => {
    await codedProject();
    await research('pseudonyms', 'set', 'Annabella Quist', 'P1');
    expect((await research('pseudonyms')).out).toMatch(/Annabella Quist +P1/);
    const app = await openApp({ env: process.env });
    const { db } = app.database;
    const kept = JSON.stringify([
      await db.selectFrom('audit_log').selectAll().execute(),
      await db.selectFrom('audit_payloads').selectAll().execute(),
    ]);
    await app.close();
    expect(kept).not.toContain('Annabella');
    expect((await research('pseudonyms', 'remove', 'Nobody')).code).toBe(1);
    await research('pseudonyms', 'remove', 'Annabella Quist');
    expect((await research('pseudonyms')).out).toContain('No pseudonyms');
  });

  it('writes an account of who did what for a methods section', async () => {
    await codedProject();
    expect((await research('audit-trail', at('trail.md'))).code).toBe(0);
    const text = readFileSync(at('trail.md'), 'utf8');
    expect(text).toContain('# Use of AI agents in the analysis of “study”');
    expect(text).toMatch(/\| agent:local \|/);
    expect((await research('audit-trail', at('trail.md'))).code).toBe(1);
    expect(await terminal.json('research', 'audit-trail')).toMatchObject({ project: { name: 'study' } });
  });

  it('adds its entry to .mcp.json for the configured port and keeps the others', async () => {
    writeFileSync(at('.mcp.json'), JSON.stringify({ mcpServers: { other: { command: 'other' } }, kept: 1 }));
    expect((await research('mcp-json', terminal.home)).code).toBe(0);
    const read = () => JSON.parse(readFileSync(at('.mcp.json'), 'utf8')) as Record<string, unknown>;
    expect(read()).toMatchObject({
      kept: 1,
      mcpServers: { other: { command: 'other' }, qualcoder: { url: 'http://localhost:8765/mcp' } },
    });
    terminal.configure('[server]\nport = 9000\n');
    await research('mcp-json', at('.mcp.json'));
    expect(read()).toMatchObject({ mcpServers: { qualcoder: { url: 'http://localhost:9000/mcp' } } });
    expect((await research('mcp-json', at('other.json'))).code).toBe(2);
    expect(existsSync(at('other.json'))).toBe(false);
  });
});

describe('decisions on suggestions', () => {
  const batch = async (): Promise<string> => {
    const segments = [0, 10, 20].map((start_pos) => ({ source_id: 1, start_pos, end_pos: start_pos + 5 }));
    await callAs(LOCAL_AGENT, 'suggest_batch_coding', { code_id: 1, segments, rationale: 'fits' });
    const listed = JSON.parse((await terminal.run('approvals', 'list', '--json')).out) as {
      groupId: string;
    }[];
    return listed[0]?.groupId ?? '';
  };

  it('are made for a whole batch', async () => {
    await codedProject();
    const first = await batch();
    const rejected = await terminal.run('approvals', 'reject', '--batch', first, '--reason', 'too broad');
    expect(rejected.out).toContain('Rejected 3 approvals.');
    const approved = await terminal.run('approvals', 'approve', '--batch', await batch());
    expect(approved.out.match(/done/g)).toHaveLength(3);
    expect(await terminal.run('approvals', 'approve', '--batch', first)).toMatchObject({ code: 1 });
    expect(await terminal.run('approvals', 'reject', '1', '--batch', first)).toMatchObject({ code: 2 });
    expect(await terminal.run('approvals', 'reject')).toMatchObject({ code: 2 });
  });

  it('with --all leave those of another project pending, and --prepare opens it', async () => {
    await codedProject();
    await batch();
    await research('create', at('other'));
    const all = await terminal.run('approvals', 'approve', '--all');
    expect(all.code).toBe(1);
    expect(all.out).toContain(at('study.qda'));
    expect(all.out.match(/countersign research open .* or approve with `--prepare`/g)).toHaveLength(1);
    expect((await terminal.run('approvals', 'approve', '1')).err).toContain('--prepare');
    const pending = await terminal.run('approvals', 'list');
    expect(pending.out).toContain('in study');
    const opened = await terminal.run('approvals', 'approve', '--all', '--prepare');
    expect(opened).toMatchObject({ code: 0 });
    expect((await research('status')).out).toContain('study');
  });
});
