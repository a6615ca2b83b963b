import { spawn } from 'node:child_process';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildChild } from '../../../../test/support/child.ts';
import { dumpDatabase, makeQualCoderProject } from '../test/support/qualcoder.ts';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';

let bench: ResearchBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

/** Starts the child, waits for it to say where it is, and kills it there. */
async function killAt(path: string, step: string, job: string): Promise<void> {
  const child = spawn(process.execPath, [await buildChild('research-writer'), bench.dir, path, step, job], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  );
  expect(said).toBe(`at ${step}\n`);
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

const JOBS = ['batch', 'import', 'merge'];
const STEPS: readonly (readonly [string, boolean])[] = [
  ['half-way', false],
  ['before-note', false],
  ['before-commit', false],
  ['after-commit', true],
];

describe.each(JOBS)('a process killed during a %s', (job) => {
  it.each(STEPS)(
    'leaves a sound project with nothing half-done when it dies at %s',
    async (step, happened) => {
      const { path, file } = makeQualCoderProject(bench.dir, 14, `${job}-${step}`);
      const before = dumpDatabase(file);
      await killAt(path, step, job);

      const project = bench.open(path);
      expect(project.info().version).toBe(14);
      const after = dumpDatabase(file);
      if (happened) expect(after).not.toEqual(before);
      else expect(after).toEqual(before);
      expect(integrity(file)).toBe('ok');

      await project.settleUnfinished();
      const states = (await project.journal.ofCall('the-call')).map(({ state }) => state);
      expect(states).toEqual(happened ? ['applied'] : step === 'before-commit' ? ['void'] : []);
      // The lock of the dead process does not stand in the way, and what happened can be undone.
      if (happened) {
        const [change] = await project.journal.ofCall('the-call');
        await project.undo(change?.id ?? -1, byAgent('undo'));
        expect(dumpDatabase(file)).toEqual(before);
      } else {
        await project.write(byAgent('again'), (writer) => writer.addCode({ name: 'after the crash' }));
      }
    },
  );
});

describe('a process killed at any moment', () => {
  it('leaves all of a batch or nothing of it', async () => {
    const found = new Set<number>();
    for (let round = 0; round < 12; round += 1) {
      const { path, file } = makeQualCoderProject(bench.dir, 14, `moment-${round}`);
      const child = spawn(
        process.execPath,
        [await buildChild('research-writer'), bench.dir, path, '', 'batch'],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      const gone = new Promise((resolve) => child.once('exit', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      // The first one is let go to its end, so that the test knows both endings.
      if (round > 0) setTimeout(() => child.kill('SIGKILL'), round * 25);
      await gone;
      found.add(count(file) - 3);
      expect(integrity(file)).toBe('ok');
    }
    expect([...found].filter((added) => added !== 0 && added !== 2000)).toEqual([]);
    expect(found).toContain(2000);
  });
});

describe('several processes', () => {
  it('change one project in turn and lose nothing', async () => {
    const { path, file } = makeQualCoderProject(bench.dir, 14, 'shared');
    const names = ['one', 'two', 'three'];
    const adder = await buildChild('research-adder');
    const codes = await Promise.all(
      names.map((name) => {
        const child = spawn(process.execPath, [adder, bench.dir, path, name, '15'], { stdio: 'inherit' });
        return new Promise((resolve) => child.once('exit', resolve));
      }),
    );
    expect(codes).toEqual([0, 0, 0]);
    const found = bench
      .open(path)
      .codes()
      .map(({ name }) => name);
    expect(found).toHaveLength(3 + 45);
    for (const name of names) expect(found.filter((code) => code.startsWith(`${name} `))).toHaveLength(15);
    expect(integrity(file)).toBe('ok');
  });
});

function integrity(file: string): unknown {
  return read(file, 'PRAGMA integrity_check');
}

const count = (file: string) => Number(read(file, 'SELECT count(*) FROM code_text'));

function read(file: string, sql: string): unknown {
  const db = new Database(file);
  const [value] = db.prepare(sql).raw().get() as unknown[];
  db.close();
  return value;
}
