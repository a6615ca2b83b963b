import type { Selectable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { ApprovalsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import type { PayloadKind } from '../log.ts';
import { contextDigest, resultDigest, saidDigest } from '../rows/approval-terms.ts';
import { ERASED, statedContext } from '../rows/approval-words.ts';
import { answerHash } from '../rows/key-row.ts';

type Row = Selectable<ApprovalsTable>;

/** A result as an entry states it: of the approval itself, or of the call that used it, whose payload has the salt. */
type StatedResult =
  | { readonly digest: string | null }
  | { readonly call: string; readonly salt: PayloadKind; readonly hash: string };

/** By call and kind. */
type Salts = ReadonlyMap<string, string>;

/**
 * What the entries about one approval say of its context, its expiry, the person's words and the stored result. Undefined
 * where the log leaves it open, as with everything that earlier versions wrote.
 */
export class ApprovalTerms {
  #context: string | undefined;
  #expires: string | null | undefined;
  /** Null where no person has said anything. */
  #said: string | null | undefined;
  /** More than one where another call may have used the approval since. */
  #results: readonly StatedResult[] | undefined;

  /** An entry about the approval itself. */
  moved(entry: Entry): void {
    const { extra, status, code, rule } = entry;
    const context = statedContext(entry);
    if (context !== undefined) {
      this.#context = context;
      this.#expires = typeof extra?.expires === 'string' ? extra.expires : null;
      this.#said = null;
      this.#results = [{ digest: null }];
      return;
    }
    const isForged = code === 'approval_invalid';
    if (!isForged && (status === 'approved' || status === 'rejected'))
      this.#said = textOf(extra?.said_sha256);
    const digest = textOf(extra?.outcome_sha256);
    if (digest !== undefined) this.#results = [{ digest }];
    else if (isForged || STORING.has(status ?? '') || (status === 'pending' && rule === undefined))
      this.#results = undefined;
  }

  /** The end of a call that used the approval; `isLast` unless another may have used it since. */
  ended({ call = '', kind, extra }: Entry, isLast: boolean): void {
    const hash = textOf(extra?.outcome_hash);
    const salt = kind === 'settled' ? 'args' : 'result';
    if (hash === undefined || this.#results === undefined) this.#results = undefined;
    else this.#results = [...(isLast ? [] : this.#results), { call, salt, hash }];
  }

  /** The calls whose payloads have the salts of stored results. */
  get calls(): readonly string[] {
    return (this.#results ?? []).flatMap((one) => ('call' in one ? [one.call] : []));
  }

  *differences(row: Row, salts: Salts): Generator<string> {
    if (this.#expires !== undefined && row.expires_at !== this.#expires)
      yield `says expires_at is "${row.expires_at}", but the log says "${this.#expires}"`;
    if (this.#context === undefined || row.summary === ERASED) return;
    if (contextDigest(row.context) !== this.#context) {
      yield 'has a context that differs from what the log says was stored with the request';
      return;
    }
    if (!this.#isSaid(row))
      yield 'has a reason or feedback that differs from what the log says the person gave';
    if (this.#results && !this.#results.some((one) => isResult(row, one, salts)))
      yield 'has a result that differs from what the log says was stored';
  }

  #isSaid(row: Row): boolean {
    if (this.#said === undefined) return true;
    if (this.#said === null) return row.decision_reason === null && row.feedback === null;
    return saidDigest(row) === this.#said;
  }
}

/** States that an entry about the approval itself gives, with a result. */
const STORING: ReadonlySet<string> = new Set(['returned', 'done', 'failed']);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function isResult(row: Row, stated: StatedResult, salts: Salts): boolean {
  if ('digest' in stated)
    return stated.digest === null ? row.outcome === null : resultDigest(row) === stated.digest;
  const salt = salts.get(`${stated.call}|${stated.salt}`) ?? '';
  // Erased with the payload: nothing can be compared any more.
  return salt === '' || (row.outcome !== null && answerHash(salt, row.outcome) === stated.hash);
}

const BATCH = 500;

/** The salts of these calls' payloads. */
export async function readSalts({ db }: Database, calls: readonly string[]): Promise<Salts> {
  const salts = new Map<string, string>();
  for (let start = 0; start < calls.length; start += BATCH) {
    const rows = await db
      .selectFrom('audit_payloads')
      .select(['call_id', 'kind', 'salt'])
      .where('call_id', 'in', calls.slice(start, start + BATCH))
      .execute();
    for (const { call_id, kind, salt } of rows) salts.set(`${call_id}|${kind}`, salt);
  }
  return salts;
}
