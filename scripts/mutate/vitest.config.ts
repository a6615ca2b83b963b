import { defineConfig } from 'vitest/config';

/** The tests that are to notice a mutation; on SQLite alone, because they run once for each. */
export default defineConfig({
  test: {
    include: JSON.parse(process.env.MUTATE_TESTS ?? '[]') as string[],
    globalSetup: ['test/support/sqlite-template.ts'],
    env: { COUNTERSIGN_TEST_ENGINES: 'sqlite' },
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
