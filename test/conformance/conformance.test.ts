import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConformanceServer } from './server.ts';
import { nodeForSuite, requiredScenarios, runSuite } from './suite.ts';

/** Extensions are on no revision's list, so the revision is forced. */
const AT = ['--spec-version', '2026-07-28'];

describe('the official conformance suite', () => {
  let server: Awaited<ReturnType<typeof startConformanceServer>>;
  let dataDir: string;
  let node: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'countersign-conformance-'));
    node = await nodeForSuite();
    server = await startConformanceServer(dataDir);
  }, 300_000);
  afterAll(async () => {
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it.each([
    ['2026-07-28', 37],
    ['2025-11-25', 30],
  ])(
    'passes every required server scenario of %s, through the pipeline',
    async (version, scenarios) => {
      const output = join(dataDir, version);
      const stdout = await runSuite(node, ['--url', server.url, '--requirements', version, '-o', output]);
      const required = requiredScenarios(stdout);
      expect(required.filter(({ passed }) => !passed)).toEqual([]);
      expect(required).toHaveLength(scenarios);
      const calls = await server.app.kernel.telemetry.calls({ toolkit: 'conformance', limit: 1000 });
      expect(calls.length).toBeGreaterThan(10);
    },
    300_000,
  );

  // Not scored by the suite.
  it.each([
    ['lifecycle', 9],
    ['capability-negotiation', 5],
    ['wire-fields', 4],
    ['request-state-removal', 3],
    ['request-headers', 5],
    ['required-task-error', 3],
    ['mrtr-input', 4],
    ['mrtr-composition', 2],
    ['dispatch-and-envelope', 9],
  ])(
    'passes the scenario tasks-%s of the tasks extension',
    async (scenario, checks) => {
      const stdout = await runSuite(node, [
        '--url',
        server.url,
        '--scenario',
        `tasks-${scenario}`,
        '--force',
        ...AT,
      ]);
      expect(stdout).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`);
    },
    60_000,
  );
});
