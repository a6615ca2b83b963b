import { defineConfig } from 'vitest/config';

/** The tests that are to notice a mutation; on SQLite alone, because they run once for each. */
export default defineConfig({
  test: {
    include: JSON.parse(process.env.MUTATE_TESTS ?? '[]') as string[],
    setupFiles: ['scripts/mutate/setup.ts'],
    globalSetup: ['test/support/sqlite-template.ts'],
    env: { COUNTERSIGN_TEST_ENGINES: 'sqlite', COUNTERSIGN_TEST_PROPERTY_SHARE: '0.02' },
    // A mutant may wait for ever; the slowest test takes 2 s alone.
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
