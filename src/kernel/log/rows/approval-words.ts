import { hash } from 'node:crypto';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import type { ApprovalsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { type ApprovalEntry, entriesAbout } from './approval-entries.ts';
import { contextDigest } from './approval-terms.ts';

/** What people are shown of an approval, as it is stored: the columns that lists read, and the complete presentation. */
export interface ApprovalWords
  extends Pick<ApprovalsTable, 'summary' | 'gist' | 'environment' | 'risks' | 'reason'> {
  readonly body: string | null;
}

/** What erased rows have for a title. */
export const ERASED = '(erased)';

/**
 * Goes into the entry that asks for an approval or edits it. The stored presentation has a salt, so that an erased title
 * cannot be guessed from it.
 */
export function wordsDigest({ summary, gist, environment, risks, reason, body }: ApprovalWords): string {
  // A database stores a lone surrogate as the replacement character.
  const words = [summary, gist, environment, risks, reason, body].map((one) => one?.toWellFormed() ?? null);
  return hash('sha256', JSON.stringify(words));
}

/** Whether an entry says what is shown; if so, its digest, or none from before there was one. */
export function statedWords({
  kind,
  rule,
  extra,
}: Entry): { readonly digest: string | undefined } | undefined {
  // Only the entry that asks names the rule: one that is pending again is shown as before.
  if (kind !== 'edit' && !(kind === 'approval' && rule !== undefined)) return undefined;
  const digest = extra?.presentation_sha256;
  return { digest: typeof digest === 'string' ? digest : undefined };
}

/** The digest of the context, in the entry that asks. */
export function statedContext({ extra }: Pick<Entry, 'extra'>): string | undefined {
  const digest = extra?.context_sha256;
  return typeof digest === 'string' ? digest : undefined;
}

/** An approval compared with its entries. */
interface ComparedWords {
  /** Title and content are not what its entries were made with, or it has none. */
  readonly isForged: boolean;
  /** Of the calls that it was requested for: more than one after an edit. */
  readonly digests: ReadonlySet<string>;
}

/** Each of these approvals that has a row. */
export async function compareWords(
  database: Pick<Database, 'db' | 'engine'>,
  ids: readonly number[],
  entries?: readonly ApprovalEntry[],
): Promise<ReadonlyMap<number, ComparedWords>> {
  const rows = await readWords(database, ids);
  const uuids = rows.map(({ uuid }) => uuid);
  const { db, engine } = database;
  const stated = readStated(entries ?? (await entriesAbout(db, engine, uuids, ['approval', 'edit'])));
  const suspects = rows.filter((row) => isForged(row, stated.get(row.uuid)));
  const forged = suspects.length === 0 ? new Set() : await stillForged(database, suspects);
  return new Map(
    rows.map(({ id, uuid }) => [
      id,
      { isForged: forged.has(id), digests: stated.get(uuid)?.digests ?? new Set() },
    ]),
  );
}

/**
 * Those of these approvals whose title or content is not what their entries were made with. `entries`: those about them,
 * where the caller has read them.
 */
export async function findForgedWords(
  database: Pick<Database, 'db' | 'engine'>,
  ids: readonly number[],
  entries?: readonly ApprovalEntry[],
): Promise<ReadonlySet<number>> {
  const compared = await compareWords(database, ids, entries);
  return new Set([...compared].flatMap(([id, one]) => (one.isForged ? [id] : [])));
}

type WordsRow = Awaited<ReturnType<typeof readWords>>[number];

interface StatedWords {
  /** Undefined where the last entry that says what is shown is from before there was a digest. */
  digest: string | undefined;
  /** The same for its context. */
  context: string | undefined;
  isChanged: boolean;
  readonly digests: Set<string>;
}

function isForged(row: WordsRow, stated: StatedWords | undefined): boolean {
  if (!stated || stated.isChanged) return true;
  if (row.summary === ERASED) return false;
  if (stated.context !== undefined && contextDigest(row.context) !== stated.context) return true;
  return stated.digest !== undefined && wordsDigest(row) !== stated.digest;
}

/** Row and log are read one after the other: what was edited or erased in between is left to the next reader. */
async function stillForged(
  database: Pick<Database, 'db'>,
  suspects: readonly WordsRow[],
): Promise<ReadonlySet<number>> {
  const ids = suspects.map(({ id }) => id);
  const now = new Map((await readWords(database, ids)).map((row) => [row.id, row]));
  return new Set(
    ids.filter((id, index) => {
      const [before, after] = [suspects[index], now.get(id)];
      return before?.version === after?.version && before?.summary === after?.summary;
    }),
  );
}

async function readWords({ db }: Pick<Database, 'db'>, ids: readonly number[]) {
  if (ids.length === 0) return [];
  return db
    .selectFrom('approvals as a')
    .leftJoin('approval_previews as p', 'p.approval_id', 'a.id')
    .select(['a.id', 'a.uuid', 'a.version', 'a.summary', 'a.gist', 'a.environment', 'a.risks', 'a.reason'])
    .select(['a.context', 'p.body'])
    .where('a.id', 'in', [...new Set(ids)])
    .execute();
}

/** By UUID. */
function readStated(entries: readonly ApprovalEntry[]): ReadonlyMap<string, StatedWords> {
  const found = new Map<string, StatedWords>();
  for (const { uuid, hash: own, body } of entries) {
    const one = found.get(uuid) ?? {
      digest: undefined,
      context: undefined,
      isChanged: false,
      digests: new Set(),
    };
    found.set(uuid, one);
    // A changed entry proves nothing.
    if (leafHash(body) !== own) {
      one.isChanged = true;
      continue;
    }
    const entry = JSON.parse(body) as Entry;
    if (entry.kind !== 'approval' && entry.kind !== 'edit') continue;
    if (entry.approval) one.digests.add(entry.approval.digest);
    const words = statedWords(entry);
    if (words) one.digest = words.digest;
    one.context = statedContext(entry) ?? one.context;
  }
  return found;
}
