import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { AT } from '../passkeys/passkeys.fixture.ts';
import { findReceipt, isReceipt } from './receipt.ts';
import { supportOf } from './signatures.ts';
import { callEntry, decisionEntry, enrolEntry, FIRST, signedEntries, UUID } from './signed.fixture.ts';

const key = new Authenticator();
const spare = new Authenticator({ alg: -8 });
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

describe('what belongs to a signed call', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const append = (entries: readonly EntryInput[]) =>
    store.database.write((trx) => appendEntries(trx, 'sqlite', entries.map(prepareEntry)));
  const rows = () =>
    store.database.db.selectFrom('audit_log').select(['seq', 'body']).orderBy('seq').execute();
  const addApproval = (id: number, uuid: string) =>
    store.database.db
      .insertInto('approvals')
      .values({
        ...{
          id,
          uuid,
          kind: 'call',
          state: 'done',
          tool: 'post',
          toolkit: 'x',
          effect: 'change',
          args: '{}',
        },
        ...{
          digest: '',
          binding: null,
          requester: 'agent:local',
          requester_label: null,
          reason: '',
          rule: '',
        },
        ...{ summary: '', gist: null, environment: null, risks: '[]', context: '{}', run_id: null },
        ...{ group_id: null, created_at: AT, expires_at: null, decided_at: null, decided_by: null },
        ...{ decision_reason: null, feedback: null, call_id: null, outcome: null, version: 1 },
      })
      .execute();

  describe('the entries that support it', () => {
    const signedByBoth = () => signedEntries([{ key }, { key: spare, person: 'person:grace' }]);
    const aboutAnother = () =>
      signedEntries(
        [{ key }],
        decisionEntry({ approval: { uuid: OTHER, digest: 'e'.repeat(64), requester: 'agent:local' } }),
      );
    const seqsFor = async (...seqs: number[]) => {
      const wanted = (await rows()).filter(({ seq }) => seqs.includes(seq));
      const support = await supportOf(store.database, wanted);
      const all = await rows();
      for (const { seq, body } of support) expect(all[seq]?.body ?? body).toBe(body);
      return support.map(({ seq }) => seq);
    };

    it('are the first one, those about keys, its decision and signatures, in order and without its own', async () => {
      const { signatures, decision } = signedByBoth();
      const other = aboutAnother();
      await append([
        FIRST,
        enrolEntry(key),
        decisionEntry({ status: 'pending' }),
        ...signatures,
        ...other.signatures,
        other.decision,
        decision,
        callEntry(),
        enrolEntry(spare, key),
        { kind: 'config', at: AT },
      ]);
      expect(await seqsFor(8)).toEqual([0, 1, 3, 4, 7, 9]);
      expect(await seqsFor(8, 7, 0)).toEqual([1, 3, 4, 9]);
      expect(await seqsFor(6, 8)).toEqual([0, 1, 3, 4, 5, 7, 9]);
    });

    it('are none for calls without an approval or under one that no one signed', async () => {
      const { approval: _, ...open } = callEntry();
      await append([FIRST, enrolEntry(key), decisionEntry(), callEntry(), open]);
      expect(await seqsFor(3, 4)).toEqual([]);
    });

    it('lack the first one where the log has lost it', async () => {
      const { signatures, decision } = signedByBoth();
      await append([FIRST, enrolEntry(key), ...signatures, decision, callEntry()]);
      await store.database.db.deleteFrom('audit_log').where('seq', '=', 0).execute();
      expect((await supportOf(store.database, (await rows()).slice(-1))).map(({ seq }) => seq)).toEqual([
        1, 2, 3, 4,
      ]);
    });
  });

  describe('its receipt', () => {
    const signedByAda = () => signedEntries([{ key }]);
    /** By two people; the hash of the later signature is the greater one or not, as wanted. */
    const signedByTwo = (isGreater: boolean) => {
      for (;;) {
        const made = signedEntries([{ key }, { key: spare, person: 'person:grace' }]);
        const [first = '', second = ''] = made.signatures.map((one) => prepareEntry(one).hash);
        if (second > first === isGreater) return made;
      }
    };

    it.each([true, false])(
      'is the last signature of its last decision (its hash is greater: %s)',
      async (is) => {
        await addApproval(1, UUID);
        for (const { signatures, decision } of [signedByAda(), signedByAda(), signedByTwo(is)]) {
          await append([...signatures, decision]);
          expect(await findReceipt(store.database, '1')).toEqual(signatures.at(-1)?.extra);
        }
      },
    );

    it('is found by the number or the ID of the approval', async () => {
      const { signatures, decision } = signedByAda();
      await append([...signatures, decision, callEntry()]);
      await addApproval(41, UUID);
      await addApproval(4, OTHER);
      const receipt = await findReceipt(store.database, '41');
      expect(receipt).toEqual(signatures[0]?.extra);
      expect(await findReceipt(store.database, UUID)).toEqual(receipt);
      expect(isReceipt(receipt)).toBe(true);
      expect(isReceipt({ ...receipt, by: undefined })).toBe(false);
      for (const unknown of ['4', OTHER, '1', '41x', 'x41', '0000000041', 'nonsense'])
        expect(await findReceipt(store.database, unknown), unknown).toBeUndefined();
      expect(await findReceipt(store.database, '000000041')).toEqual(receipt);
    });

    it('does not exist when no one signed, or when the signature is gone', async () => {
      await addApproval(1, UUID);
      await append([FIRST, decisionEntry()]);
      expect(await findReceipt(store.database, '1')).toBeUndefined();
      await append([signedByAda().decision]);
      expect(await findReceipt(store.database, '1')).toBeUndefined();
    });
  });
});
