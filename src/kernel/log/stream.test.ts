import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, type TestKernel } from '../../../test/support/kernel.ts';
import { formatEntry, type StreamedEntry, streamEntries } from './stream.ts';

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
    expect(entries.map(({ entry }) => entry.kind)).toEqual(Array(3).fill(['intent', 'outcome']).flat());
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
    if (!outcome || !refusal) throw new Error('Entries are missing.');
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
});
