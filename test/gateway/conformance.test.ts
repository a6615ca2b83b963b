import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServed } from '../../src/app/serving.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { nodeForSuite, requiredScenarios, runSuite } from '../conformance/suite.ts';
import { httpServer, openPlace, type Place, SAMPLING_RULE, stdioServer } from './support.ts';

const PLAIN = resolve('test/gateway/conformance/server.mjs');
const REVISIONS = { modern: ['2026-07-28', 37], legacy: ['2025-11-25', 30] } as const;
type Era = keyof typeof REVISIONS;

/** The fixtures push their questions, which is impossible on a modern connection. */
const PUSHED = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];
/** The first wants the fixture's own key, which a pushed question has not; the second needs the modern envelope. */
const WITHOUT_ENVELOPE = [
  'input-required-result-basic-elicitation',
  'input-required-result-capability-check',
];

let node: string;
let place: Place | undefined;
let child: ChildProcess | undefined;
let closing: (() => Promise<void>) | undefined;
beforeAll(async () => {
  node = await nodeForSuite();
}, 300_000);
afterEach(async () => {
  await closing?.();
  await place?.close();
  child?.kill('SIGKILL');
  closing = place = child = undefined;
});

async function startHttp(...args: string[]): Promise<number> {
  const started = spawn(process.execPath, [PLAIN, 'http', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  child = started;
  const [chunk] = (await once(started.stdout, 'data')) as [Buffer];
  return Number(chunk.toString());
}

const scores = async (url: string, era: Era) => {
  const stdout = await runSuite(node, ['--url', url, '--requirements', REVISIONS[era][0]]);
  const required = requiredScenarios(stdout);
  return { failed: required.filter(({ passed }) => !passed).map(({ name }) => name), total: required.length };
};

describe('a plain SDK server', () => {
  it.each(['modern', 'legacy'] as const)('passes every required %s scenario directly', async (era) => {
    const port = await startHttp();
    expect(await scores(`http://localhost:${port}/mcp`, era)).toEqual({
      failed: [],
      total: REVISIONS[era][1],
    });
  });
});

describe.each(['stdio', 'http'] as const)('the same server behind the gateway, over %s', (transport) => {
  it.each<[Era, Era, string[]]>([
    ['modern', 'modern', []],
    ['legacy', 'legacy', []],
    ['legacy', 'modern', PUSHED],
    ['modern', 'legacy', WITHOUT_ENVELOPE],
  ])('serves a %s client from a %s server', async (client, server, allowed) => {
    const table =
      transport === 'stdio'
        ? stdioServer('c', PLAIN, server)
        : httpServer('c', `http://127.0.0.1:${await startHttp(server)}/mcp`);
    place = await openPlace(`${table}may_ask = ["elicitation", "sampling", "roots"]\n${SAMPLING_RULE}`);
    await place.trust('c');
    const { app } = place;
    const served = await createServed(app, {
      toolkits: ['c'],
      profile: 'write',
      discovery: false,
      ownNames: true,
    });
    const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
    closing = () => listening.close();
    const { failed, total } = await scores(`http://localhost:${listening.port}/mcp`, client);
    expect(failed.toSorted()).toEqual(allowed.toSorted());
    expect(total).toBe(REVISIONS[client][1]);
    const calls = await app.kernel.telemetry.calls({ toolkit: 'c', limit: 1000 });
    expect(calls.length).toBeGreaterThan(10);
  });
});
