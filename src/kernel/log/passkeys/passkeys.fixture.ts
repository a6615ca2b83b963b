import type { Authenticator } from '../../../../test/support/authenticator.ts';
import {
  type AdminStatement,
  challengeOf,
  type DecisionStatement,
  type EnrolStatement,
  type Statement,
} from './statement.ts';

// The `extra` of entries about passkeys, made by hand, so that a test can change any part before it is signed.

/** The leaf hash of the first entry of the log. */
export const LOG = 'a'.repeat(64);
export const ISSUED = '2026-03-01T12:00:00.000Z';
export const AT = '2026-03-01T12:00:30.000Z';
export const UNTIL = '2026-03-01T12:01:00.000Z';

let nonces = 0;

const common = () => {
  nonces += 1;
  return {
    log: LOG,
    head: { size: 1, root: 'b'.repeat(64) },
    issued: ISSUED,
    until: UNTIL,
    nonce: `nonce-${nonces}`.padEnd(22, '.'),
  };
};

const challengeFor = (statement: Statement): string => challengeOf(statement).toString('base64url');

/** A new key signs that it exists, and a key enrolled before, if one is given, that it is welcome. */
export function enrolment(one: Authenticator, by?: Authenticator, changes: Partial<EnrolStatement> = {}) {
  const { person, ...key } = one.key();
  const statement: EnrolStatement = { v: 'countersign-enrol/1', person, key, ...common(), ...changes };
  const challenge = challengeFor(statement);
  const possession = one.sign(challenge);
  const enrol = { action: 'enrol' as const, statement, possession };
  return by ? { ...enrol, countersigned: by.signAs(challenge) } : enrol;
}

export function order(
  wanted: AdminStatement['order'],
  by: Authenticator,
  changes: Partial<AdminStatement> = {},
) {
  const statement: AdminStatement = {
    v: 'countersign-passkeys/1',
    order: wanted,
    ...common(),
    ...changes,
  };
  return { action: wanted.action, statement, by: by.signAs(challengeFor(statement)) };
}

/** A person approves the items of these hashes. */
export function signature(items: string[], by: Authenticator, changes: Partial<DecisionStatement> = {}) {
  const statement: DecisionStatement = {
    v: 'countersign-decision/1',
    person: 'person:ada',
    decision: 'approved',
    scope: 'once',
    of: items.length,
    items,
    ...common(),
    ...changes,
  };
  return { statement, by: by.signAs(challengeFor(statement)) };
}
