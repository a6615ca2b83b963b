import { existsSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { findAgentVariable } from './src/lib/agent-shell.ts';
import ProcessesFirst from './test/support/sequencer.ts';

// Thousands of small databases and repositories are made; in memory, where there is room, their flushes cost nothing.
const IN_MEMORY = '/dev/shm';
const ROOM = 4 * 1024 ** 3;
if (process.env.TMPDIR === undefined && existsSync(IN_MEMORY)) {
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  if (bavail * bsize > ROOM) process.env.TMPDIR = IN_MEMORY;
}

// An agent that runs the tests is not who the commands under test are run by.
for (let name = findAgentVariable(process.env); name; name = findAgentVariable(process.env))
  delete process.env[name];

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // Many tests wait for processes of their own, so two workers more than cores keep two cores busy.
    maxWorkers: 4,
    // Loading the source again for each of some 360 files took a third of the processor time. No test replaces a module.
    isolate: false,
    sequence: { sequencer: ProcessesFirst },
    globalSetup: ['postgres', 'sqlite-template', 'child-folder'].map((name) => `test/support/${name}.ts`),
    setupFiles: ['test/support/real-globals.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    // A busy machine must not turn a slow test red; nothing here asserts timings.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    // Some terminals and runners force colour; what tests compare has none unless they ask for it.
    // What commands decide in tests, they decide without a terminal.
    env: { FORCE_COLOR: '', COUNTERSIGN_APPROVALS__WITHOUT_TERMINAL: 'true' },
  },
});
