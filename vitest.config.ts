import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    globalSetup: ['test/support/postgres.ts'],
    // A busy machine must not turn a slow test red; nothing here asserts timings.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
