import type { JsonObject } from '../../contract/json.ts';
import type { LimitUsage, PolicyPort, Verdict } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import type { Database } from '../store/database.ts';
import { isPaused } from '../store/pause.ts';
import type { Policy } from './index.ts';
import { windowStart } from './limits.ts';

/** The active policy and how much of its limits is used, for tools and pages. */
export function createPolicyPort(policy: () => Policy, { db }: Database, now: () => Date): PolicyPort {
  const explain = (tool: string, args: JsonObject, principal: Principal, paused: boolean) => {
    const current = policy();
    const subject = current.find(tool);
    const call = { args, principal, now: now(), dryRunRequested: false, paused };
    return subject && current.explain({ ...call, subject }).decision;
  };
  return {
    async evaluate(tool, args, principal): Promise<Verdict | undefined> {
      const free = explain(tool, args, principal, false);
      // A pause stops what would run now; what asks would wait all the same.
      const stopped = free?.action === 'allow' && (await isPaused(db));
      const decision = stopped ? explain(tool, args, principal, true) : free;
      return decision && { action: decision.action, rule: decision.rule, reason: decision.reason };
    },
    async status() {
      return policy().status();
    },
    async limits(): Promise<readonly LimitUsage[]> {
      const at = now();
      const rows = await db
        .selectFrom('counters')
        .selectAll()
        .where('window_start', '>=', Math.floor(at.getTime() / 1000) - LONGEST_PERIOD)
        .execute();
      return policy().limits.map((limit) => {
        const start = windowStart(limit, at);
        const used = rows.find((row) => row.key === limit.key && row.window_start === start)?.used ?? 0;
        return {
          key: limit.key,
          dimension: limit.dimension,
          match: limit.match,
          max: limit.max,
          used,
          periodSeconds: limit.periodSeconds,
          periodStart: new Date(start * 1000),
          resetAt: new Date((start + limit.periodSeconds) * 1000),
        };
      });
    },
  };
}

/** Counters older than this belong to no open window of any sensible limit. */
const LONGEST_PERIOD = 366 * 24 * 3600;
