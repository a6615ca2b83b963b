import { cleanLabel } from '../../lib/label.ts';
import { prepareEntry } from '../log/entry.ts';
import { type EvidenceWrite, writeWithEvidence } from '../log/write.ts';
import type { Database } from '../store/database.ts';
import type { CallEvidence } from './recorder.ts';

export interface GroupResult {
  /** Not written, because the database does not work; to be tried again. */
  readonly left: readonly CallEvidence[];
  /** Not written, because the database refuses these rows themselves. */
  readonly refused: readonly { readonly evidence: CallEvidence; readonly cause: unknown }[];
  /** Why something is left. */
  readonly error: unknown;
}

type Insert = (write: EvidenceWrite, group: readonly CallEvidence[]) => Promise<void>;

/** Commits a group in one transaction. A row that the database refuses is set apart, so that the rest is written. */
export async function writeGroup(
  database: Database,
  group: readonly CallEvidence[],
  insert: Insert,
): Promise<GroupResult> {
  try {
    if (group.length > 0) await writeWithEvidence(database, (write) => insert(write, group));
    return { left: [], refused: [], error: undefined };
  } catch (error) {
    if (!isAboutRows(error)) return { left: group, refused: [], error };
    return divide(database, group, insert, error);
  }
}

async function divide(
  database: Database,
  group: readonly CallEvidence[],
  insert: Insert,
  cause: unknown,
): Promise<GroupResult> {
  try {
    const rest = await withoutWritten(database, group);
    if (rest.length < group.length) return await writeGroup(database, rest, insert);
    const [evidence, second] = group;
    if (evidence && !second) {
      await noteUnwritten(database, evidence, cause);
      return { left: [], refused: [{ evidence, cause }], error: undefined };
    }
  } catch (error) {
    return { left: group, refused: [], error };
  }
  const middle = group.length >> 1;
  const first = await writeGroup(database, group.slice(0, middle), insert);
  const second = await writeGroup(database, group.slice(middle), insert);
  return {
    left: [...first.left, ...second.left],
    refused: [...first.refused, ...second.refused],
    error: first.error ?? second.error,
  };
}

const LOOKED_UP = 500;

/** A commit whose answer was lost may have succeeded: what the log already has is not written twice. */
async function withoutWritten(
  { db }: Database,
  group: readonly CallEvidence[],
): Promise<readonly CallEvidence[]> {
  const known = new Set<string>();
  for (let start = 0; start < group.length; start += LOOKED_UP) {
    const ids = group.slice(start, start + LOOKED_UP).map(({ row }) => row.call_id);
    const rows = await db
      .selectFrom('audit_log')
      .select('hash')
      .where(
        'call_id',
        'in',
        ids.filter((id) => !id.includes('\u0000')),
      )
      .execute();
    for (const { hash } of rows) known.add(hash);
  }
  return group.filter(({ entry }) => !known.has(entry.hash));
}

/** A row that cannot be stored may have anything in its cells. */
const label = (cell: unknown): string => cleanLabel(typeof cell === 'symbol' ? typeof cell : String(cell));

/** The call was answered with the hash of an entry that no log will have; the log says so in its place. */
async function noteUnwritten(
  database: Database,
  { row, entry }: CallEvidence,
  cause: unknown,
): Promise<void> {
  const code = cause instanceof Error && 'code' in cause ? cause.code : 'unknown';
  const note = prepareEntry({
    kind: 'read',
    at: entry.at,
    principal: label(row.principal),
    transport: label(row.transport),
    extra: {
      unwritten_call: label(row.call_id),
      tool: label(row.tool),
      evidence_hash: entry.hash,
      reason: label(code),
    },
  });
  await writeWithEvidence(database, async ({ append }) => append(note));
}

/** Data exceptions, violated constraints and exceeded sizes: the database works, and the same rows will fail again. */
const ABOUT_ROWS = /^(22|23|54)[0-9A-Z]{3}$|^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/;

function isAboutRows(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  return error instanceof Error && 'code' in error && ABOUT_ROWS.test(String(error.code));
}
