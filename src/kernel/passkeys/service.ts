import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type Principal, principalName } from '../../contract/principal.ts';
import { type EntryInput, prepareEntry } from '../log/entry.ts';
import type { Assertion } from '../log/passkeys/assertion.ts';
import { fingerprintOf } from '../log/passkeys/assertion.ts';
import { type EnrolledKey, PasskeyProblem } from '../log/passkeys/enrolled.ts';
import { type KeysInForce, lockKeys, readKeysInForce } from '../log/passkeys/read.ts';
import {
  type AdminStatement,
  adminStatement,
  challengeOf,
  type EnrolStatement,
  enrolStatement,
  type KeyShape,
} from '../log/passkeys/statement.ts';
import { type EvidenceWork, type EvidenceWrite, writeAlone } from '../log/write.ts';
import type { Database } from '../store/database.ts';
import { type Opened, openRequest, preambleFor, takeRequest } from './requests.ts';

/** Time to touch an authenticator. */
export const SIGN_MS = 120_000;
/** A new key may have to be countersigned on another page. */
const ENROL_MS = 600_000;

export interface NewKey extends KeyShape {
  /** The owner of the key, as `principalName` writes it. */
  readonly person: string;
}

export type Order = AdminStatement['order'];

export interface Passkeys {
  state(): Promise<KeysInForce>;
  /** The new key signs first; after the first key, an enrolled one countersigns. */
  beginEnrolment(session: string, key: NewKey): Promise<Opened>;
  finishEnrolment(session: string, nonce: string, possession: Assertion): Promise<EnrolledKey | Opened>;
  finishCountersigned(session: string, nonce: string, by: Assertion & { key: string }): Promise<EnrolledKey>;
  /** Removes a key, or changes the mode. */
  beginOrder(session: string, order: Order): Promise<Opened>;
  finishOrder(session: string, nonce: string, by: Assertion & { key: string }): Promise<Order>;
  /** Removes all keys without a signature. The log shows it permanently. */
  reset(by: Principal): Promise<void>;
}

export function createPasskeys(database: Database, now: () => Date): Passkeys {
  const state = () => readKeysInForce(database);

  /** One change after the other: of two first keys, the second must find the first one in the log. */
  const change = <T>(work: EvidenceWork<T>): Promise<T> =>
    writeAlone(database, async (write) => {
      await lockKeys(write.trx, write.engine, 'change');
      return work(write);
    });

  /** Writes the entry, if the keys as they are in this transaction accept it. */
  const record = async (write: EvidenceWrite, person: string, extra: JsonObject): Promise<KeysInForce> => {
    const at = now().toISOString();
    const inForce = await readKeysInForce(database, write.trx);
    try {
      inForce.keys.take(inForce.log ?? '', { at, extra, principal: person });
    } catch (error) {
      throw error instanceof PasskeyProblem ? refused(error) : error;
    }
    const entry: EntryInput = { kind: 'passkey', at, principal: person, extra };
    write.append(prepareEntry(entry));
    return inForce;
  };

  return {
    state,
    async beginEnrolment(session, { person, ...key }) {
      const { keys } = await state();
      if (keys.find(fingerprintOf(key.spki)))
        throw new ToolError('approval_state', 'This key is already enrolled.');
      const preamble = await preambleFor(database, now(), ENROL_MS);
      const statement: EnrolStatement = { v: 'countersign-enrol/1', person, key, ...preamble };
      const checked = enrolStatement.safeParse(statement);
      if (!checked.success)
        throw new ToolError(
          'invalid_input',
          `This key cannot be enrolled: ${checked.error.issues[0]?.message}.`,
        );
      return openRequest(database, session, checked.data, {}, now());
    },
    finishEnrolment: (session, nonce, possession) =>
      change(async (write) => {
        const request = await takeRequest(write, session, nonce, now());
        const statement = enrolStatement.parse(request.statement);
        const { keys } = await readKeysInForce(database, write.trx);
        if (keys.any) {
          // Kept under the same nonce: both keys sign the same statement.
          const more = JSON.stringify({ possession });
          const { until } = statement;
          await write.trx
            .insertInto('passkey_requests')
            .values({ nonce, session, statement: JSON.stringify(statement), more, until })
            .execute();
          return opened(statement);
        }
        const enrolled = await record(write, statement.person, enrolEntry(statement, possession));
        return mustFind(enrolled, statement);
      }),
    finishCountersigned: (session, nonce, by) =>
      change(async (write) => {
        const request = await takeRequest(write, session, nonce, now());
        const statement = enrolStatement.parse(request.statement);
        const { possession } = request.more as { possession?: Assertion };
        if (!possession)
          throw new ToolError('approval_state', 'The new key has not signed yet. Start again.');
        const enrolled = await record(write, statement.person, enrolEntry(statement, possession, by));
        return mustFind(enrolled, statement);
      }),
    async beginOrder(session, order) {
      const { keys } = await state();
      if (!keys.any) throw new ToolError('approval_state', 'No passkey is enrolled yet. Enrol one first.');
      if (order.action === 'remove' && !keys.find(order.key))
        throw new ToolError('not_found', `No passkey ${order.key} is enrolled.`);
      if (order.action === 'remove' && keys.list.length === 1)
        throw new ToolError(
          'approval_state',
          'This is the last passkey. Enrol another first, or run `countersign passkeys reset`.',
        );
      const preamble = await preambleFor(database, now(), SIGN_MS);
      const statement: AdminStatement = { v: 'countersign-passkeys/1', order, ...preamble };
      return openRequest(database, session, statement, {}, now());
    },
    finishOrder: (session, nonce, by) =>
      change(async (write) => {
        const request = await takeRequest(write, session, nonce, now());
        const statement = adminStatement.parse(request.statement);
        const { keys } = await readKeysInForce(database, write.trx);
        const person = keys.find(by.key)?.person ?? 'person:unknown';
        await record(write, person, { action: statement.order.action, statement, by: { ...by } });
        return statement.order;
      }),
    async reset(by) {
      await change((write) => record(write, principalName(by), { action: 'reset' }));
    },
  };
}

const opened = (statement: EnrolStatement): Opened => ({
  nonce: statement.nonce,
  challenge: challengeOf(statement).toString('base64url'),
  statement,
});

const enrolEntry = (
  statement: EnrolStatement,
  possession: Assertion,
  countersigned?: Assertion & { key: string },
): JsonObject => ({
  action: 'enrol',
  statement,
  possession: { ...possession },
  ...(countersigned && { countersigned: { ...countersigned } }),
});

function mustFind({ keys }: KeysInForce, { key }: EnrolStatement): EnrolledKey {
  const found = keys.find(fingerprintOf(key.spki));
  if (!found) throw new Error('An enrolled key was not found again.');
  return found;
}

export const refused = (error: PasskeyProblem): ToolError =>
  new ToolError('signature_invalid', `Not accepted: this ${error.message}. Nothing was done.`);
