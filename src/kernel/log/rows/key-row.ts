import type { Kysely } from 'kysely';
import { isObject } from '../../../lib/is-object.ts';
import { leafHash } from '../../../lib/merkle.ts';
import type { IdempotencyTable, Tables } from '../../store/tables.ts';
import { type Entry, readBody } from '../entry.ts';
import { payloadHash } from '../log.ts';

/** What an idempotency key answers once the arguments and results of its call were erased. */
export const ERASED_ANSWER = JSON.stringify({ status: 'ok', data: null, notes: { erased: true } });

/** Binds an entry to the answer that its key stores; erased with the salt, as the result is. */
export const answerHash = (salt: string, answer: string): string => payloadHash(salt + answer);

/** Binds an entry to the key that its call holds, and to the arguments that the key answers. */
export const keyHash = (
  salt: string,
  { scope_key, digest }: Pick<IdempotencyTable, 'scope_key' | 'digest'>,
): string => payloadHash(`${salt}${scope_key}\n${digest}`);

/** The salt of a call's arguments, which is stored when it begins; empty once they were erased. */
export async function argsSalt(db: Kysely<Tables>, callId: string): Promise<string> {
  const row = await db
    .selectFrom('audit_payloads')
    .select('salt')
    .where('call_id', '=', callId)
    .where('kind', '=', 'args')
    .executeTakeFirst();
  return row?.salt ?? '';
}

type KeyRow = Omit<IdempotencyTable, 'created_at'>;

/** An entry of the call that holds the key, with what is stored of its result. */
interface KeyEvidence {
  readonly seq: number | null;
  readonly hash: string | null;
  readonly body: string | null;
  readonly salt: string | null;
  readonly args_salt: string | null;
  /** When any payload of the call was erased. */
  readonly erased_at: string | null;
}

/** The keys with the entries of their calls. One statement reads both, so that a call which ends just now agrees. */
export const keysWithEvidence = (db: Kysely<Tables>) =>
  db
    .selectFrom('idempotency as i')
    .leftJoin('audit_log as l', (join) =>
      join.onRef('l.call_id', '=', 'i.call_id').on('l.kind', 'in', ['intent', 'outcome', 'settled']),
    )
    .leftJoin('audit_payloads as p', (join) =>
      join.onRef('p.call_id', '=', 'i.call_id').on('p.kind', '=', 'result'),
    )
    .leftJoin('audit_payloads as a', (join) =>
      join.onRef('a.call_id', '=', 'i.call_id').on('a.kind', '=', 'args'),
    )
    .select(['i.scope_key', 'i.digest', 'i.call_id', 'i.state', 'i.outcome', 'i.expires_at'])
    .select(['l.seq', 'l.hash', 'l.body', 'p.salt', 'a.salt as args_salt'])
    .select((eb) =>
      eb
        .selectFrom('audit_payloads as e')
        .select((of) => of.fn.max('e.erased_at').as('at'))
        .whereRef('e.call_id', '=', 'i.call_id')
        .as('erased_at'),
    );

/** The key that a call holds, as its entry states it; entries of earlier versions do not. */
export interface StatedKey {
  readonly hash: string | undefined;
  readonly until: string | null;
}

export function statedKey({ extra }: Entry): StatedKey | undefined {
  const key = extra?.replay_key;
  if (!isObject(key)) return undefined;
  return {
    hash: typeof key.hash === 'string' ? key.hash : undefined,
    until: typeof key.until === 'string' ? key.until : null,
  };
}

/** How a key's row differs from the entries of its call, in words that follow its name; undefined when they agree. */
export function keyDifference(row: KeyRow, evidence: readonly KeyEvidence[]): string | undefined {
  const { call_id: call, state } = row;
  let last: Entry | undefined;
  let key: StatedKey | undefined;
  let isFound = false;
  for (const { seq, hash, body } of evidence) {
    if (seq === null || hash === null || body === null) continue;
    const entry = leafHash(body) === hash ? readBody(body) : undefined;
    if (!entry) return `belongs to call ${call}, whose entry ${seq} is invalid`;
    isFound = true;
    key = statedKey(entry) ?? key;
    if (entry.kind !== 'intent') last = entry;
  }
  if (!isFound) return `belongs to call ${call}, which is not in the log`;
  const status = last ? last.status : 'running';
  if (state !== status) return `says that call ${call} is "${state}", but the log says "${status}"`;
  const { args_salt: salt } = evidence[0] ?? {};
  if (salt && key?.hash !== undefined && keyHash(salt, row) !== key.hash)
    return `is not the key or not for the arguments that call ${call} was made with`;
  if (key && row.expires_at !== key.until)
    return `expires at ${row.expires_at}, but the log says ${key.until ?? 'never'}`;
  if (state !== 'ok')
    return row.outcome === null ? undefined : `stores a result that call ${call} did not return`;
  return last && answerDifference(row, last, evidence[0]);
}

/** What a reconciliation or a late process reported is bound by the salt of the arguments: it has no payload. */
function answerDifference(
  { call_id: call, outcome }: KeyRow,
  { kind, extra }: Entry,
  stored: KeyEvidence | undefined,
): string | undefined {
  const answer = kind === 'outcome' ? extra?.replay_hash : extra?.outcome_hash;
  if (answer === undefined) return undefined;
  const { erased_at: erasedAt = null } = stored ?? {};
  if (erasedAt !== null && outcome === ERASED_ANSWER) return undefined;
  const salt = kind === 'outcome' ? stored?.salt : stored?.args_salt;
  if (salt && outcome !== null && answerHash(salt, outcome) === answer) return undefined;
  return `stores a result that call ${call} did not return`;
}
