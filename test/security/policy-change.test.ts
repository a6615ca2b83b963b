import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInventory } from '../../src/catalogue/inventory.ts';
import { type McpPolicyConfig, mcpPolicy } from '../../src/contract/policy.ts';
import { LOCAL_AGENT } from '../../src/contract/principal.ts';
import type { ToolkitHost } from '../../src/contract/toolkit.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { PolicyInForce } from '../../src/kernel/policy/in-force.ts';
import { compilePolicy, type Policy } from '../../src/kernel/policy/index.ts';
import type { PolicySource } from '../../src/kernel/ports.ts';
import { OVERRIDES_KEY, stampOf } from '../../src/kernel/store/pause.ts';
import { openTestStore, type TestStore } from '../support/engines.ts';
import { createLedgerTable, ledgerRows, ledgerToolkit } from '../support/ledger.ts';

const toolkit = ledgerToolkit();
const catalogue = toolkit.tools.map(({ name, category, effect, policyName, input }) => ({
  name,
  toolkit: 'ledger',
  category,
  effect,
  policyName,
  inputJson: input.json,
}));
const policyOf = (policy: Partial<McpPolicyConfig>) => mcpPolicy.schema.parse(policy);
const compile = (policy: Partial<McpPolicyConfig>): Promise<Policy> =>
  compilePolicy({
    mode: 'autopilot',
    approvalMode: false,
    policy: policyOf(policy),
    catalogue,
    toolkits: [],
  });

describe('a policy that changes while calls come in', () => {
  let store: TestStore;
  let clock: number;

  beforeEach(async () => {
    clock = Date.parse('2026-03-01T12:00:00Z');
    store = await openTestStore('sqlite');
    await createLedgerTable(store.database.db as unknown as Kysely<unknown>);
  });
  afterEach(() => store.close());

  const kernelUnder = async (policy: PolicySource) => {
    const { database, dataDir } = store;
    const host = { db: () => database.db } as unknown as ToolkitHost;
    const inventory = await createInventory([{ id: 'ledger', load: async () => toolkit }], async () => host);
    const kernel = createKernel({
      database,
      dataDir,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      limits: {
        deadlineMs: 5_000,
        agentsMayApprove: false,
        approvalExpiryMs: 86_400_000,
        maxPending: 10_000,
        maxKeyLength: 512,
      },
      policy,
      now: () => new Date(clock),
      resolve: (name) => inventory.resolve(name),
    });
    return async (tool: string, args: { text?: string }) => {
      const bound = await inventory.resolve(tool);
      if (!bound) throw new Error(`No tool ${tool}`);
      return (await kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test' })).outcome;
    };
  };
  const inForce = (tools = catalogue) =>
    new PolicyInForce(
      {
        mode: 'autopilot',
        approvalMode: false,
        policy: policyOf({}),
        catalogue: async () => tools,
        toolkits: [],
      },
      store.database,
    );
  const deny = (id: string, tool: string) => ({
    id,
    tools: [tool],
    action: 'deny' as const,
    priority: 1,
    enabled: true,
  });

  it('applies a rule to the first call of a tool that came since the rules were read', async () => {
    const [old, checked] = await Promise.all([compile({}), compile({ blocked_tools: ['ledger_read'] })]);
    let isBehind = false;
    let current = old;
    const call = await kernelUnder({
      get current() {
        return current;
      },
      get isBehind() {
        return isBehind;
      },
      stamp: stampOf(undefined),
      refresh: async () => {
        if (isBehind) current = checked;
        isBehind = false;
      },
    });
    expect(await call('ledger_write', { text: 'first' })).toMatchObject({ status: 'ok' });
    isBehind = true;
    // The clock stands still: no second has passed since the rules were read.
    expect(await call('ledger_read', {})).toMatchObject({
      status: 'refused',
      fault: { code: 'policy_denied_blocked' },
    });
  });

  it('evaluates a change again that was evaluated before the edit, though another call has read the edit since', async () => {
    const stored = JSON.stringify({ rules: [] });
    const [old, edited] = await Promise.all([compile({}), compile({ blocked_tools: ['ledger_write'] })]);
    let state = { current: old, stamp: 'none' };
    const call = await kernelUnder({
      get current() {
        const { current } = state;
        // The edit arrives, and a neighbouring call reads it, right after this one was evaluated.
        queueMicrotask(() => {
          state = { current: edited, stamp: stampOf(stored) };
        });
        return current;
      },
      get stamp() {
        return state.stamp;
      },
      refresh: async () => {},
    });
    await store.database.db.insertInto('settings').values({ key: OVERRIDES_KEY, value: stored }).execute();
    expect(await call('ledger_write', { text: 'late' })).toMatchObject({
      status: 'refused',
      fault: { code: 'policy_denied_blocked' },
    });
    expect(await ledgerRows(store.database.db as unknown as Kysely<unknown>)).toEqual([]);
  });

  it('reaches the reads of another process within a second', async () => {
    const [mine, theirs] = [inForce(), inForce()];
    await Promise.all([mine.refresh(), theirs.refresh()]);
    const call = await kernelUnder(mine);
    expect((await call('ledger_read', {})).status).toBe('ok');
    await theirs.setOverrides({ rules: [deny('no-reads', 'ledger_read')] }, { kind: 'person', id: 'ada' });
    clock += 1_000;
    expect(await call('ledger_read', {})).toMatchObject({ status: 'refused', rule: 'no-reads' });
  });

  it('denies every change when what is stored has a key that no one knows here', async () => {
    const mine = inForce();
    await mine.refresh();
    const call = await kernelUnder(mine);
    await store.database.db
      .insertInto('settings')
      .values({ key: OVERRIDES_KEY, value: JSON.stringify({ rules: [], templates: 'observe' }) })
      .execute();
    expect(await call('ledger_write', { text: 'x' })).toMatchObject({ status: 'refused' });
    expect(await ledgerRows(store.database.db as unknown as Kysely<unknown>)).toEqual([]);
  });

  it('denies reads too when what is stored does not compile here', async () => {
    const mine = inForce();
    await mine.refresh();
    const call = await kernelUnder(mine);
    const tool = 'a_tool_only_the_other_process_has';
    const [known] = catalogue;
    if (!known) throw new Error('The ledger has no tools.');
    const theirs = inForce([...catalogue, { ...known, name: tool, policyName: undefined }]);
    await theirs.setOverrides({ rules: [deny('elsewhere', tool)] }, { kind: 'person', id: 'ada' });
    clock += 1_000;
    for (const _ of [1, 2]) expect((await call('ledger_read', {})).status).not.toBe('ok');
  });
});
