import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openStorage } from '../../src/app/open-storage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sqliteTemplate: string;
  }
}

/** A SQLite file with the current schema, made once for each run: copying it is far cheaper than every migration with its flushes. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-template-'));
  const path = join(folder, 'countersign.db');
  // Closing brings all of it into the one file.
  await (await openStorage({ url: path })).close();
  project.provide('sqliteTemplate', path);
  return () => rmSync(folder, { recursive: true, force: true });
}
