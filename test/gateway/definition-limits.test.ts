import { afterEach, describe, expect, it } from 'vitest';
import { LISTING_LIMITS, rememberListing } from '../../src/gateway/listing.ts';
import { readServerLog } from '../../src/gateway/server-log.ts';
import { type GatewayDb, readSeen, trust } from '../../src/gateway/store.ts';
import { gatewayViews } from '../../src/gateway/views.ts';
import { ENGINES, freshPostgres } from '../support/engines.ts';
import { openScripted, reader, type ScriptedPlace, tool } from './scripted.ts';
import { PERSON } from './support.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

type Definition = Parameters<typeof rememberListing>[3][number];
const named = (name: string, description: string) => reader(name, { description }) as Definition;
const facts = { era: { kind: 'legacy' }, offers: {} };
const db = () => place.app.database.db as unknown as GatewayDb;

describe.each(ENGINES)('what a server lists, stored on %s', (engine) => {
  const open = async (): Promise<void> => {
    const env: Record<string, string> =
      engine === 'postgres' ? { COUNTERSIGN_STORAGE__URL: await freshPostgres() } : {};
    place = await openScripted({ tools: [reader('look')] }, '', env);
  };
  let minute = 0;
  const list = (definitions: Definition[], limits = LISTING_LIMITS) => {
    minute += 1;
    return rememberListing(db(), 's', 't', definitions, facts, new Date(minute * 60_000), limits);
  };
  const rows = () => readSeen(db(), 's', 't');

  it('replaces older versions of a tool that changes with every listing, and never a trusted one', async () => {
    await open();
    await list([named('look', 'first')]);
    const [first] = await rows();
    if (!first) throw new Error('Nothing was stored.');
    await trust(db(), 's', 't', [first], 'person:ada', new Date());
    await list([named('look', 'second')]);
    const second = (await rows()).find(({ state }) => state === 'seen');
    if (!second) throw new Error('The second version was not stored.');
    await trust(db(), 's', 't', [second], 'person:ada', new Date());
    for (let n = 0; n < 40; n += 1) await list([named('look', `version ${n}`)]);
    const kept = await rows();
    expect(kept.filter(({ state }) => state === 'seen')).toHaveLength(LISTING_LIMITS.versions);
    expect(kept[0]?.definition.description).toBe('version 39');
    expect(kept.filter(({ state }) => state !== 'seen').map(({ state, hash }) => [state, hash])).toEqual([
      ['trusted', second.hash],
      ['retired', first.hash],
    ]);
  });

  it('forgets tools that are no longer listed, oldest first, when a server invents names', async () => {
    await open();
    await list([named('kept', 'trusted')]);
    await trust(db(), 's', 't', (await rows()).slice(0, 1), 'person:ada', new Date());
    const limits = { ...LISTING_LIMITS, earlier: 30 };
    for (let n = 0; n < 20; n += 1)
      await list(
        Array.from({ length: 10 }, (_, at) => named(`tool_${n}_${at}`, 'x')),
        limits,
      );
    const names = (await rows()).map(({ tool: name }) => name);
    expect(names).toContain('kept');
    expect(names).toHaveLength(1 + 10 + 30);
    expect(names).toEqual(expect.arrayContaining(['tool_19_9', 'tool_16_0']));
    const bytes = { ...LISTING_LIMITS, bytes: 3_000 };
    await list([named('last', 'x'.repeat(1_000))], bytes);
    await list([named('last', 'y'.repeat(1_000))], bytes);
    await list([named('last', 'z'.repeat(1_000))], bytes);
    await list([named('last', 'u'.repeat(1_000))], bytes);
    const sizes = (await rows()).filter(({ state }) => state === 'seen');
    expect(
      sizes.map(({ definition }) => JSON.stringify(definition).length).reduce((a, b) => a + b),
    ).toBeLessThan(2 * 3_000);
    expect((await rows()).map(({ tool: name }) => name)).toContain('kept');
  });

  it('ignores what is too much or too long, but nothing that a person trusted', async () => {
    await open();
    const trusted = ['a', 'b', 'c'].map((name) => named(name, 'trusted'));
    await list(trusted);
    await trust(db(), 's', 't', await rows(), 'person:ada', new Date());
    const limits = { ...LISTING_LIMITS, tools: 2, definition: 1_000 };
    const long = named('long', 'x'.repeat(2_000));
    const more = ['d', 'e', 'f'].map((name) => named(name, 'new'));
    const { kept, ignored } = await list([long, ...more, ...trusted], limits);
    expect(kept.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(ignored).toBe(2);
    expect((await rows()).map(({ tool: name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('a server that lists too much', () => {
  const many = Array.from({ length: LISTING_LIMITS.tools + 5 }, (_, at) => reader(`tool_${at}`));

  it('continues with what was trusted, and the server log, its page and `servers show` say so', async () => {
    place = await openScripted({ tools: [reader('look'), tool('act')] });
    await place.trust('s');
    place.script({ tools: [...many, reader('look'), tool('act')] });
    await place.reopen();
    expect((await place.call('s__look', {})).outcome).toMatchObject({ status: 'ok' });
    const note = /5 of the tools that s lists are ignored/;
    expect(readServerLog(place.dir, 's', 50).join('\n')).toMatch(note);
    const { dataDir, servers } = place.app.config;
    const targetOf = async (name: string) => place.app.gateway?.targetOf(name);
    const view = await gatewayViews.server?.(
      { name: 's', lines: 10 },
      { services: { db: db(), dataDir, servers, targetOf }, person: PERSON },
    );
    expect(view).toMatchObject({ notes: [expect.stringMatching(note)] });
    const [waiting] = await place.app.kernel.approvals.list({ tools: ['server_trust'], states: ['pending'] });
    expect(waiting?.args.tools).toHaveLength(LISTING_LIMITS.tools);
    expect(JSON.stringify(waiting?.context).length).toBeLessThan(100_000);
  });
});

it('a server that changes its tools all the time fills the inbox no further', async () => {
  const announced = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  const raw = `${announced}\n{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}`;
  const tools = (description: string) => [reader('look', { description }), tool('act')];
  place = await openScripted({ tools: tools('Looks.'), answers: { act: { raw } } });
  await place.trust('s');
  await place.reopen();
  for (let n = 0; n < 40; n += 1) {
    place.script({ tools: tools(`version ${n}`), answers: { act: { raw } } });
    expect((await place.call('s__act', {})).outcome.status).toBe('ok');
  }
  const asked = await place.app.kernel.approvals.list({ tools: ['server_trust'], limit: 500 });
  expect(asked.filter(({ state }) => state === 'pending')).toHaveLength(1);
  expect(asked.length).toBeLessThanOrEqual(20);
  expect(readServerLog(place.dir, 's', 200).join('\n')).toContain(
    's changes its tools too often; `countersign servers show s` shows the newest definitions',
  );
});
