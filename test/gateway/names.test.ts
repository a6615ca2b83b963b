import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { SERVER_NAME } from '../../src/contract/servers.ts';
import { publicName } from '../../src/gateway/names.ts';
import { Authenticator } from '../support/authenticator.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { tool } from './scripted.ts';
import { connect, openPlace, PERSON, type Place, SCRIPTED, serve, stdioServer } from './support.ts';

/** What objects, functions, arrays and maps have or inherit. */
const INHERITED = [
  ...new Set(
    [Object, Function, Array, Map].flatMap((one) => [
      ...Object.getOwnPropertyNames(one),
      ...Object.getOwnPropertyNames(one.prototype),
    ]),
  ),
];
const EFFECTS = ['read', 'change', 'destroy'] as const;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Names that mean something to HTTP itself. */
const OWN_HEADERS = /^(content-|connection$|host$|keep-alive$|upgrade$|expect$|te$|trailer$|transfer-)/i;

const LIMITS = '[mcp_policy]\nmax_mutations_per_hour = 100000\n[approvals]\nmax_pending_per_agent = 100000\n';

const closing: (() => unknown)[] = [];
afterEach(close);

async function close(): Promise<void> {
  for (const one of closing.splice(0).reverse()) await one();
}

/** One server that lists these tools, and what reached it. */
async function openServer(server: string, tools: readonly object[], settings = LIMITS) {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-names-'));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'script.json');
  writeFileSync(file, JSON.stringify({ tools }));
  const place = await openPlace(`${settings}${stdioServer(server, SCRIPTED, file)}`);
  closing.push(() => place.close());
  const reached = (): { name: string; arguments: JsonObject }[] =>
    existsSync(`${file}.calls`)
      ? readFileSync(`${file}.calls`, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];
  return { place, reached };
}

async function agentOf({ app }: Place, toolkits: readonly string[], headers: JsonObject = {}) {
  const gateway = await serve(app, toolkits);
  closing.push(() => gateway.close());
  const requestInit = { headers: headers as Record<string, string> };
  const agent = await connect(new StreamableHTTPClientTransport(gateway.url, { requestInit }));
  closing.push(() => agent.close());
  return agent;
}

const name = fc.oneof(fc.constantFrom(...INHERITED), fc.string({ minLength: 1, maxLength: 40 }));
const args = fc.dictionary(
  name.filter((one) => one !== '__proto__'),
  fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.dictionary(
      name.filter((one) => one !== '__proto__'),
      fc.string(),
    ),
  ),
  { maxKeys: 4 },
);

describe('a tool with any name', () => {
  it('is never called without a decision and an entry', async () => {
    const server = fc.constantFrom('s', ...INHERITED.filter((one) => SERVER_NAME.test(one)));
    const extra = fc.uniqueArray(fc.tuple(name, fc.constantFrom(...EFFECTS)), {
      maxLength: 12,
      selector: ([one]) => one,
    });
    const header = fc.dictionary(
      name.filter((one) => HEADER.test(one) && !OWN_HEADERS.test(one) && one !== '__proto__'),
      fc.stringMatching(/^[!-~]{0,12}$/),
      { maxKeys: 4 },
    );
    await fc.assert(
      fc.asyncProperty(server, extra, fc.array(args, { minLength: 1, maxLength: 2 }), header, checkNames),
      { numRuns: propertyRuns(4), endOnFailure: true },
    );
  }, 240_000);
});

async function checkNames(
  server: string,
  extra: readonly (readonly [string, (typeof EFFECTS)[number]])[],
  given: readonly JsonObject[],
  headers: JsonObject,
): Promise<void> {
  const effects = new Map([...INHERITED.map((one) => [one, 'destroy'] as const), ...extra]);
  // Only one of the tools whose public names are the same is offered.
  const named = new Map([...effects.keys()].map((one) => [publicName(server, one), one]));
  const tools = [...named.values()].map((one) => tool(one, { inputSchema: { type: 'object' } }));
  const { place, reached } = await openServer(server, tools);
  await place.trust(server, Object.fromEntries(effects));
  const agent = await agentOf(place, [server], headers);
  const listed = new Set((await agent.listTools()).tools.map((one) => one.name));
  for (const publicly of named.keys()) expect(listed).toContain(publicly);

  for (const publicly of named.keys())
    for (const one of given) await agent.callTool({ name: publicly, arguments: one }).catch(String);
  await place.app.kernel.flush();
  expect(place.app.kernel.evidence()).toMatchObject({ writable: true, waiting: 0, unwritten: 0 });
  const rows = await checkRows(place, server, effects, named);
  expect(rows).toHaveLength(named.size * given.length);
  const ran = rows.filter(({ decision }) => decision === 'allow').map(({ tool: one }) => named.get(one));
  expect(
    reached()
      .map((call) => call.name)
      .sort(),
  ).toEqual(ran.sort());
  await close();
}

