import type { Kysely } from 'kysely';
import { leafHash } from '../../../lib/merkle.ts';
import type { IdempotencyTable, Tables } from '../../store/tables.ts';
import { type Entry, readBody } from '../entry.ts';
import { payloadHash } from '../log.ts';

/** What an idempotency key answers once the arguments and results of its call were erased. */
export const ERASED_ANSWER = JSON.stringify({ status: 'ok', data: null, notes: { erased: true } });

/** Binds an entry to the answer that its key stores; erased with the salt, as the result is. */
export const answerHash = (salt: string, answer: string): string => payloadHash(salt + answer);

type KeyRow = Pick<IdempotencyTable, 'call_id' | 'state' | 'outcome'>;

/** An entry of the call that holds the key, with what is stored of its result. */
interface KeyEvidence {
  readonly seq: number | null;
  readonly hash: string | null;
  readonly body: string | null;
  readonly salt: string | null;
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
    .select(['i.scope_key', 'i.call_id', 'i.state', 'i.outcome', 'l.seq', 'l.hash', 'l.body', 'p.salt'])
    .select((eb) =>
      eb
        .selectFrom('audit_payloads as e')
        .select((of) => of.fn.max('e.erased_at').as('at'))
        .whereRef('e.call_id', '=', 'i.call_id')
        .as('erased_at'),
    );

/** How a key's row differs from the entries of its call, in words that follow its name; undefined when they agree. */
export function keyDifference(
  { call_id: call, state, outcome }: KeyRow,
  evidence: readonly KeyEvidence[],
): string | undefined {
  let last: Entry | undefined;
  let isFound = false;
  for (const { seq, hash, body } of evidence) {
    if (seq === null || hash === null || body === null) continue;
    const entry = leafHash(body) === hash ? readBody(body) : undefined;
    if (!entry) return `belongs to call ${call}, whose entry ${seq} is invalid`;
    isFound = true;
    if (entry.kind !== 'intent') last = entry;
  }
  if (!isFound) return `belongs to call ${call}, which is not in the log`;
  const status = last ? last.status : 'running';
  if (state !== status) return `says that call ${call} is "${state}", but the log says "${status}"`;
  // What a process that was taken for dead or a reconciliation reported has no payload to compare with.
  const answer = last?.kind === 'outcome' ? last.extra?.replay_hash : undefined;
  if (state !== 'ok' || answer === undefined) return undefined;
  const { salt = null, erased_at: erasedAt = null } = evidence[0] ?? {};
  if (erasedAt !== null && outcome === ERASED_ANSWER) return undefined;
  if (salt !== null && outcome !== null && answerHash(salt, outcome) === answer) return undefined;
  return `stores a result that call ${call} did not return`;
}
