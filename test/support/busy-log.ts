import { Signer, writeCheckpoint } from '../../src/kernel/log/index.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from './kernel.ts';

/** A database on which the kernel did something of everything: every table of the kernel has rows. */
export async function fillStore(database: Database, dataDir: string): Promise<TestKernel> {
  const test = await openTestKernel(database, dataDir, {
    policy: {
      limits: [{ key: 'lines', max: 50, period_seconds: 86_400, dimension: 'global', match: '*' }],
    } as never,
  });
  const { kernel } = test;
  await test.call('ledger_read', { file: 'report' }, { client: 'test/1.0' });
  await test.call('ledger_read', { fail: true });
  await test.call('ledger_write', { text: 'one' }, { idempotencyKey: 'key-1' });
  await test.call('ledger_write', { text: 'one' }, { idempotencyKey: 'key-1' });
  await test.call('ledger_write', { text: 'two', run_id: 'run-1' });
  await test.call('ledger_write', { text: 'three', fail: 'before' });
  const lost = await test.call('ledger_write_blind', { text: 'four', fail: 'unknown' });
  await kernel.settle(lost.callId, true, PERSON);
  await test.call('ledger_write', { text: 7 } as never);
  await kernel.setPaused(true, PERSON);
  await test.call('ledger_write', { text: 'paused' });
  await kernel.setPaused(false, PERSON);
  await kernel.setPaused(true, PERSON);
  await kernel.agents.add('robin', PERSON);
  await kernel.agents.add('wren', PERSON);
  await kernel.agents.revoke('wren', PERSON);
  await kernel.setPaused(false, PERSON);
  await test.setPolicy({ require_approval_for: ['ledger_write'] } as never);
  const ask = async (text: string): Promise<number> => {
    const { outcome } = await test.call('ledger_write', { text });
    if (outcome.status !== 'routed') throw new Error(`not routed: ${outcome.status}`);
    return outcome.approvalId;
  };
  await ask('waits');
  await kernel.approvals.approve(await ask('approved'), PERSON);
  await kernel.approvals.reject(await ask('rejected'), PERSON, { reason: 'no' });
  const edited = await ask('edited');
  await kernel.approvals.edit(edited, PERSON, { text: 'edited twice' });
  await kernel.approvals.approve(edited, PERSON);
  await kernel.approvals.withdraw(await ask('withdrawn'), AGENT);
  const permit = await kernel.approvals.propose({
    kind: 'permit',
    tool: 'ledger_permitted',
    args: { text: 'permitted' },
    requester: AGENT,
    reason: 'test',
  });
  await kernel.approvals.approve(permit.id, PERSON);
  await test.call('ledger_permitted', { text: 'permitted', approval_id: String(permit.id) });
  await kernel.setPaused(true, PERSON);
  await kernel.flush();
  const signer = await Signer.open(database, dataDir);
  await writeCheckpoint(database, signer);
  await signer.rotate(new Date());
  await writeCheckpoint(database, signer);
  return test;
}
