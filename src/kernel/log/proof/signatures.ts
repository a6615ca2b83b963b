import type { Database } from '../../store/database.ts';
import { type Entry, readBody } from '../entry.ts';
import { EnrolledKeys, PasskeyProblem } from '../passkeys/enrolled.ts';
import { itemOfDecision, signedDecision } from '../passkeys/entries.ts';
import { passkeyRows, signatureRows } from '../passkeys/read.ts';
import { itemHash } from '../passkeys/statement.ts';
import { entriesAbout } from '../rows/approval-entries.ts';
import { requireEntry } from './intact.ts';

interface LogRow {
  readonly seq: number;
  readonly body: string;
}

/**
 * Reads what verifies the signatures under which these entries ran: the decisions, their signatures, every entry about
 * keys, and the first entry, which names the log. Empty when none of them was signed.
 */
export async function supportOf(database: Database, rows: readonly LogRow[]): Promise<LogRow[]> {
  const { db, engine } = database;
  const own = new Set(rows.map(({ seq }) => seq));
  const found = new Map<number, LogRow>();
  // Callers that need intact entries have checked them by now; others get what can be read.
  const uuids = new Set(rows.flatMap(({ body }) => readBody(body)?.approval?.uuid ?? []));
  for (const uuid of uuids) {
    const decisions = await entriesAbout(db, engine, uuid);
    for (const { seq, body } of decisions) {
      const signed = signedDecision.safeParse(requireEntry({ seq, body }).extra?.signed).data;
      if (!signed) continue;
      found.set(seq, { seq, body });
      const hashes = signed.by.map(({ entry }) => entry);
      for (const row of await signatureRows(db, engine, hashes)) found.set(row.seq, row);
    }
  }
  if (found.size === 0) return [];
  for (const row of await passkeyRows(db, engine)) found.set(row.seq, row);
  const first = await db
    .selectFrom('audit_log')
    .select(['seq', 'body'])
    .where('seq', '=', 0)
    .executeTakeFirst();
  if (first) found.set(0, first);
  return [...found.values()].filter(({ seq }) => !own.has(seq)).sort((a, b) => a.seq - b.seq);
}

export interface Signer {
  readonly person: string;
  readonly fingerprint: string;
  /** The call whose approval was signed. */
  readonly call: string;
}

interface FoundEntry {
  readonly seq: number;
  readonly hash: string;
  readonly entry: Entry;
}

/** Verifies the signatures in a file by what the file contains. Only the complete log shows whether a key was removed before. */
export function checkSignatures(
  entries: readonly FoundEntry[],
  given: readonly string[],
): { readonly signers: readonly Signer[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const signers: Signer[] = [];
  const wanted = new Set(given.map((one) => one.replaceAll(/[^0-9a-f]/gi, '').toLowerCase()));
  const ordered = [...entries].sort((a, b) => a.seq - b.seq);
  const log = ordered.find(({ seq }) => seq === 0)?.hash ?? '';
  const keys = new EnrolledKeys();
  const made = new Map<string, { items: readonly string[]; person: string; key: string }>();
  const decided = new Map<string, { people: { person: string; key: string }[]; by: Entry }>();
  for (const { seq, hash, entry } of ordered) {
    try {
      if (entry.kind === 'passkey') keys.take(log, entry);
      if (entry.kind === 'signature') {
        const { statement, by } = keys.takeSignature(log, entry.at, entry.extra);
        made.set(hash, { items: statement.items, person: statement.person, key: by.key });
      }
    } catch (error) {
      if (!(error instanceof PasskeyProblem)) throw error;
      problems.push(`Entry ${seq} ${error.message}.`);
    }
    const uuid = entry.approval?.uuid ?? '';
    if (entry.kind === 'approval' && entry.status === 'approved' && entry.extra?.signed !== undefined) {
      const signed = signedDecision.safeParse(entry.extra.signed).data;
      const people = signed
        ? signed.by.flatMap((one) => {
            const found = made.get(one.entry);
            const hash = itemHash(itemOfDecision(entry, signed.item), one.salt);
            return found?.items.includes(hash) ? [found] : [];
          })
        : [];
      if (people.length !== signed?.by.length)
        problems.push(`Entry ${seq} approves ${uuid} by a signature that does not cover it.`);
      decided.set(uuid, { people, by: entry });
    }
    if (entry.kind === 'intent' || entry.kind === 'read' || entry.kind === 'call') {
      // A part runs under the approval of the whole; what was signed is the whole.
      const decision = entry.parent === undefined ? decided.get(uuid) : undefined;
      const isCovered = decision !== undefined && isSameCall(entry, decision.by);
      if (decision && !isCovered)
        problems.push(
          `Entry ${seq} begins call ${entry.call} under ${uuid}, which was given for another call.`,
        );
      const people = isCovered ? decision.people : [];
      for (const { person, key } of people)
        signers.push({ person, fingerprint: key, call: entry.call ?? '' });
      // What was cut out of the file must not pass for a call that no one had to sign.
      if (wanted.size > 0 && entry.approval && entry.parent === undefined && people.length === 0)
        problems.push(`The file does not show who signed call ${entry.call}.`);
    }
  }
  if (wanted.size > 0) {
    for (const { fingerprint } of signers)
      if (!isVouched(keys, fingerprint, wanted))
        problems.push(`Key ${fingerprint} is not one of the given signers, and none of them vouches for it.`);
  }
  return { signers, problems };
}

/** A permit also covers what its call is bound to, so only the digest of the permit itself can be compared. */
const isSameCall = (run: Entry, { tool, approval }: Entry): boolean =>
  run.tool === tool &&
  run.approval?.digest === approval?.digest &&
  (approval?.permit === true || (run.digest === approval?.digest && run.principal === approval?.requester));

/** Given, or countersigned by one that is vouched for. */
function isVouched(keys: EnrolledKeys, fingerprint: string, given: ReadonlySet<string>): boolean {
  let at: string | undefined = fingerprint;
  for (let step = 0; at !== undefined && step < 100; step += 1) {
    if (given.has(at)) return true;
    at = keys.find(at)?.endorsedBy;
  }
  return false;
}
