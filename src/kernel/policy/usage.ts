import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { LimitUse } from '../../contract/presentation.ts';
import type { Principal } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import type { Database } from '../store/database.ts';
import { windowStart } from './limits.ts';
import type { Policy } from './types.ts';

/** How much is used of every limit that a call of this tool counts in. */
async function usageOf(
  { db }: Database,
  policy: Policy,
  { tool, toolkit }: BoundTool,
  principal: Principal,
  now: Date,
): Promise<readonly LimitUse[]> {
  if (tool.composite) return [];
  const subject = { name: tool.name, toolkit: toolkit.id, category: tool.category, effect: tool.effect };
  const limits = policy.limitsFor({ subject, principal });
  return Promise.all(
    limits.map(async (limit) => {
      const row = await db
        .selectFrom('counters')
        .select('used')
        .where('key', '=', limit.key)
        .where('window_start', '=', windowStart(limit, now))
        .executeTakeFirst();
      return { key: limit.key, used: row?.used ?? 0, of: limit.max, period_seconds: limit.periodSeconds };
    }),
  );
}

/** Every limit that this call counts in, of the policy and of its toolkit, the fullest first. */
export async function limitsOf(
  args: JsonObject,
  ...asked: Parameters<typeof usageOf>
): Promise<readonly LimitUse[]> {
  const [, , bound] = asked;
  const own = await ownLimits(bound, args);
  const share = ({ used, of }: LimitUse): number => used / Math.max(1, of);
  return [...(await usageOf(...asked)), ...own].sort((a, b) => share(b) - share(a));
}

/** None where the toolkit is not set up: the call itself says what is missing. */
async function ownLimits({ tool, services }: BoundTool, args: JsonObject): Promise<readonly LimitUse[]> {
  if (!tool.limits) return [];
  try {
    return await tool.limits(args, await services());
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

/** The limit that refuses a call of this tool now; only changes are counted. */
export async function findFullLimit(...asked: Parameters<typeof usageOf>): Promise<string | undefined> {
  const [, , { tool }] = asked;
  if (!isChange(tool.effect)) return undefined;
  const usage = await usageOf(...asked);
  return usage.toSorted((a, b) => (a.key < b.key ? -1 : 1)).find(({ used, of }) => used >= of)?.key;
}

/** What the rule that a decision names is for: one of the user's own, or one of the template's. */
export function ruleLabel(policy: Policy, id: string): string | undefined {
  const { template, rules, template_rules } = policy.status();
  const own = rules?.find((rule) => rule.id === id);
  return (own ?? template_rules?.find((rule) => `template:${template}:${rule.id}` === id))?.label;
}
