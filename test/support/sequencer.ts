import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Which files start first. A worker grows with every file that it imports and runs, and starting a process from a large one costs
 * several times as much as from a small one, so files that start many processes come before those that start none.
 */
const ORDER = [
  // Files that mostly wait: for killed processes, restarted databases, clocks and time-outs. Small, and none may be left alone at the end.
  /(crash|kill|schedule|restart|conformance|upkeep|short-work|thread|lost-answers|clients|passkeys)[^/]*\.test\.ts$/,
  // The same for files that start processes or fill databases for long.
  /\/(concurrency|processes|cells|damaged-rows|evidence-buffer|postgres-server|shared)\.test\.ts$/,
  // Git, for almost every step.
  /^src\/toolkits\/dev\/|reconcile-looks/,
  // Servers, commands and browsers.
  /^test\/(e2e|web|gateway|cli)\/|^src\/toolkits\/[^/]+\/test\//,
];

export default class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const path = relative(process.cwd(), moduleId);
      const found = ORDER.findIndex((pattern) => pattern.test(path));
      return found < 0 ? ORDER.length : found;
    };
    const sorted = await super.sort(files);
    // Sorting is stable: within a place the order stays.
    return sorted.sort((a, b) => place(a) - place(b));
  }
}
