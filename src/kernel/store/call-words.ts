import { type Kysely, sql, type Transaction } from 'kysely';
import type { Engine } from './database.ts';
import type { Tables } from './tables.ts';

// One index of words with two dialects: FTS5 in SQLite, a text vector in PostgreSQL. The place of an entry is its key.

type Db = Kysely<Tables> | Transaction<Tables>;

/** Words of one call, by the place of the entry that finished it. */
export interface CallWords {
  readonly seq: number;
  readonly text: string;
}

export async function insertWords(trx: Db, engine: Engine, rows: readonly CallWords[]): Promise<void> {
  for (const { seq, text } of rows) {
    if (engine === 'postgres')
      await sql`insert into call_words (seq, words) values (${seq}, to_tsvector('simple', ${splitWords(text)}))
        on conflict (seq) do nothing`.execute(trx);
    else await sql`insert into call_words (rowid, words) values (${seq}, ${text})`.execute(trx);
  }
}

/** FTS5 divides at every sign that is neither letter nor digit; PostgreSQL would take `x_post` and URLs for one word. */
const splitWords = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, ' ');

/**
 * No word of these calls, nor of calls under these approvals, can be found any more. Taking the head first keeps an
 * indexer from adding what it read before the erasure.
 */
export async function eraseWords(
  trx: Transaction<Tables>,
  engine: Engine,
  { erasedAt, approvals }: { readonly erasedAt: string; readonly approvals: readonly number[] },
): Promise<void> {
  await sql`update call_words_head set seq = seq where id = 1`.execute(trx);
  const key = sql.ref(engine === 'postgres' ? 'seq' : 'rowid');
  await sql`delete from call_words where ${key} in (
    select l.seq from audit_log as l where l.call_id in (
      select call_id from audit_payloads where erased_at = ${erasedAt}))`.execute(trx);
  for (let start = 0; start < approvals.length; start += PER_STATEMENT) {
    const some = approvals.slice(start, start + PER_STATEMENT);
    await sql`delete from call_words where ${key} in (
      select l.seq from audit_log as l join calls as c on c.call_id = l.call_id
      where c.approval_id in (${sql.join(some)}))`.execute(trx);
  }
}

const PER_STATEMENT = 500;

export interface WordQuery {
  /** In lower case. Every one must occur; the last may be the beginning of a word. */
  readonly words: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** Calls whose words match, in entries of this range, newest first. */
export async function matchWords(
  db: Db,
  engine: Engine,
  { words, from, to, limit }: WordQuery,
): Promise<readonly string[]> {
  const { rows } =
    engine === 'postgres'
      ? await sql<{
          call_id: string;
        }>`select l.call_id from call_words as w join audit_log as l on l.seq = w.seq
          where w.words @@ to_tsquery('simple', ${words.map((word, at) => `'${word}'${at === words.length - 1 ? ':*' : ''}`).join(' & ')})
          and w.seq >= ${from} and w.seq < ${to} order by w.seq desc limit ${limit}`.execute(db)
      : await sql<{ call_id: string }>`select l.call_id from (
            select rowid as seq from call_words where call_words match ${words.map((word, at) => `"${word}"${at === words.length - 1 ? ' *' : ''}`).join(' ')}
            and rowid >= ${from} and rowid < ${to} order by rowid desc limit ${limit}
          ) as w cross join audit_log as l on l.seq = w.seq order by w.seq desc`.execute(db);
  return rows.map(({ call_id }) => call_id);
}

/** What a person typed as words of the index; signs only divide, so nothing typed is an operator. */
export const wordsOf = (text: string): readonly string[] =>
  (
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).slice(0, MAX_WORDS);

const MAX_WORDS = 12;
