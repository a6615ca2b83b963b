import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // Many tests wait for processes of their own, so one worker more than cores keeps two cores busy.
    maxWorkers: 3,
    globalSetup: ['test/support/postgres.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    // A busy machine must not turn a slow test red; nothing here asserts timings.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
