import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mcpPolicy } from '../../src/contract/policy.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { PolicyInForce } from '../../src/kernel/policy/in-force.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

describe.each(ENGINES)('a change of pause, rules or agents on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let policy: PolicyInForce;

  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir);
    policy = new PolicyInForce(
      {
        mode: 'autopilot',
        approvalMode: false,
        policy: mcpPolicy.schema.parse({}),
        catalogue: async () => [],
        toolkits: [],
      },
      store.database,
    );
    await policy.refresh();
  });
  afterEach(() => store.close());

  /** Evidence can no longer be written: what a full disk or a crash right before it comes to. */
  const loseTheLog = () => store.database.db.deleteFrom('audit_head').execute();
  const noted = async () => {
    const rows = await store.database.db
      .selectFrom('audit_log')
      .select('body')
      .where('kind', '=', 'config')
      .orderBy('seq')
      .execute();
    return rows.map(({ body }) => {
      const { principal, extra } = JSON.parse(body) as { principal: string; extra: object };
      expect(principal).toBe('person:ada');
      return extra;
    });
  };

  it('leaves one entry each that names the person and what changed', async () => {
    const { kernel } = test;
    await kernel.setPaused(true, PERSON);
    await kernel.setPaused(false, PERSON);
    await kernel.agents.add('robin', PERSON);
    expect(await kernel.agents.revoke('robin', PERSON)).toBe(true);
    expect(await kernel.agents.revoke('robin', PERSON)).toBe(false);
    await policy.setOverrides({ mode: 'composer', rules: [] }, PERSON);
    expect(await noted()).toEqual([
      { paused: true },
      { paused: false },
      { agent_added: 'robin', token_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { agent_revoked: 'robin' },
      {
        mode: 'composer',
        template: null,
        rules: [],
        policy_version: policy.current.version,
        overrides: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect((await verifyLog(store.database, { rows: true })).problems).toEqual([]);
  });

  it('does not happen when its evidence cannot be written', async () => {
    const { kernel } = test;
    await kernel.agents.add('robin', PERSON);
    await loseTheLog();
    await expect(kernel.setPaused(true, PERSON)).rejects.toThrow('audit log');
    expect(await kernel.isPaused()).toBe(false);
    await expect(kernel.agents.add('wren', PERSON)).rejects.toThrow('audit log');
    await expect(kernel.agents.revoke('robin', PERSON)).rejects.toThrow('audit log');
    expect(await kernel.agents.list()).toMatchObject([{ name: 'robin', revokedAt: undefined }]);
    await expect(policy.setOverrides({ mode: 'composer', rules: [] }, PERSON)).rejects.toThrow('audit log');
    expect(await policy.overrides()).toEqual({ rules: [] });
    expect(policy.modes.mode).toBe('autopilot');
  });
});
