import { setImmediate } from 'node:timers/promises';
import { type Selectable, sql, type Transaction } from 'kysely';
import type { JsonValue } from '../contract/json.ts';
import { insertWords, matchWords, wordsOf } from './store/call-words.ts';
import { parseJson } from './store/cells.ts';
import type { Database } from './store/database.ts';
import type { CallsTable, Tables } from './store/tables.ts';

/** Entries at a time: others are answered between two. */
const SLICE = 250;
/** So much of one call can be found by its words. */
const MAX_TEXT = 8_000;
/** A search waits for so many entries to be indexed; upkeep indexes the rest. */
const MOST_AT_SEARCH = 5_000;

const FINISHING = ['outcome', 'read', 'call', 'refusal', 'routed', 'dry_run'] as const;

/** Makes calls findable by their words, in the order of their entries; `most` bounds the work of one request. */
export async function indexCallWords(database: Database, most = Number.POSITIVE_INFINITY): Promise<void> {
  for (let done = 0; done < most; done += SLICE) {
    const { seq, size } = await readHead(database);
    const end = Math.min(size, seq + SLICE);
    if (seq >= end) return;
    await database.write(async (trx) => {
      // Also keeps an erasure out until this is committed.
      const moved = await trx
        .updateTable('call_words_head')
        .set({ seq: end })
        .where('seq', '=', seq)
        .executeTakeFirst();
      // Another process has just done it.
      if (moved.numUpdatedRows === 0n) return;
      await insertWords(trx, database.engine, await textsBetween(trx, seq, end));
    });
    await setImmediate();
  }
}

async function readHead({ db }: Database): Promise<{ seq: number; size: number }> {
  const { rows } = await sql<{ seq: number; size: number }>`select
    coalesce((select seq from call_words_head where id = 1), 0) as seq,
    coalesce((select size from audit_head where id = 1), 0) as size`.execute(db);
  return rows[0] ?? { seq: 0, size: 0 };
}

/** Titles, arguments and results as evidence keeps them: what is private or secret there is only a hash. */
async function textsBetween(trx: Transaction<Tables>, from: number, to: number) {
  const calls = await trx
    .selectFrom('audit_log as l')
    .innerJoin('calls as c', 'c.call_id', 'l.call_id')
    .leftJoin('approvals as a', 'a.id', 'c.approval_id')
    .select(['l.seq', 'c.call_id', 'c.tool', 'c.principal', 'c.code', 'c.run_id', 'a.summary', 'a.gist'])
    .where('l.seq', '>=', from)
    .where('l.seq', '<', to)
    .where('l.kind', 'in', FINISHING)
    .execute();
  if (calls.length === 0) return [];
  const payloads = await trx
    .selectFrom('audit_payloads')
    .select(['call_id', 'body'])
    .where(
      'call_id',
      'in',
      calls.map(({ call_id }) => call_id),
    )
    .where('body', 'is not', null)
    .orderBy('kind')
    .execute();
  const said = new Map<string, string>();
  for (const { call_id, body } of payloads)
    said.set(call_id, `${said.get(call_id) ?? ''} ${valuesOf(parseJson(body ?? 'null') ?? null)}`);
  return calls.map(({ seq, call_id, summary, gist, ...row }) => {
    const parts = [row.tool, row.principal, row.code, row.run_id, summary, gist, said.get(call_id)];
    return { seq, text: parts.filter(Boolean).join(' ').slice(0, MAX_TEXT) };
  });
}

/** Texts and numbers of a value; names of fields are the same in every call and would find all of them. */
function valuesOf(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map(valuesOf).join(' ');
  if (typeof value.$hash === 'string') return '';
  return Object.values(value).map(valuesOf).join(' ');
}

/** How far back each step of a search looks: most of what a person looks for is recent. */
const STEPS = [20_000, 100_000, 500_000] as const;
/** Matches that are compared with the other filters; a search for something very common ends there. */
const MOST_MATCHES = 2_000;

/**
 * The newest calls that contain these words and pass the filter. Each step reads a bounded range of the log and a bounded
 * number of matches, so a word that every call contains costs no more than a rare one.
 */
export async function findByWords(
  database: Database,
  text: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  read: (callIds: readonly string[]) => Promise<readonly Selectable<CallsTable>[]>,
): Promise<readonly Selectable<CallsTable>[]> {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  await indexCallWords(database, MOST_AT_SEARCH);
  const { size } = await readHead(database);
  const found: Selectable<CallsTable>[] = [];
  let to = size;
  for (const width of [...STEPS, size]) {
    if (to <= 0 || found.length >= limit + offset) break;
    const from = Math.max(0, to - width);
    const ids = await matchWords(database.db, database.engine, { words, from, to, limit: MOST_MATCHES });
    for (let start = 0; start < ids.length; start += PER_READ) {
      found.push(...(await read(ids.slice(start, start + PER_READ))));
      if (found.length >= limit + offset) break;
      await setImmediate();
    }
    to = from;
  }
  const newest = [...new Map(found.map((row) => [row.call_id, row])).values()];
  return newest.sort((a, b) => (a.call_id < b.call_id ? 1 : -1)).slice(offset, offset + limit);
}

const PER_READ = 500;
