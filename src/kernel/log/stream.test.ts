import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, type TestKernel } from '../../../test/support/kernel.ts';
import type { Entry } from './entry.ts';
import { formatEntry, type StreamedEntry, streamEntries } from './stream.ts';

describe('an entry in the Elastic Common Schema', () => {
  const ecs = (entry: Partial<Entry>) =>
    JSON.parse(
      formatEntry({ seq: 7, hash: 'h', entry: { v: 1, kind: 'outcome', at: 'now', ...entry } }, 'ecs'),
    );

  it('has every field of the entry in its place', () => {
    const approval = { uuid: 'u', digest: 'd', approver: 'person:ada' };
    const entry: Partial<Entry> = {
      call: 'c',
      parent: 'p',
      run: 'r',
      tool: 't',
      toolkit: 'k',
      effect: 'destroy',
      principal: 'agent:local',
      client: 'client/1',
      transport: 'stdio',
      status: 'failed',
      code: 'timeout',
      decision: 'ask',
      rule: 'default',
      approval,
      replayOf: 'o',
      extra: { late: true },
    };
    expect(ecs(entry)).toEqual({
      '@timestamp': 'now',
      ecs: { version: '8.11.0' },
      message: 'outcome t failed timeout',
      event: {
        kind: 'event',
        module: 'countersign',
        dataset: 'countersign.audit',
        action: 't',
        category: ['api'],
        type: ['deletion'],
        outcome: 'failure',
        code: 'timeout',
        id: 'c',
        sequence: 7,
        hash: 'h',
      },
      user: { name: 'agent:local' },
      user_agent: { original: 'client/1' },
      rule: { name: 'default' },
      countersign: {
        kind: 'outcome',
        decision: 'ask',
        status: 'failed',
        effect: 'destroy',
        toolkit: 'k',
        transport: 'stdio',
        run: 'r',
        parent: 'p',
        approval,
        replay_of: 'o',
        extra: { late: true },
      },
    });
  });

  it('leaves out what the entry does not say', () => {
    expect(ecs({ kind: 'config' })).toEqual({
      '@timestamp': 'now',
      ecs: { version: '8.11.0' },
      message: 'config',
      event: {
        kind: 'event',
        module: 'countersign',
        dataset: 'countersign.audit',
        action: 'config',
        category: ['configuration'],
        sequence: 7,
        hash: 'h',
      },
      countersign: { kind: 'config' },
    });
  });

  it.each([
    ['ok', 'success'],
    ['failed', 'failure'],
    ['refused', 'failure'],
    ['indeterminate', 'unknown'],
  ])('reports the status %s as %s', (status, outcome) => {
    expect(ecs({ status }).event.outcome).toBe(outcome);
  });

  it.each([
    ['read', 'access'],
    ['change', 'change'],
    ['destroy', 'deletion'],
  ])('reports the effect %s as %s, and as denied when it was refused', (effect, type) => {
    expect(ecs({ effect }).event.type).toEqual([type]);
    expect(ecs({ effect, kind: 'refusal' }).event.type).toEqual(['denied']);
  });
});

