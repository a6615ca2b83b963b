import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import type { XServices } from '../services.ts';
import { MAX_POST_LENGTH, postLength } from './post-text.ts';

export const previewShape = z.object({
  dry_run: z.literal(true),
  would_execute: z.string(),
  tweets: z.array(
    z.object({
      text: z.string(),
      length: z.number(),
      remaining: z.number(),
      media_ids: z.array(z.string()).optional(),
    }),
  ),
  limits: z.array(z.object({ action: z.string(), used: z.number(), max: z.number() })),
  policy: z.object({
    decision: z.string().describe('What the real call would meet: allow, ask, dry_run or deny.'),
    reason: z.string(),
    matched_rule_id: z.string(),
    mode: z.string(),
    approval_mode: z.boolean(),
    blocked: z.boolean(),
    listed_for_approval: z.boolean(),
    dry_run_mutations: z.boolean(),
  }),
});

interface Part {
  readonly text: string;
  readonly mediaIds?: readonly string[] | undefined;
}

/** What posting these texts would meet, by the same rules as the real call with these arguments. */
export async function previewPost(
  { services, principal }: Pick<ToolContext<XServices>, 'services' | 'principal'>,
  call: { readonly tool: string; readonly args: JsonObject },
  parts: readonly Part[],
) {
  const { policy } = services.kernel;
  const [status, verdict] = await Promise.all([
    policy.status(),
    policy.judge(call.tool, call.args, principal),
  ]).catch((cause: unknown) => {
    throw new ToolFault('policy_error', 'The policy could not be read.', { cause });
  });
  if (!verdict) throw new ToolFault('policy_error', `The policy does not know ${call.tool}.`);
  const lists = (key: string): boolean => {
    const names = status[key];
    return (
      Array.isArray(names) && (names.includes(call.tool) || names.includes(call.tool.replace(/^x_/, '')))
    );
  };
  const { mode, approvalMode } = services.stance();
  const tweets = await Promise.all(
    parts.map(async ({ text, mediaIds = [] }) => {
      const length = await postLength(text);
      const media = mediaIds.length > 0 ? { media_ids: [...mediaIds] } : {};
      return { text, length, remaining: MAX_POST_LENGTH - length, ...media };
    }),
  );
  return {
    dry_run: true as const,
    would_execute: call.tool,
    tweets,
    limits: (await services.safety.usage()).map(({ action, used, max }) => ({ action, used, max })),
    policy: {
      decision: verdict.action,
      reason: verdict.reason,
      matched_rule_id: verdict.rule,
      mode,
      approval_mode: approvalMode,
      blocked: lists('blocked_tools'),
      listed_for_approval: lists('require_approval_for'),
      dry_run_mutations: status.dry_run_mutations === true,
    },
  };
}
