import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInventory } from '../../src/catalogue/inventory.ts';
import { mcpPolicy } from '../../src/contract/policy.ts';
import { LOCAL_AGENT } from '../../src/contract/principal.ts';
import type { ToolkitHost } from '../../src/contract/toolkit.ts';
import { createKernel, type Kernel } from '../../src/kernel/kernel.ts';
import { prepareEntry } from '../../src/kernel/log/index.ts';
import { writeWithEvidence } from '../../src/kernel/log/write.ts';
import { PolicyInForce } from '../../src/kernel/policy/in-force.ts';
import { OVERRIDES_KEY } from '../../src/kernel/store/pause.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { PERSON } from '../support/kernel.ts';
import { createLedgerTable, ledgerRows, ledgerToolkit } from '../support/ledger.ts';

const toolkit = ledgerToolkit();
const DENY = {
  id: 'no-writes',
  tools: ['ledger_write'],
  action: 'deny' as const,
  priority: 1,
  enabled: true,
};

describe.each(ENGINES)('settings edited in the database, on %s', (engine) => {
  let store: TestStore;
  let clock: number;
  beforeEach(async () => {
    clock = Date.parse('2026-03-01T12:00:00Z');
    store = await openTestStore(engine);
    await createLedgerTable(store.database.db as unknown as Kysely<unknown>);
  });
  afterEach(() => store.close());

  /** What one process has: rules that deny reads are in its configuration, to tell it apart from no policy at all. */
  async function open() {
    const { database, dataDir } = store;
    const policy = new PolicyInForce(
      {
        mode: 'autopilot',
        approvalMode: false,
        policy: mcpPolicy.schema.parse({
          max_mutations_per_hour: 100_000,
          rules: [
            {
              id: 'no-secrets',
              tools: ['ledger_read'],
              when: 'now < timestamp("2000-01-01T00:00:00Z")',
              action: 'deny',
            },
          ],
        }),
        catalogue: async () =>
          toolkit.tools.map(({ name, category, effect, policyName, input }) => ({
            name,
            toolkit: 'ledger',
            category,
            effect,
            policyName,
            inputJson: input.json,
          })),
        toolkits: [],
      },
      database,
    );
    await policy.refresh();
    const host = { db: () => database.db } as unknown as ToolkitHost;
    const inventory = await createInventory([{ id: 'ledger', load: async () => toolkit }], async () => host);
    const kernel: Kernel = createKernel({
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
    const call = async (tool: string, args: { text?: string } = {}) => {
      clock += 1_000;
      const bound = await inventory.resolve(tool);
      if (!bound) throw new Error(`No tool ${tool}`);
      return (await kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test' })).outcome;
    };
    return { policy, kernel, call };
  }
  const settings = () => store.database.db;
  const edit = (value: string) =>
    settings().updateTable('settings').set({ value }).where('key', '=', OVERRIDES_KEY).execute();
  const written = async () =>
    (await ledgerRows(store.database.db as unknown as Kysely<unknown>)).map(({ text }) => text);
  const refused = {
    status: 'refused',
    rule: 'hard:unreadable_policy',
    fault: { code: 'policy_error', message: expect.stringContaining('do not match the audit log') },
  };

  it.each<[string, () => Promise<unknown>]>([
    ['that are looser', () => edit(JSON.stringify({ rules: [] }))],
    ['that are deleted', () => settings().deleteFrom('settings').where('key', '=', OVERRIDES_KEY).execute()],
  ])(
    'rules %s allow no change, in processes that run and in new ones, until a person sets them',
    async (_, forge) => {
      const running = await open();
      await running.policy.setOverrides({ rules: [DENY] }, PERSON);
      expect(await running.call('ledger_write', { text: 'a' })).toMatchObject({ rule: 'no-writes' });
      await forge();
      const fresh = await open();
      for (const { call, policy } of [running, fresh]) {
        expect(await call('ledger_write', { text: 'b' })).toMatchObject(refused);
        expect(await call('ledger_read')).toMatchObject({ status: 'ok' });
        expect(policy.problem).toContain('do not match the audit log');
        expect(policy.problem).toContain('the Policy page of the web app');
        expect(policy.current.status()).toMatchObject({ problem: policy.problem });
        // What was forged is not offered as a start for what a person sets.
        expect(await policy.overrides()).toEqual({ rules: [] });
      }
      expect(await written()).toEqual([]);
      await fresh.policy.setOverrides({ rules: [] }, PERSON);
      for (const { call } of [running, fresh])
        expect(await call('ledger_write', { text: 'c' })).toMatchObject({ status: 'ok' });
      expect([running.policy.problem, fresh.policy.problem]).toEqual([undefined, undefined]);
    },
  );

  it('a pause whose row is deleted continues, in processes that run and in new ones, until a person resumes', async () => {
    const running = await open();
    expect(await running.call('ledger_write', { text: 'a' })).toMatchObject({ status: 'ok' });
    await running.kernel.setPaused(true, PERSON);
    await settings().deleteFrom('settings').where('key', '=', 'paused').execute();
    const fresh = await open();
    for (const { call, kernel } of [running, fresh]) {
      expect(await call('ledger_write', { text: 'b' })).toMatchObject({
        status: 'refused',
        rule: 'hard:paused',
        fault: { code: 'paused', message: expect.stringContaining('the audit log has it') },
      });
      expect(await kernel.isPaused()).toBe(true);
    }
    await fresh.kernel.setPaused(false, PERSON);
    for (const { call, kernel } of [running, fresh]) {
      expect(await call('ledger_write', { text: 'c' })).toMatchObject({ status: 'ok' });
      expect(await kernel.isPaused()).toBe(false);
    }
    await fresh.kernel.agents.add('robin', PERSON);
    expect(await running.call('ledger_write', { text: 'd' })).toMatchObject({ status: 'ok' });
    expect(await written()).toEqual(['a', 'c', 'c', 'd']);
  });

  it('earlier rules that were set once do not come back', async () => {
    const { policy, call } = await open();
    await policy.setOverrides({ rules: [] }, PERSON);
    await policy.setOverrides({ rules: [DENY] }, PERSON);
    await edit(JSON.stringify({ rules: [] }));
    expect(await call('ledger_write', { text: 'x' })).toMatchObject(refused);
    await policy.setOverrides({ rules: [DENY] }, PERSON);
    expect(await call('ledger_write', { text: 'x' })).toMatchObject({ rule: 'no-writes' });
  });

  it('rules that no one has ever set allow no change, and those of a changed entry neither', async () => {
    await settings()
      .insertInto('settings')
      .values({ key: OVERRIDES_KEY, value: JSON.stringify({ rules: [] }) })
      .execute();
    const { policy, call } = await open();
    expect(await call('ledger_write', { text: 'x' })).toMatchObject(refused);
    await policy.setOverrides({ rules: [] }, PERSON);
    expect(await call('ledger_write', { text: 'x' })).toMatchObject({ status: 'ok' });
    const [row] = await settings().selectFrom('audit_log').selectAll().where('kind', '=', 'config').execute();
    const body = row?.body.replace('"rules":[]', '"rules":["a"]') ?? '';
    await settings()
      .updateTable('audit_log')
      .set({ body })
      .where('seq', '=', row?.seq ?? 0)
      .execute();
    expect(await (await open()).call('ledger_write', { text: 'y' })).toMatchObject(refused);
  });

  it('rules that an older version set, whose entries do not name them, are in force', async () => {
    const value = JSON.stringify({ rules: [DENY] });
    await settings().insertInto('settings').values({ key: OVERRIDES_KEY, value }).execute();
    const extra = { mode: null, template: null, rules: ['no-writes'], policy_version: 'v' };
    await writeWithEvidence(store.database, async ({ append }) =>
      append(
        prepareEntry({ kind: 'config', at: '2026-01-01T00:00:00.000Z', principal: 'person:ada', extra }),
      ),
    );
    const { policy, call } = await open();
    expect(policy.problem).toBeUndefined();
    expect(await call('ledger_write', { text: 'x' })).toMatchObject({ rule: 'no-writes' });
  });
});
