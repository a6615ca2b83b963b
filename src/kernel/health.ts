import type { JsonObject } from '../contract/json.ts';
import type { HealthPort } from '../contract/ports.ts';
import { describeDatabaseError } from '../lib/database-error.ts';
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
        const head = await database.db.selectFrom('audit_head').select('size').executeTakeFirst();
        const unsettled = await database.db
          .selectFrom('calls')
          .select('call_id')
          .where('status', '=', 'indeterminate')
          .execute();
        return {
          ...base,
          status: kernel.evidence().writable ? 'ok' : 'degraded',
          database: { status: 'ok', engine: database.engine },
          evidence_entries: head?.size ?? 0,
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
