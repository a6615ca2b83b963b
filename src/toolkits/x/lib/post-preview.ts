import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { XServices } from '../services.ts';
import { MAX_POST_LENGTH, postLength } from './post-text.ts';

export const previewShape = z.object({
  dry_run: z.literal(true),
  would_execute: z.string(),
  tweets: z.array(z.object({ text: z.string(), length: z.number(), remaining: z.number() })),
  limits: z.array(z.object({ action: z.string(), used: z.number(), max: z.number() })),
  policy: z.object({
    mode: z.string(),
    approval_mode: z.boolean(),
    blocked: z.boolean(),
    listed_for_approval: z.boolean(),
    dry_run_mutations: z.boolean(),
  }),
});

/** What posting these texts would meet. The rules themselves are judged when the real call is made. */
export async function previewPost(services: XServices, tool: string, texts: readonly string[]) {
  const status = await services.kernel.policy.status().catch((cause: unknown) => {
    throw new ToolFault('policy_error', 'The policy could not be read.', { cause });
  });
  const lists = (key: string): boolean => {
    const names = status[key];
    return Array.isArray(names) && (names.includes(tool) || names.includes(tool.replace(/^x_/, '')));
  };
  const { mode, approvalMode } = services.stance();
  const lengths = await Promise.all(texts.map(postLength));
  return {
    dry_run: true as const,
    would_execute: tool,
    tweets: texts.map((text, index) => {
      const length = lengths[index] ?? 0;
      return { text, length, remaining: MAX_POST_LENGTH - length };
    }),
    limits: (await services.safety.usage()).map(({ action, used, max }) => ({ action, used, max })),
    policy: {
      mode,
      approval_mode: approvalMode,
      blocked: lists('blocked_tools'),
      listed_for_approval: lists('require_approval_for'),
      dry_run_mutations: status.dry_run_mutations === true,
    },
  };
}
