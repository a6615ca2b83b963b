import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { importTaguette } from '../../src/toolkits/research/exchange/import-taguette.ts';
import { SqliteFile } from '../../src/toolkits/research/project/schema.ts';
import { resolveProject, type SqliteProject } from '../../src/toolkits/research/project/store.ts';
import { byAgent, openBench, type ResearchBench } from '../../src/toolkits/research/test/support/research.ts';

/** A coded passage: one range with all its codes. */
export interface Item {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly codeIds: ReadonlySet<number>;
}

export interface Evaluated {
  readonly project: SqliteProject;
  readonly items: readonly Item[];
  readonly sourceIds: readonly number[];
  /** A copy of the project in which the codings of some sources are hidden. */
  without(sourceIds: readonly number[]): { readonly project: SqliteProject; readonly folder: string };
  close(): Promise<void>;
}

/** Opens a Taguette file or a copy of a QualCoder project in a temporary directory; the original is only read. */
export async function openForEvaluation(file: string): Promise<Evaluated> {
  if (!existsSync(file)) throw new Error(`${file} does not exist.`);
  const dir = mkdtempSync(join(tmpdir(), 'countersign-eval-'));
  const bench = await openBench(join(dir, 'bench'));
  const path = join(dir, 'whole.qda');
  if (/\.sqlite3$/i.test(file)) await importFile(bench, file, path);
  else cpSync(resolveProject(file), path, { recursive: true });
  const project = bench.open(path);
  const items = itemsOf(project);
  let copies = 0;
  return {
    project,
    items,
    sourceIds: [...new Set(items.map(({ sourceId }) => sourceId))],
    without(sourceIds) {
      copies += 1;
      const copy = join(dir, `copy-${copies}.qda`);
      cpSync(path, copy, { recursive: true });
      const db = new SqliteFile(join(copy, 'data.qda'));
      for (const id of sourceIds) db.run('DELETE FROM code_text WHERE fid = ?', id);
      db.close();
      return { project: bench.open(copy), folder: join(dir, `index-${copies}`) };
    },
    async close() {
      await bench.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function importFile(bench: ResearchBench, file: string, path: string): Promise<void> {
  const made = bench.create('imported');
  await importTaguette(made, byAgent('import_files'), file);
  made.close();
  cpSync(made.path, path, { recursive: true });
}

function itemsOf(project: SqliteProject): Item[] {
  const found = new Map<string, Item & { readonly codeIds: Set<number> }>();
  for (const { sourceId, start, end, codeId } of project.codings()) {
    const key = `${sourceId} ${start} ${end}`;
    const item = found.get(key) ?? { sourceId, start, end, codeIds: new Set<number>() };
    item.codeIds.add(codeId);
    found.set(key, item);
  }
  return [...found.values()];
}

/** The script runs as one bundled file; the worker's code is looked for next to it. */
export async function buildWorker(): Promise<void> {
  await build({
    entryPoints: ['src/toolkits/research/suggest/suggest-worker.ts'],
    outfile: '.tmp/suggest-worker.js',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
}
