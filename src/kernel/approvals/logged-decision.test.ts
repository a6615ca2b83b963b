import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { Approval } from '../../contract/ports.ts';
import type { EntryInput } from '../log/entry.ts';
import { AT, appendToLog, approvalOf, minutesLater } from './approvals.fixture.ts';
import { ForgedApproval, requireGenuine } from './genuine.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());

type Said = Partial<EntryInput>;

/** Writes entries about the approval, a minute apart. */
const log = ({ uuid, digest, tool, kind }: Approval, said: readonly Said[]) =>
  appendToLog(
    store.database,
    said.map((one, minute) => ({
      kind: 'approval',
      at: minutesLater(minute).toISOString(),
      tool,
      approval: { uuid, digest, ...(kind === 'permit' && { permit: true }) },
      ...one,
    })),
  );

/** The decision that a refused row is closed with. */
const decisionOn = async (approval: Approval) => {
  const { db, engine } = store.database;
  const forged = { ...approval, digest: 'other' };
  const error = await requireGenuine(db, engine, forged, 'pending').catch((thrown: unknown) => thrown);
  if (!(error instanceof ForgedApproval)) throw error;
  return error.decision;
};

const by = (principal: string, status: string): Said => ({ principal, status });
const ASKED = by('agent:local', 'pending');
const YES = by('person:ada', 'approved');
const NO = by('person:bob', 'rejected');
const BEGUN: Said = { kind: 'intent', call: '1', effect: 'change' };
const RETURNED = by('system:kernel', 'returned');

describe('the decision that the log has on an approval', () => {
  const at = minutesLater(1).toISOString();
  const bob = { by: 'person:bob', at };

  it.each<[string, readonly Said[], object | undefined]>([
    ['a request', [], undefined],
    ['an approval', [YES], { by: 'person:ada', at }],
    ['a rejection', [NO], bob],
    ['a withdrawal', [by('agent:local', 'withdrawn')], { by: 'agent:local', at }],
    ['a rejection by no one', [{ status: 'rejected' }], { by: '', at }],
    ['its expiry', [by('system:kernel', 'expired')], undefined],
    ['a rejection and another request', [NO, ASKED], undefined],
    ['a rejection and the closing of a forged row', [NO, { ...NO, code: 'approval_invalid' }], bob],
    ['an approval that was returned', [YES, BEGUN, RETURNED], undefined],
  ])('is the last one after %s', async (_what, said, decision) => {
    const approval = approvalOf({ createdAt: AT });
    await log(approval, [ASKED, ...said]);
    expect(await decisionOn(approval)).toEqual(decision);
  });

  it('is kept for a permit that was returned', async () => {
    const permit = approvalOf({ kind: 'permit' });
    await log(permit, [ASKED, YES, BEGUN, RETURNED]);
    expect(await decisionOn(permit)).toEqual({ by: 'person:ada', at });
  });
});
