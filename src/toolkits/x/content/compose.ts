import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Approval } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { textsOf } from '../growth/content-queue.ts';
import type { ContentRow } from '../growth/tables.ts';
import { MAX_POST_LENGTH, postLength } from '../posting/text.ts';
import { SCHEDULER, type XServices } from '../services.ts';
import type { contentShape } from '../views.ts';

export interface DraftRules {
  bannedPhrase(text: string): string | undefined;
  /** Links the text may hold; a link from anywhere else came from someone else's post. */
  readonly allowedLinks: readonly string[];
}

const LINK = /https?:\/\/\S+/giu;

/** What is wrong with a generated text, as an instruction to rewrite it; undefined when it can be used. */
export async function draftProblem(text: string, rules: DraftRules): Promise<string | undefined> {
  if (text === '') return 'The text was empty. Write the post.';
  const length = await postLength(text);
  if (length > MAX_POST_LENGTH) {
    return `The text was ${length} characters long. Write it again with fewer than ${MAX_POST_LENGTH - 40}.`;
  }
  const phrase = rules.bannedPhrase(text);
  if (phrase !== undefined)
    return `The text contained the banned phrase "${phrase}". Write it again without it.`;
  const stray = (text.match(LINK) ?? []).some(
    (link) => !rules.allowedLinks.some((allowed) => link.startsWith(allowed)),
  );
  return stray ? 'The text contained a link. Write it again without links.' : undefined;
}

/** Models like to wrap a post in quotation marks or announce it. */
export function bareText(answer: string): string {
  const text = answer.trim().replace(/^(tweet|post|reply)\s*:\s*/iu, '');
  const quoted = /^(["“”'])([\s\S]*)(["“”'])$/u.exec(text);
  const inner = quoted?.[2];
  return inner !== undefined && !/["“”]/u.test(inner) ? inner.trim() : text;
}

/** Parts of a thread stand between lines of dashes; numbering is taken off. */
export const splitParts = (answer: string): string[] =>
  answer
    .split(/^\s*-{3,}\s*$/mu)
    .map((part) => bareText(part).replace(/^(\d{1,2}\s*[/.)]\s*(\d{1,2}\s*[:.)]?\s+)?)/u, ''))
    .filter((part) => part !== '');

const PERMIT_MS = 24 * 3_600_000;

/** A thread is written as parts between lines of dashes, or as a JSON array of texts. */
export function partsOf(content: string, type: 'tweet' | 'thread'): string[] {
  if (type === 'tweet') return [content];
  const parts = jsonTexts(content) ?? content.split(/^\s*-{3,}\s*$/mu).map((part) => part.trim());
  const filled = parts.filter((part) => part !== '');
  if (filled.length >= 2) return filled;
  throw new ToolError(
    'validation_error',
    'A thread needs at least two parts; put a line of --- between them.',
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
 * The person who approved the scheduling of this very text has decided on the post: without a permit the policy would ask
 * again at the minute it should go out, and no one would be there.
 */
export async function permitScheduled(
  context: ToolContext<XServices>,
  row: ContentRow,
  by = deciderOf(context),
): Promise<void> {
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
    if (permit && (await awaitsSignature(context, row, permit, error))) return;
    // The item is scheduled all the same; when its time comes the policy decides.
    context.services.log.warn('A scheduled post received no permit', { item: row.id, error: String(error) });
    // Left in the inbox it would ask for what no one waits for.
    if (permit) await approvals.withdraw(permit.id, SCHEDULER).catch(() => {});
  }
}

/** Where only a passkey can approve the post, its permit stays in the inbox, to be signed before the post is due. */
async function awaitsSignature(
  { services: { kernel, growth } }: ToolContext<XServices>,
  row: ContentRow,
  permit: Approval,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof ToolError) || error.code !== 'signature_required') return false;
  const { tool, args } = callFor(row);
  if ((await kernel.policy.evaluate(tool, args, SCHEDULER))?.action !== 'ask') return false;
  await growth.contentQueue.linkApproval(row.id, permit.id);
  return true;
}

/**
 * A text the model wrote was seen by no one. Where the policy will ask about it, the person is asked now: at its due time
 * it could be too late.
 */
export async function askAboutScheduled(context: ToolContext<XServices>, row: ContentRow): Promise<void> {
  if (row.scheduled_for === null) return;
  const { kernel, growth, log } = context.services;
  try {
    const call = callFor(row);
    const verdict = await kernel.policy.evaluate(call.tool, call.args, SCHEDULER);
    if (verdict?.action !== 'ask') return;
    const permit = await kernel.approvals.propose({
      ...call,
      kind: 'permit',
      requester: SCHEDULER,
      reason: `Written by the language model and scheduled for ${row.scheduled_for} (item ${row.id}). ${verdict.reason}`,
      context: { content_id: row.id, scheduled_by_call: context.callId },
      expiresAt: new Date(Date.parse(row.scheduled_for) + PERMIT_MS),
    });
    await growth.contentQueue.linkApproval(row.id, permit.id);
  } catch (error) {
    // The item is scheduled all the same; when its time comes the policy asks.
    log.warn('A scheduled post could not be queued for approval', { item: row.id, error: String(error) });
  }
}

/** What was permitted for an item that is no longer to go out like this must not let an equal post through later. */
export async function voidPermits(
  { services }: Pick<ToolContext<XServices>, 'services'>,
  contentId: number,
  by: Principal,
): Promise<void> {
  const { approvals } = services.kernel;
  const given = await approvals.list({
    kind: 'permit',
    states: ['approved', 'pending'],
    toolkit: 'x',
    requesters: [SCHEDULER],
    limit: 10_000,
  });
  for (const permit of given) {
    if (permit.context.content_id === contentId) await approvals.withdraw(permit.id, by);
  }
}

const deciderOf = ({ approval, principal }: ToolContext<XServices>): Principal | undefined =>
  approval?.approver ?? (principal.kind === 'person' ? principal : undefined);
