import type { JsonObject } from '../contract/json.ts';
import type { HealthPort } from '../contract/ports.ts';
import type { Database } from './database.ts';
import type { Kernel } from './kernel.ts';

interface HealthOptions {
  readonly kernel: Pick<Kernel, 'isPaused'>;
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
        const head = await database.db.selectFrom('audit_head').select('size').executeTakeFirst();
        const unsettled = await database.db
          .selectFrom('calls')
          .select('call_id')
          .where('status', '=', 'indeterminate')
          .execute();
        return {
          ...base,
          status: 'ok',
          database: { status: 'ok', engine: database.engine },
          evidence_entries: head?.size ?? 0,
          indeterminate_calls: unsettled.length,
          paused: await kernel.isPaused(),
        };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return {
          ...base,
          status: 'degraded',
          database: { status: 'error', engine: database.engine, message },
        };
      }
    },
  };
}
