import { type Kysely, sql } from 'kysely';
import { openStorage } from '../../src/app/open-storage.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Traffic } from './agents.ts';
import { LIMITS } from './cluster.ts';

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Answers after which a change certainly did not happen. */
const NOT_DONE = new Set(['policy_denied_rate_limited', 'policy_denied_blocked', 'invalid_input', 'paused']);

/** Compares what the agents were told with what happened and with what the log says. */
export async function checkStore(url: string, { changes }: Traffic): Promise<Finding[]> {
  const database = await openStorage({ url });
  const db = database.db as unknown as Kysely<unknown>;
  try {
    const rows = async <T>(query: ReturnType<typeof sql<T>>): Promise<T[]> => (await query.execute(db)).rows;
    const effects = await rows(sql<{ text: string; times: number }>`
      select text, count(*) as times from soak_effects group by text`);
    const times = new Map(effects.map((row) => [row.text, Number(row.times)]));
    const twice = effects.filter((row) => Number(row.times) > 1);
    const told = [...changes];
    const missing = told.filter(([text, status]) => status === 'ok' && !times.has(text));
    const invented = told.filter(([text, status]) => NOT_DONE.has(status) && times.has(text));
    const [log] = await rows(sql<{ entries: number; last: number; size: number }>`
      select count(*) as entries, max(seq) + 1 as last, (select size from audit_head) as size from audit_log`);
    const open = await rows(sql<{ status: string }>`
      select status from calls where status in ('running', 'indeterminate')`);
    const report = await verifyLog(database, { publicKeys: [], rows: true });
    const running = open.filter(({ status }) => status === 'running').length;
    return [
      {
        what: 'no duplicate',
        ok: twice.length === 0,
        detail: `${times.size} changes done, ${twice.length} of them twice`,
      },
      {
        what: 'replies true',
        ok: missing.length + invented.length === 0,
        detail: `${told.length} changes requested; ${missing.length} reported done but missing, ${invented.length} reported refused but done`,
      },
      ...(await checkLimits(rows)),
      {
        what: 'no gap in the log',
        ok:
          report.ok &&
          Number(log?.entries) === Number(log?.last) &&
          Number(log?.entries) === Number(log?.size),
        detail: `${log?.entries} entries verified with calls, approvals and counters; ${
          report.problems
            .map(({ message }) => message)
            .slice(0, 3)
            .join(' ') || 'no problems'
        }`,
      },
      {
        what: 'all settled',
        ok: running === 0,
        detail: `${running} calls still running, ${open.length - running} with an unknown outcome left to a person`,
      },
    ];
  } finally {
    await database.close();
  }
}

async function checkLimits(rows: <T>(query: ReturnType<typeof sql<T>>) => Promise<T[]>): Promise<Finding[]> {
  const counters = await rows(sql<{ key: string; used: number }>`select key, used from counters`);
  const [counted] = await rows(sql<{ intents: number; refunded: number }>`
    select count(*) filter (where kind = 'intent') as intents,
      count(*) filter (where kind = 'outcome' and body like '%"refunded":true%') as refunded from audit_log`);
  const admitted = Number(counted?.intents) - Number(counted?.refunded);
  return LIMITS.map(({ key, max }) => {
    const own = counters.filter(
      (row) => row.key === key || row.key.startsWith(`${key}:`) || row.key.startsWith(`${key}|`),
    );
    const over = own.filter(({ used }) => used > max).length;
    const full = own.filter(({ used }) => used === max).length;
    const total = own.reduce((sum, { used }) => sum + used, 0);
    return {
      what: `limit ${key} exact`,
      ok: over === 0 && full > 0 && total === admitted,
      detail: `${own.length} windows, ${full} of them full at ${max}, ${over} above; ${total} counted of ${admitted} admitted`,
    };
  });
}
