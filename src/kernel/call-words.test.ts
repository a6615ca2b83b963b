import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../test/support/kernel.ts';
import { policyRule } from '../contract/policy.ts';
import { indexCallWords } from './call-words.ts';
import { erasePayloads } from './log/erase.ts';
import { describeCalls } from './views/activity.ts';

describe.each(ENGINES)('words of calls on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: {
        rules: [
          policyRule.parse({
            id: 'ask',
            tools: ['ledger_write'],
            when: "args.text.startsWith('Ask')",
            action: 'ask',
          }),
        ],
      },
    });
  });
  afterEach(() => store.close());

  const find = async (text: string, more = {}) =>
    (await test.kernel.telemetry.calls({ text, ...more })).map(({ callId }) => callId);
  const erase = (calls: readonly string[]) =>
    erasePayloads(
      store.database,
      { calls },
      { artifacts: test.kernel.artifacts, principal: 'person:ada', now: new Date() },
    );

  it('finds calls by words of arguments, results and titles, whole or begun, newest first', async () => {
    const first = await test.call('ledger_write', { text: 'Zürich office opens on Monday' });
    const second = await test.call('ledger_write', { text: 'The office closes' });
    const read = await test.call('ledger_read', { echo: 'peculiar' });
    const failed = await test.call('ledger_read', { fail: true });
    expect(await find('office')).toEqual([second.callId, first.callId]);
    expect(await find('MONDAY zür')).toEqual([first.callId]);
    expect(await find('off', { tool: 'ledger_write', limit: 1, offset: 1 })).toEqual([first.callId]);
    expect(await find('office', { tool: 'ledger_read' })).toEqual([]);
    expect(await find('peculiar')).toEqual([read.callId]);
    expect(await find('ledger closed')).toEqual([failed.callId]);
    expect(await find('ledger_read')).toEqual([failed.callId, read.callId]);
    expect(await find('nowhere')).toEqual([]);
    // Operators of either engine are words like any other.
    for (const typed of [
      'office OR nowhere',
      'office | nowhere',
      '"office',
      'office*',
      "o'ffice & !",
      'NEAR(office',
    ])
      expect(Array.isArray(await find(typed))).toBe(true);
    expect(await find('office OR nowhere')).toEqual([]);
    expect(await find('!!!')).toEqual([]);
  });

  it('finds no private value, and nothing of what was erased, whenever it was indexed', async () => {
    const kept = await test.call('ledger_write', { text: 'public', secret_note: 'clandestine' });
    expect(await find('public')).toEqual([kept.callId]);
    expect(await find('clandestine')).toEqual([]);
    const asked = await test.call('ledger_write', { text: 'Ask about umbrellas' });
    if (asked.outcome.status !== 'routed') throw new Error('not asked');
    expect(await find('umbrellas')).toEqual([asked.callId]);
    const { approval } = await test.kernel.approvals.approve(asked.outcome.approvalId, PERSON);
    expect(await find('umbrellas')).toEqual([approval.callId, asked.callId]);
    await erase([asked.callId, approval.callId ?? '', kept.callId]);
    expect(await find('umbrellas')).toEqual([]);
    expect(await find('public')).toEqual([]);
    // Erased before it was indexed.
    const late = await test.call('ledger_write', { text: 'parasols' });
    await test.kernel.flush();
    await erase([late.callId]);
    await indexCallWords(store.database);
    expect(await find('parasols')).toEqual([]);
    expect(await find('ledger_write local')).toEqual([late.callId]);
  });

  it('says in words what happened', async () => {
    const asked = await test.call('ledger_write', { text: 'Ask first' });
    await test.call('ledger_write', { text: 'straight' });
    await test.call('ledger_read', { echo: 'hi' });
    await test.call('ledger_read', { fail: true });
    if (asked.outcome.status !== 'routed') throw new Error('not asked');
    const titles = async () => {
      const calls = await test.kernel.telemetry.calls({});
      const described = await describeCalls(store.database, (name) => test.inventory.resolve(name), calls);
      return described.map(({ title, gist }) => [title, gist]);
    };
    expect(await titles()).toEqual([
      ['Read the ledger in Ledger', null],
      ['Read the ledger in Ledger', 'Echo: hi'],
      ['Wrote to the ledger in Ledger', 'Text: straight'],
      ['Write “Ask first” to the ledger (local)', 'Ask first'],
    ]);
    await test.kernel.approvals.approve(asked.outcome.approvalId, PERSON);
    expect((await titles())[0]).toEqual(['Write “Ask first” to the ledger: done (local)', 'Ask first']);
  });
});

describe('the file of an SQLite database', () => {
  it('holds no word of an erased call', async () => {
    const store = await openTestStore('sqlite');
    const { call, kernel } = await openTestKernel(store.database, store.dataDir);
    const { callId } = await call('ledger_read', { echo: 'xylophonist' });
    await call('ledger_read', { echo: 'violinist' });
    expect(await kernel.telemetry.calls({ text: 'xylophonist' })).toHaveLength(1);
    const held = (word: string) =>
      [store.url, `${store.url}-wal`].filter((file) => readFileSync(file).includes(word));
    expect(held('xylophonist')).not.toEqual([]);
    await erasePayloads(
      store.database,
      { calls: [callId] },
      { artifacts: kernel.artifacts, principal: 'person:ada', now: new Date() },
    );
    expect(held('xylophonist')).toEqual([]);
    expect(held('violinist')).not.toEqual([]);
    await store.close();
  });
});
