import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { textsOf } from '../growth/agenda.ts';
import { SCHEDULER } from '../growth/principals.ts';
import type { ContentRow } from '../growth/tables.ts';
import type { XServices } from '../services.ts';
import { postLength } from './post-text.ts';

export const contentShape = z.object({
  id: z.number(),
  status: z.string(),
  content_type: z.string(),
  content: z.union([z.string(), z.array(z.string())]),
  lengths: z.array(z.number()),
  scheduled_for: z.string().nullable(),
  topic: z.string().nullable(),
  format: z.string().nullable(),
});

const PERMIT_MS = 24 * 3_600_000;

/** A thread is written as parts between lines of dashes, or as a JSON array of texts. */
export function partsOf(content: string, type: 'tweet' | 'thread'): string[] {
  if (type === 'tweet') return [content];
  const parts = jsonTexts(content) ?? content.split(/^\s*-{3,}\s*$/mu).map((part) => part.trim());
  const filled = parts.filter((part) => part !== '');
  if (filled.length >= 2) return filled;
  throw new ToolFault(
    'validation_error',
    'A thread needs two parts or more; put a line of --- between them.',
    {
      detail: { field: 'content' },
    },
  );
}

function jsonTexts(content: string): string[] | undefined {
  if (!content.trimStart().startsWith('[')) return undefined;
  try {
    return z.array(z.string()).safeParse(JSON.parse(content)).data;
  } catch {
    return undefined;
  }
}

export async function describeContent(row: ContentRow): Promise<z.input<typeof contentShape>> {
  const texts = textsOf(row);
  return {
    id: row.id,
    status: row.state,
    content_type: row.content_type,
    content: row.content_type === 'thread' ? texts : (texts[0] ?? ''),
    lengths: await Promise.all(texts.map(postLength)),
    scheduled_for: row.scheduled_for,
    topic: row.topic,
    format: row.style,
  };
}

/** The call the scheduler makes for an item; a permit is given for exactly this. */
export function callFor(row: Pick<ContentRow, 'content_type' | 'content'>): {
  tool: string;
  args: JsonObject;
} {
  const texts = textsOf(row);
  return row.content_type === 'thread'
    ? { tool: 'x_post_thread', args: { tweets: texts } }
    : { tool: 'x_post_tweet', args: { text: texts[0] ?? '' } };
}

/**
 * Whoever approved the scheduling of this very text has decided on the post: without a permit the policy would ask
 * again at the minute it should go out, and nobody would be there.
 */
export async function permitScheduled(context: ToolContext<XServices>, row: ContentRow): Promise<void> {
  const by = deciderOf(context);
  if (!by || row.scheduled_for === null) return;
  const { approvals } = context.services.kernel;
  let permit: Approval | undefined;
  try {
    permit = await approvals.propose({
      ...callFor(row),
      kind: 'permit',
      requester: SCHEDULER,
      reason: `Scheduled for ${row.scheduled_for} (item ${row.id})`,
      context: { content_id: row.id, scheduled_by_call: context.callId },
      expiresAt: new Date(Date.parse(row.scheduled_for) + PERMIT_MS),
    });
    await approvals.approve(permit.id, by, { note: `Approved with the scheduling of item ${row.id}` });
  } catch (error) {
    // The item is scheduled all the same; when its time comes the policy decides.
    context.services.log.warn('A scheduled post got no permit', { item: row.id, error: String(error) });
    // Left in the inbox it would ask for what nobody waits for.
    if (permit) await approvals.withdraw(permit.id, SCHEDULER).catch(() => {});
  }
}

/** What was permitted for an item that is no longer to go out like this must not let an equal post through later. */
export async function voidPermits(
  { services }: ToolContext<XServices>,
  contentId: number,
  by: Principal,
): Promise<void> {
  const { approvals } = services.kernel;
  const given = await approvals.list({
    kind: 'permit',
    states: ['approved'],
    toolkit: 'x',
    requesters: [SCHEDULER],
    limit: 10_000,
  });
  for (const permit of given) {
    if (permit.context.content_id === contentId) await approvals.withdraw(permit.id, by);
  }
}

const deciderOf = ({ approvedBy, principal }: ToolContext<XServices>): Principal | undefined =>
  approvedBy ?? (principal.kind === 'person' ? principal : undefined);
