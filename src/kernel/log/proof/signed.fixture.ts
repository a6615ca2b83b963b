import type { Authenticator } from '../../../../test/support/authenticator.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { itemOfDecision } from '../passkeys/entries.ts';
import { AT, enrolment, signature } from '../passkeys/passkeys.fixture.ts';
import { itemHash } from '../passkeys/statement.ts';

// Entries of a call that a person signed for, made by hand: the first entry, a key, a signature, a decision, a call.

export const FIRST: EntryInput = { kind: 'config', at: AT };
export const logHash = (): string => prepareEntry(FIRST).hash;
export const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const DIGEST = 'd'.repeat(64);
const SALT = 's'.repeat(16);
const PARTS = { version: 1, binding: null, expires: null };

export const enrolEntry = (key: Authenticator, by?: Authenticator, person = 'person:ada'): EntryInput => ({
  kind: 'passkey',
  at: AT,
  principal: person,
  extra: enrolment(key, by, { log: logHash(), person }),
});

/** A decision without its signatures; `changes` apply before it is signed. */
export const decisionEntry = (changes: Partial<EntryInput> = {}): EntryInput => ({
  kind: 'approval',
  at: AT,
  status: 'approved',
  tool: 'post',
  principal: 'person:ada',
  approval: { uuid: UUID, digest: DIGEST, requester: 'agent:local' },
  ...changes,
});

/** One signature entry for each key and the decision that names them. */
export function signedEntries(
  signers: readonly { readonly key: Authenticator; readonly person?: string }[],
  decision = decisionEntry(),
): { readonly signatures: EntryInput[]; readonly decision: EntryInput } {
  const item = itemOfDecision({ v: 1, ...decision }, PARTS);
  const signatures = signers.map(
    ({ key, person = 'person:ada' }): EntryInput => ({
      kind: 'signature',
      at: AT,
      principal: person,
      extra: signature([itemHash(item, SALT)], key, { log: logHash(), person }),
    }),
  );
  const by = signatures.map((one) => ({ entry: prepareEntry(one).hash, salt: SALT }));
  return { signatures, decision: { ...decision, extra: { signed: { item: PARTS, by } } } };
}

/** The call that ran under the decision. */
export const callEntry = (changes: Partial<EntryInput> = {}): EntryInput => ({
  kind: 'intent',
  at: AT,
  call: 'c1',
  tool: 'post',
  digest: DIGEST,
  principal: 'agent:local',
  approval: { uuid: UUID, digest: DIGEST, approver: 'person:ada' },
  ...changes,
});
