import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../test/support/authenticator.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, type TestKernel } from '../../../test/support/kernel.ts';

const SESSION = 'session';

// SQLite has one writer at a time.
describe.runIf(ENGINES.includes('postgres'))('two people who sign at the same time on PostgreSQL', () => {
  let store: TestStore;
  let test: TestKernel;
  const [ada, grace] = [new Authenticator(), new Authenticator()];

  beforeAll(async () => {
    store = await openTestStore('postgres');
    const rule = {
      id: 'two',
      tools: ['ledger_write'],
      action: 'ask' as const,
      signers: 2,
      enabled: true,
      priority: 1,
    };
    test = await openTestKernel(store.database, store.dataDir, { policy: { rules: [rule] } });
    const { passkeys } = test.kernel;
    const enrol = async (one: Authenticator, person: string) => {
      const { nonce, challenge } = await passkeys.beginEnrolment(SESSION, one.key(person));
      return passkeys.finishEnrolment(SESSION, nonce, one.sign(challenge));
    };
    await enrol(ada, 'person:ada');
    const second = await enrol(grace, 'person:grace');
    if (!('challenge' in second)) throw new Error('It was enrolled without a countersignature.');
    await passkeys.finishCountersigned(SESSION, second.nonce, ada.signAs(second.challenge));
  });
  afterAll(() => store.close());

  it('do not miss each other’s signature', async () => {
    const { outcome } = await test.call('ledger_write', { text: 'hello' });
    if (outcome.status !== 'routed') throw new Error(outcome.status);
    const shown = [{ id: outcome.approvalId, version: 1 }];
    const { signing } = test.kernel;
    const requests = [
      { by: ada, ...(await signing.begin(SESSION, shown, { person: 'person:ada' })) },
      { by: grace, ...(await signing.begin(SESSION, shown, { person: 'person:grace' })) },
    ];
    const other = await store.again();
    // The head of the log is the last thing that a transaction needs: both have counted before one can commit.
    const ends = await other.db.transaction().execute(async (trx) => {
      await sql`select 1 from audit_head for update`.execute(trx);
      const signed = requests.map(({ by, nonce, challenge }) =>
        signing.finish(SESSION, nonce, by.signAs(challenge)),
      );
      const waiting = sql<{ pid: number }>`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      // Outside of the transaction, which would see the first answer again each time.
      await expect.poll(async () => (await waiting.execute(other.db)).rows).toHaveLength(2);
      return signed;
    });
    await Promise.all(ends);
    expect(await test.lines()).toEqual(['hello']);
  });
});
