import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildChild } from '../../../../test/support/child.ts';
import { makeQualCoderProject } from '../test/support/qualcoder.ts';
import { openBench, type ResearchBench } from '../test/support/research.ts';
import { FileTextIndex } from './text-index.ts';

const SOURCES = 8;
const PARAGRAPHS = 120;

let bench: ResearchBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const start = async (path: string, folder: string): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [await buildChild('research-indexer'), bench.dir, path, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
};

function fill(file: string): void {
  const db = new Database(file);
  const add = db.prepare(
    "INSERT INTO source (id, name, fulltext, mediapath, memo, owner, date) VALUES (?, ?, ?, NULL, '', 'ada', '')",
  );
  for (let source = 0; source < SOURCES; source += 1) {
    const text = Array.from(
      { length: PARAGRAPHS },
      (_, at) =>
        `word${source}x${at} stands here. ${'We talk about the waiting list and the rent. '.repeat(8)}`,
    );
    add.run(100 + source, `talk-${source}.txt`, text.join('\n\n'));
  }
  db.close();
}

const numbers = (file: string, sql: string): number[] => {
  const db = new Database(file);
  const found = db.prepare(sql).raw().all() as unknown[][];
  db.close();
  return found.map(([value]) => Number(value));
};

describe('an index that several processes build simultaneously', () => {
  it.each([1, 2])('holds every passage once (round %i)', async (round) => {
    const { path, file } = makeQualCoderProject(bench.dir, 14, `indexed-${round}`);
    fill(file);
    const [folder, alone] = [join(bench.dir, `index-${round}`), join(bench.dir, `alone-${round}`)];
    const children = await Promise.all([1, 2, 3].map(() => start(path, folder)));
    const endings = children.map((child) => once(child, 'exit'));
    for (const child of children) child.stdin?.write('go\n');
    expect((await Promise.all(endings)).map(([code]) => code)).toEqual([0, 0, 0]);
    const one = await start(path, alone);
    one.stdin?.write('go\n');
    await once(one, 'exit');

    const perSource = 'SELECT count(*) FROM passage p GROUP BY source ORDER BY source';
    const wanted = numbers(join(alone, 'text.sqlite'), perSource);
    expect(wanted).toHaveLength(SOURCES + 2);
    expect(numbers(join(folder, 'text.sqlite'), perSource)).toEqual(wanted);
    const project = bench.open(path);
    const index = new FileTextIndex(join(folder, 'text.sqlite'), project);
    for (let source = 0; source < SOURCES; source += 1) {
      for (const at of [0, 1, PARAGRAPHS / 2, PARAGRAPHS - 1]) {
        const hits = await index.search([`word${source}x${at}`], { phrase: true });
        expect(hits.map(({ sourceId }) => sourceId)).toEqual([100 + source]);
      }
    }
    index.close();
    const read = 'SELECT length(vectors) FROM sentences_2 ORDER BY source';
    expect(numbers(join(folder, 'meaning.sqlite'), read)).toEqual(
      numbers(join(alone, 'meaning.sqlite'), read),
    );
  });
});
