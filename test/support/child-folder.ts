import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    childFolder: string;
  }
}

/** Where the scripts of `children/` are built, once for each run; inside the project, where they find its packages. */
export default function setup(project: TestProject): () => void {
  const parent = join(process.cwd(), '.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'children-'));
  project.provide('childFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
