import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { Entry } from '../log/entry.ts';
import { contextDigest, saidDigest } from '../log/rows/approval-terms.ts';

describe('what the entries of an approval state about its row', () => {
  let store: TestStore;
  let test: TestKernel;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
  });
  afterEach(() => store.close());

  const ask = async (): Promise<number> => {
    const { outcome } = await test.call('ledger_write', { text: 'one' });
    if (outcome.status !== 'routed') throw new Error(`It was ${outcome.status}.`);
    return outcome.approvalId;
  };
  const entries = async (): Promise<Entry[]> => {
    const rows = await store.database.db
      .selectFrom('audit_log')
      .select('body')
      .where('kind', '=', 'approval')
      .orderBy('seq')
      .execute();
    return rows.map(({ body }) => JSON.parse(body) as Entry);
  };
  const row = () => store.database.db.selectFrom('approvals').selectAll().executeTakeFirstOrThrow();

  it('is its context and expiry when it is requested, and the words of the person who rejects it', async () => {
    const id = await ask();
    await test.kernel.approvals.reject(id, PERSON, { reason: 'No', feedback: 'Not today' });
    const [asked, rejected] = await entries();
    const stored = await row();
    expect(asked?.extra).toMatchObject({
      context_sha256: contextDigest(stored.context),
      expires: stored.expires_at,
    });
    expect(rejected?.extra).toEqual({ said_sha256: saidDigest(stored) });
    expect(saidDigest(stored)).not.toBe(saidDigest({ ...stored, feedback: 'Today' }));
  });

  it('is that a person who approves said nothing', async () => {
    const id = await ask();
    await test.kernel.approvals.approve(id, PERSON, {});
    const [, approved] = await entries();
    const said = { ...(await row()), decision_reason: null, feedback: null };
    expect(approved?.extra).toMatchObject({ said_sha256: saidDigest(said) });
  });

  it('is no words where no person decides', async () => {
    const id = await ask();
    await test.kernel.approvals.withdraw(id, PERSON);
    expect((await entries()).map(({ extra }) => Object.keys(extra ?? {}).includes('said_sha256'))).toEqual([
      false,
      false,
    ]);
  });
});