describe.each(ENGINES)('the stream of entries on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const all = async (after?: number): Promise<StreamedEntry[]> => {
    const found: StreamedEntry[] = [];
    for await (const entry of streamEntries(store.database, { after })) found.push(entry);
    return found;
  };

  it('has every entry once and in order, from the position asked for', async () => {
    for (const text of ['a', 'b', 'c']) await test.call('ledger_write', { text });
    const entries = await all();
    expect(entries.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(entries.map(({ entry }) => entry?.kind)).toEqual(Array(3).fill(['intent', 'outcome']).flat());
    expect((await all(3)).map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await all(5)).toEqual([]);
  });

  it('follows writers that work at the same time without a gap, and survives a database that is away', async () => {
    const stop = new AbortController();
    const errors: unknown[] = [];
    let away = true;
    const reader = await store.again();
    const broken = {
      selectFrom: () => {
        throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      },
    } as unknown as typeof reader.db;
    const seen: number[] = [];
    const source = {
      get db() {
        return away ? broken : reader.db;
      },
    };
    const following = (async () => {
      const options = {
        follow: true,
        signal: stop.signal,
        pollMs: 5,
        onError: (e: unknown) => errors.push(e),
      };
      for await (const { seq } of streamEntries(source, options)) {
        seen.push(seq);
        if (seq >= 59) stop.abort();
      }
    })();
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    away = false;
    const writer = async (name: string): Promise<void> => {
      for (let at = 0; at < 10; at += 1) await test.call('ledger_write', { text: `${name}${at}` });
    };
    await Promise.all(['a', 'b', 'c'].map(writer));
    await following;
    expect(seen).toEqual(Array.from({ length: 60 }, (_, seq) => seq));
  });

  it('writes lines of JSON and of the Elastic Common Schema', async () => {
    await test.call('ledger_write', { text: 'hush' }, { client: 'c/1' });
    await test.setPolicy({ blocked_tools: ['ledger_erase'] });
    await test.call('ledger_erase', { text: 'x' });
    await test.kernel.flush();
    const [, outcome, refusal] = await all();
    if (!outcome?.entry || !refusal) throw new Error('Entries are missing.');
    expect(JSON.parse(formatEntry(outcome, 'jsonl'))).toMatchObject({
      seq: 1,
      hash: outcome.hash,
      kind: 'outcome',
      tool: 'ledger_write',
      status: 'ok',
    });
    expect(JSON.parse(formatEntry(outcome, 'ecs'))).toMatchObject({
      '@timestamp': outcome.entry.at,
      event: {
        action: 'ledger_write',
        outcome: 'success',
        type: ['change'],
        sequence: 1,
        hash: outcome.hash,
      },
      user: { name: 'agent:local' },
      user_agent: { original: 'c/1' },
      countersign: { kind: 'outcome', decision: 'allow' },
    });
    expect(JSON.parse(formatEntry(refusal, 'ecs'))).toMatchObject({
      event: { outcome: 'failure', type: ['denied'], code: 'policy_denied_blocked' },
    });
    for (const format of ['jsonl', 'ecs'] as const) {
      expect(formatEntry(outcome, format)).not.toContain('\n');
      expect(formatEntry(outcome, format)).not.toContain('hush');
    }
  });

  it('has what was changed as well, marked invalid and with its text', async () => {
    for (const text of ['a', 'b']) await test.call('ledger_write', { text });
    const intact = await all();
    const set = (seq: number, body: string) =>
      store.database.db.updateTable('audit_log').set({ body }).where('seq', '=', seq).execute();
    const forged = '{"at":"2026-01-01T00:00:00.000Z","kind":"read","v":1}';
    await set(1, '{not JSON');
    await set(2, forged);
    const entries = await all();
    expect(entries.map(({ seq, hash }) => ({ seq, hash }))).toEqual(
      intact.map(({ seq, hash }) => ({ seq, hash })),
    );
    expect(entries.map(({ body }) => body)).toEqual([undefined, '{not JSON', forged, undefined]);
    const [, unreadable, changed] = entries;
    if (!unreadable || unreadable.entry || !changed) throw new Error('Entries are missing.');
    expect(JSON.parse(formatEntry(changed, 'jsonl'))).toEqual({
      seq: 2,
      hash: changed.hash,
      invalid: true,
      body: forged,
    });
    expect(JSON.parse(formatEntry(unreadable, 'ecs'))).toEqual({
      '@timestamp': unreadable.at,
      ecs: { version: '8.11.0' },
      message: 'invalid entry',
      event: {
        kind: 'event',
        module: 'countersign',
        dataset: 'countersign.audit',
        action: 'invalid',
        outcome: 'failure',
        sequence: 1,
        hash: unreadable.hash,
        original: '{not JSON',
      },
      countersign: { invalid: true },
    });
    expect(unreadable.at).toBe(intact[1]?.entry?.at);
  });
});
