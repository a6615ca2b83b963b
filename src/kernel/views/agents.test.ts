import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import { readAgent, readAgents } from './agents.ts';
import { countRuleHits } from './calls.ts';
import { recommend } from './recommend.ts';

describe.each(ENGINES)('the history of agents on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'], blocked_tools: ['ledger_write_blind'] },
    });
  });
  afterEach(() => store.close());

  const ask = async (text: string): Promise<number> => {
    const { outcome } = await test.call('ledger_write', { text });
    if (outcome.status !== 'routed') throw new Error(outcome.status);
    return outcome.approvalId;
  };

  it('counts what was asked, approved, edited, rejected and refused', async () => {
    const { approvals, agents } = test.kernel;
    await approvals.approve(await ask('one'), PERSON);
    const edited = await ask('two');
    await approvals.edit(edited, PERSON, { text: 'TWO' });
    await approvals.edit(edited, PERSON, { text: 'two' });
    await approvals.approve(edited, PERSON);
    await approvals.reject(await ask('three'), PERSON, { reason: 'no' });
    await ask('four');
    await test.call('ledger_write_blind', { text: 'x' });
    await test.kernel.flush();
    await agents.setPaused('local', true, PERSON);
    const { agents: all } = await readAgents(test.kernel, new Date());
    expect(all).toMatchObject([
      {
        name: 'local',
        paused_by: 'person:ada',
        decisions: { asked: 4, approved: 1, edited: 1, rejected: 1, pending: 1 },
      },
    ]);
    expect(all[0]?.days.at(-1)).toBe(7);
    await agents.setPaused('local', false, PERSON);
    const tools = test.inventory.loaded().flatMap((one) => one.tools);
    const agent = await readAgent(test.kernel, tools, 'local', new Date());
    expect(agent?.refused).toEqual({ by_policy: 1, by_limit: 0 });
    expect(agent?.last.map(({ state, edited: was, reason }) => [state, was, reason])).toEqual([
      ['rejected', false, 'no'],
      ['done', true, null],
      ['done', false, null],
    ]);
    expect(agent?.reads.allowed).toBeGreaterThan(0);
    expect(await countRuleHits(store.database, new Date(0))).toEqual({
      'list:require_approval_for': 4,
      'list:blocked_tools': 1,
    });
  });

  it('recommends a rule where everything was rejected, and nothing where one was edited', async () => {
    const { approvals, standing, signersFor } = test.kernel;
    for (let n = 0; n < 10; n += 1) await approvals.reject(await ask(`line ${n}`), PERSON);
    const found = () =>
      recommend({
        database: store.database,
        standing,
        signersFor,
        resolve: (name) => test.inventory.resolve(name),
        now: new Date(),
      });
    expect(await found()).toMatchObject({
      recommendations: [
        {
          kind: 'rule',
          evidence: { asked: 10, rejected: 10 },
          rule: { tools: ['ledger_write'], principals: ['agent:local'], action: 'deny' },
        },
      ],
    });
    await approvals.approve(await ask('allowed'), PERSON);
    expect((await found()).recommendations).toEqual([]);
  });
});