/** Every call has the effect that a person confirmed, a decision and an entry, and no change ran without an intent. */
async function checkRows(
  { app }: Place,
  server: string,
  effects: ReadonlyMap<string, string>,
  named: ReadonlyMap<string, string>,
) {
  const { db } = app.database;
  const rows = await db.selectFrom('calls').selectAll().where('toolkit', '=', server).execute();
  const entries = await db.selectFrom('audit_log').select(['call_id', 'kind']).execute();
  const isLogged = new Set(entries.map(({ call_id }) => call_id));
  const intents = new Set(entries.filter(({ kind }) => kind === 'intent').map(({ call_id }) => call_id));
  for (const row of rows) {
    const remote = named.get(row.tool) ?? '';
    expect(row.effect, remote).toBe(effects.get(remote));
    expect(isLogged, remote).toContain(row.call_id);
    // Arguments that no tool takes are refused before any decision.
    if (row.code === 'invalid_input') {
      expect(row.status, remote).toBe('failed');
      continue;
    }
    expect(['allow', 'ask'], remote).toContain(row.decision);
    if (row.effect === 'destroy') expect(row, remote).toMatchObject({ decision: 'ask', status: 'routed' });
    if (row.effect !== 'read' && row.decision === 'allow') expect(intents, remote).toContain(row.call_id);
  }
  return rows;
}

describe('a permit for a remote tool', () => {
  it.each(['off', 'destructive'] as const)(
    'covers arguments named like those that steer our own tools (passkey = "%s")',
    async (passkey) => {
      const settings = `[approvals]\npasskey = "${passkey}"\n`;
      const { place, reached } = await openServer(
        's',
        [tool('deploy', { inputSchema: { type: 'object' } })],
        settings,
      );
      await place.trust('s', { deploy: 'destroy' });
      const { kernel } = place.app;
      const key = new Authenticator();
      if (passkey !== 'off') {
        const { nonce, challenge } = await kernel.passkeys.beginEnrolment('session', key.key('person:ada'));
        await kernel.passkeys.finishEnrolment('session', nonce, key.sign(challenge));
      }
      const agent = await agentOf(place, ['s', 'governance']);
      const call = async (args: JsonObject): Promise<unknown> =>
        (await agent.callTool({ name: 's__deploy', arguments: args })).structuredContent;
      const wanted = { tool: 's__deploy', arguments: { env: 'prod' }, reason: 'please' };
      await agent.callTool({ name: 'approval_request', arguments: wanted });
      const [permit] = await kernel.approvals.list({ states: ['pending'], kind: 'permit' });
      const id = permit?.id ?? 0;
      expect(permit?.args).toEqual({ env: 'prod' });
      if (passkey === 'off') await kernel.approvals.approve(id, PERSON);
      else {
        const begun = await kernel.signing.begin('session', [{ id, version: 1 }], { person: 'person:ada' });
        await kernel.signing.finish('session', begun.nonce, key.signAs(begun.challenge));
      }
      const others: readonly JsonObject[] = [
        { env: 'prod', approval_id: '--force --all', dry_run: false },
        { env: 'prod', approval_id: permit?.uuid ?? '' },
        { env: 'prod', dry_run: false },
        { env: 'prod', dry_run: true },
      ];
      for (const other of others) expect(await call(other)).toMatchObject({ routed_to_approval: true });
      expect(reached()).toEqual([]);
      await call({ env: 'prod' });
      expect(reached()).toMatchObject([{ arguments: { env: 'prod' } }]);
      // A person is shown, and decides on, all of them.
      const pending = await kernel.approvals.list({ states: ['pending'] });
      expect(pending.map(({ args: shown }) => shown)).toEqual(expect.arrayContaining([...others]));
    },
    60_000,
  );
});
