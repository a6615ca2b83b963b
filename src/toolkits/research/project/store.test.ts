import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dumpDatabase, INTERVIEW, makeQualCoderProject } from '../test/support/qualcoder.ts';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import { createProject } from './create.ts';
import { backupDay } from './source-text.ts';
import { resolveProject } from './store.ts';

let bench: ResearchBench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const VERSIONS = [8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

describe('opening a project', () => {
  it.each(VERSIONS)('reads everything QualCoder v%i wrote and changes no byte', (version) => {
    const { path, file } = makeQualCoderProject(bench.dir, version);
    const before = readFileSync(file);
    const project = bench.open(path);
    expect(project.info()).toMatchObject({ name: `study-v${version}`, version, coderName: 'ada' });
    expect(project.sources().map(({ type }) => type)).toEqual(['text', 'pdf', 'image', 'audio']);
    expect(project.codes().map(({ name }) => name)).toEqual(['Anxiety', 'Coping', 'Anxious']);
    expect(project.categories()).toMatchObject([{ id: 1 }, { id: 2, parentId: 1 }]);
    expect(project.codings({ sourceId: 1 }).map(({ text }) => text)).toEqual([
      'I worry about money',
      'I worry about money',
      'My sister helps me.',
    ]);
    expect(project.codingCounts()).toEqual(
      new Map([
        [1, 2],
        [2, 2],
        [5, 1],
      ]),
    );
    expect(project.imageCodings()).toMatchObject([{ x: 10.5, width: 30 }]);
    expect(project.mediaCodings()).toMatchObject([{ startMs: 1000, endMs: 2500 }]);
    expect(project.annotations(1)).toMatchObject([{ start: 0, end: 11, memo: 'who asks' }]);
    expect(project.caseTexts()).toMatchObject([{ caseId: 1, sourceId: 1, start: 0, end: INTERVIEW.length }]);
    expect(project.attributes()).toHaveLength(5);
    expect(project.journals()).toMatchObject([{ name: 'Diary', entry: 'today' }]);
    expect(project.coders()).toEqual([
      { name: 'ada', visible: true },
      { name: 'bob', visible: true },
    ]);
    project.close();
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(path)).not.toContain('data.qda-wal');
  });

  it('refuses a project newer than it knows and says what to do', () => {
    const { path, file } = makeQualCoderProject(bench.dir, 17);
    sqlite(file, "UPDATE project SET databaseversion = 'v18'");
    expect(() => bench.open(path)).toThrow(/format v18, newer than v17.*Update Countersign/);
  });

  it('refuses what QualCoder did not make, what is too old, and what is no project at all', () => {
    const { path, file } = makeQualCoderProject(bench.dir, 8);
    sqlite(file, 'ALTER TABLE source DROP COLUMN risid');
    expect(() => bench.open(path)).toThrow(/older than 3\.2 \(source\.risid is missing\)/);
    sqlite(file, "UPDATE project SET about = 'Something else'");
    expect(() => bench.open(path)).toThrow(/was not created by QualCoder/);
    writeFileSync(file, 'not a database, only text that is long enough to be read as one');
    expect(() => bench.open(path)).toThrow(/damaged or not a database/);
    expect(() => resolveProject(join(bench.dir, 'none.qda'))).toThrow(/No project found at/);
    writeFileSync(join(bench.dir, 'single.qda'), '');
    expect(() => resolveProject(join(bench.dir, 'single.qda'))).toThrow(/is a single file/);
    mkdirSync(join(bench.dir, 'empty.qda'));
    expect(() => resolveProject(join(bench.dir, 'empty.qda'))).toThrow(/has no data\.qda/);
    expect(resolveProject(file)).toBe(path);
  });
});

