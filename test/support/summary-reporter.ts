import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line that any tool can read. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (const testModule of modules) {
      // A file that could not even be loaded has no tests to fail, and must not pass for that.
      if (testModule.state() === 'failed' && [...testModule.children.allTests()].length === 0)
        count.failed += 1;
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed' || state === 'skipped') count[state] += 1;
      }
    }
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  }
}
