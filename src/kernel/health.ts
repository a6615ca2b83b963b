import { sql } from 'kysely';
import type { JsonObject } from '../contract/json.ts';
import type { HealthPort } from '../contract/ports.ts';
import { describeDatabaseError } from '../lib/database-error.ts';
import { leafHash } from '../lib/merkle.ts';
import type { Kernel } from './kernel.ts';
import type { Database } from './store/database.ts';
import { runStatement, statement } from './store/statements.ts';

interface HealthOptions {
  readonly kernel: Pick<Kernel, 'isPaused' | 'evidence' | 'evidenceProblem'>;
  readonly database: Database;
  readonly startedAt: Date;
  readonly version: string;
  now(): Date;
}

/** What is well and what is not, as data: looking never fails. */
export function createHealth({ kernel, database, startedAt, now, version }: HealthOptions): HealthPort {
  return {
    async check(): Promise<JsonObject> {
      const base = { version, uptime_seconds: Math.round((now().getTime() - startedAt.getTime()) / 1000) };
      try {
        const problem = await kernel.evidenceProblem();
        if (problem !== undefined) throw problem;
        const entries = await countEntries(database);
        const unsettled = await database.db
          .selectFrom('calls')
          .select('call_id')
          .where('status', '=', 'indeterminate')
          .execute();
        return {
          ...base,
          status: kernel.evidence().writable ? 'ok' : 'degraded',
          database: { status: 'ok', engine: database.engine },
          evidence_entries: entries,
          evidence: evidenceOf(kernel),
          indeterminate_calls: unsettled.length,
          paused: await kernel.isPaused(),
        };
      } catch (error) {
        const message = describe(error);
        return {
          ...base,
          status: 'degraded',
          database: { status: 'error', engine: database.engine, message },
          evidence: evidenceOf(kernel),
        };
      }
    },
  };
}

/** Believes the head only with the last entry: damage at the end of the log hides until it is read. */
async function countEntries({ db }: Database): Promise<number> {
  const end = await db
    .selectFrom('audit_head')
    .leftJoin('audit_log', (join) => join.on('audit_log.seq', '=', sql`audit_head.size - 1`))
    .select(['audit_head.size', 'audit_log.hash', 'audit_log.body'])
    .executeTakeFirst();
  const size = end?.size ?? 0;
  if (size > 0 && (typeof end?.body !== 'string' || leafHash(end.body) !== end.hash))
    throw new Error(
      'The last entry of the audit log is missing or damaged. Run `countersign audit verify`, or restore a backup with `countersign restore FOLDER --force`.',
    );
  return size;
}

/** What this process knows about its own evidence, without trying. */
function evidenceOf(kernel: Pick<Kernel, 'evidence'>): JsonObject {
  const { writable, waiting, full, unwritten, error } = kernel.evidence();
  return { writable, waiting, full, unwritten, ...(writable ? {} : { message: describe(error) }) };
}

const TOUCH = statement('update audit_head set size = size where id = 1');

/** Writes to the head of the audit log without changing it: why evidence cannot be written now, or undefined. */
export async function findEvidenceProblem(database: Database): Promise<string | undefined> {
  try {
    await database.write((trx) => runStatement(trx, database.engine, TOUCH, []));
    return undefined;
  } catch (error) {
    return describe(error);
  }
}

const describe = (error: unknown): string =>
  describeDatabaseError(error) ?? (error instanceof Error ? error.message : String(error));