describe('changing a project', () => {
  it.each(VERSIONS)('leaves every other table, row and byte of a v%i project as it was', async (version) => {
    const { path, file } = makeQualCoderProject(bench.dir, version);
    const before = dumpDatabase(file);
    const project = bench.open(path);
    await project.write(byAgent(), (writer) =>
      writer.addCoding({ codeId: 2, sourceId: 1, start: 0, end: 11 }),
    );
    const after = dumpDatabase(file);
    const { code_text: codings = [], ...rest } = after;
    const { code_text: oldCodings = [], ...oldRest } = before;
    expect(rest).toEqual(oldRest);
    expect(codings.filter((row) => !oldCodings.includes(row))).toHaveLength(1);
    expect(oldCodings.every((row) => codings.includes(row))).toBe(true);
    expect(readdirSync(path).sort()).toEqual(['audio', 'data.qda', 'documents', 'images', 'video']);
  });

  it('writes a project of its own that passes the checks QualCoder makes', async () => {
    const project = bench.create('mine');
    await project.write(byAgent(), (writer) => {
      const code = writer.addCode({ name: 'Hope', color: '#abc' });
      const source = writer.addSource({ name: 'a.txt', text: '\ufefffirst\r\nsecond\rthird' });
      writer.addCoding({ codeId: code, sourceId: source, start: 6, end: 12 });
    });
    const db = new Database(join(project.path, 'data.qda'));
    const one = (sql: string) => db.prepare(sql).raw().get() as unknown[];
    expect(one('SELECT databaseversion, about FROM project')).toEqual([
      'v14',
      expect.stringContaining('QualCoder'),
    ]);
    expect(one('SELECT fulltext FROM source')).toEqual(['first\nsecond\nthird']);
    expect(one('SELECT seltext, pos0, pos1, owner, important FROM code_text_visible')).toEqual([
      'second',
      6,
      12,
      'AI: tester',
      null,
    ]);
    expect(one('SELECT color FROM code_name')).toEqual(['#aabbcc']);
    expect(one('PRAGMA journal_mode')).toEqual(['delete']);
    expect(one('PRAGMA integrity_check')).toEqual(['ok']);
    db.close();
    expect(bench.open(project.path).info().version).toBe(14);
    expect(() => createProject(project.path, { now: new Date(), coder: '' })).toThrow(/already exists/);
  });

  it('changes nothing at all when one step of a change fails', async () => {
    const { path, file } = makeQualCoderProject(bench.dir, 14);
    const before = dumpDatabase(file);
    const project = bench.open(path);
    const attempt = project.write(byAgent(), (writer) => {
      writer.addSource({ name: 'new', text: 'x', mediaPath: '/docs/new.txt', file: Buffer.from('x') });
      writer.addCode({ name: 'Anxiety' });
    });
    await expect(attempt).rejects.toMatchObject({ code: 'conflict' });
    expect(dumpDatabase(file)).toEqual(before);
    expect(existsSync(join(path, 'documents', 'new.txt'))).toBe(false);
    expect(await project.journal.recent(10)).toEqual([]);
  });

  it('refuses ranges outside the text, unknown ids and files outside the project', async () => {
    const { path } = makeQualCoderProject(bench.dir, 14);
    const project = bench.open(path);
    const code = async (start: number, end: number, sourceId = 1, codeId = 1) =>
      project.write(byAgent(), (writer) => writer.addCoding({ codeId, sourceId, start, end }));
    await expect(code(-1, 3)).rejects.toMatchObject({ code: 'invalid_position' });
    await expect(code(3, 3)).rejects.toMatchObject({ code: 'invalid_position' });
    await expect(code(0, INTERVIEW.length + 1)).rejects.toMatchObject({ code: 'invalid_position' });
    await expect(code(0, 1, 3)).rejects.toMatchObject({ code: 'invalid_position' });
    await expect(code(0, 1, 99)).rejects.toMatchObject({ code: 'source_not_found' });
    await expect(code(0, 1, 1, 99)).rejects.toMatchObject({ code: 'code_not_found' });
    const addAt = (mediaPath: string) =>
      project.write(byAgent(), (writer) =>
        writer.addSource({ name: 'e', text: 'x', mediaPath, file: Buffer.from('x') }),
      );
    await expect(addAt('/docs/../../evil')).rejects.toMatchObject({ code: 'validation_error' });
    await expect(addAt('/docs/..')).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('says that a coding exists when the same owner codes the same range again', async () => {
    const project = bench.open(makeQualCoderProject(bench.dir, 14).path);
    const add = () =>
      project.write(byAgent(), (w) => w.addCoding({ codeId: 1, sourceId: 1, start: 0, end: 5 }));
    const first = await add();
    expect(first.created).toBe(true);
    expect(await add()).toEqual({ id: first.id, created: false });
    expect(await project.journal.recent(10)).toHaveLength(1);
  });

  it('gives a new source and a new case the empty attributes QualCoder expects', async () => {
    const project = bench.open(makeQualCoderProject(bench.dir, 14).path);
    const id = await project.write(byAgent(), (writer) => {
      writer.addCase({ name: 'Participant B' });
      return writer.addSource({ name: 'b.txt', text: 'b' });
    });
    expect(
      project.attributes().filter((item) => item.scope === 'file' && item.targetId === id),
    ).toMatchObject([{ name: 'Place', value: '' }]);
    expect(project.attributes().filter((item) => item.scope === 'case' && item.targetId === 2)).toMatchObject(
      [{ name: 'Age', value: '' }],
    );
  });

  it('merges codes without losing a memo, a coding or a mark of importance', async () => {
    const project = bench.open(makeQualCoderProject(bench.dir, 14).path);
    const done = await project.write(byAgent('merge_codes'), (writer) => writer.mergeCodes(5, 1));
    expect(done).toEqual({ moved: 0, joined: 1 });
    expect(project.code(5)).toBeUndefined();
    expect(project.code(1)?.memo).toBe(
      'worry, fear\n\nMerged from "Anxious":\nbeing anxious\n#####\nprivate',
    );
    expect(project.codings({ codeId: 1 })).toMatchObject([{ memo: 'clear\n\nalso', important: true }]);
  });
});

describe('the lock file', () => {
  const lock = (path: string, text: string) => writeFileSync(join(path, 'project_in_use.lock'), text);
  const add = (bench: ResearchBench, path: string) =>
    bench.open(path).write(byAgent(), (writer) => writer.addCode({ name: `code ${Math.random()}` }));

  it('stops a change while QualCoder has the project open, and says who', async () => {
    const { path, file } = makeQualCoderProject(bench.dir, 14);
    const before = readFileSync(file);
    lock(path, `grace\n${Date.now() / 1000}`);
    await expect(add(bench, path)).rejects.toThrow(/open in QualCoder \(user grace\)/);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(bench.open(path).lockedBy()?.user).toBe('grace');
    expect(readFileSync(join(path, 'project_in_use.lock'), 'utf8')).toMatch(/^grace\n/);
  });

  it('is taken over when it is older than thirty seconds, and gone after the change', async () => {
    const { path } = makeQualCoderProject(bench.dir, 14);
    lock(path, `grace\n${Date.now() / 1000 - 31}`);
    await add(bench, path);
    expect(readdirSync(path)).not.toContain('project_in_use.lock');
  });

  it('is held during a change in the form QualCoder reads', async () => {
    const { path } = makeQualCoderProject(bench.dir, 14);
    const seen = await bench
      .open(path)
      .write(byAgent(), () => readFileSync(join(path, 'project_in_use.lock'), 'utf8'));
    expect(seen).toMatch(/^[^\n]+\n\d+(\.\d+)?$/);
  });
});

describe('backups', () => {
  it('are made once a day before the first change, and none by reading', async () => {
    const { path } = makeQualCoderProject(bench.dir, 14, 'daily');
    const before = dumpDatabase(join(path, 'data.qda'));
    writeFileSync(join(path, 'documents', 'interview1.txt'), INTERVIEW);
    const project = bench.open(path);
    const backups = () => readdirSync(bench.dir).filter((name) => name.startsWith('daily_BKUP_'));
    expect(backups()).toEqual([]);
    await project.write(byAgent(), (writer) => writer.addCode({ name: 'one' }));
    await project.write(byAgent(), (writer) => writer.addCode({ name: 'two' }));
    const [backup = '', ...more] = backups();
    expect(more).toEqual([]);
    expect(backup).toMatch(new RegExp(`^daily_BKUP_${backupDay(new Date())}_\\d\\d\\.qda$`));
    expect(dumpDatabase(join(bench.dir, backup, 'data.qda'))).toEqual(before);
    expect(readFileSync(join(bench.dir, backup, 'documents', 'interview1.txt'), 'utf8')).toBe(INTERVIEW);
    expect(bench.open(join(bench.dir, backup)).codes()).toHaveLength(3);
  });

  it('that cannot be made stop the change', async () => {
    const { path, file } = makeQualCoderProject(bench.dir, 14, 'stuck');
    const before = readFileSync(file);
    // A pipe cannot be copied, so the backup fails half-way.
    execFileSync('mkfifo', [join(path, 'documents', 'pipe')]);
    const attempt = bench.open(path).write(byAgent(), (writer) => writer.addCode({ name: 'one' }));
    await expect(attempt).rejects.toThrow(
      /Could not create today's backup of the project.*nothing was changed/,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(bench.dir).filter((name) => name.includes('stuck_BKUP'))).toEqual([]);
    expect(readdirSync(path)).not.toContain('project_in_use.lock');
  });

  it('are thinned out by age, but only our own', async () => {
    const { path } = makeQualCoderProject(bench.dir, 14, 'old');
    for (let day = 1; day <= 5; day += 1) {
      const folder = join(bench.dir, `old_BKUP_2020010${day}_09.qda`);
      mkdirSync(folder);
      if (day > 1) writeFileSync(join(folder, 'made-by-countersign.json'), '{}');
    }
    await bench.open(path).write(byAgent(), (writer) => writer.addCode({ name: 'one' }));
    const left = readdirSync(bench.dir)
      .filter((name) => name.startsWith('old_BKUP_2020'))
      .sort();
    expect(left).toEqual([
      'old_BKUP_20200101_09.qda',
      'old_BKUP_20200104_09.qda',
      'old_BKUP_20200105_09.qda',
    ]);
  });
});

function sqlite(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
  rmSync(`${file}-journal`, { force: true });
}
