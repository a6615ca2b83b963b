import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { principalName } from '../../../contract/principal.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { FORMAT_NAMES } from '../content/styles.ts';
import { contentShape, describeContent, partsOf, permitScheduled } from '../lib/compose.ts';
import { POLICY_FAULTS } from '../lib/fault-codes.ts';
import { scheduleTime } from '../lib/schedule-time.ts';
import { defineXTool, type XServices } from '../services.ts';

const DEFAULT_THREAD = 6;

const input = z.object({
  content: z
    .string()
    .min(1)
    .max(25_000)
    .optional()
    .describe('The text; a thread has lines of --- between parts.'),
  content_type: z.enum(['tweet', 'thread']).default('tweet'),
  scheduled_for: z.string().optional().describe('ISO-8601; without a zone, in schedule.timezone.'),
  topic: z.string().min(1).max(500).optional().describe('Instead of content: written by the language model.'),
  format: z.enum(FORMAT_NAMES).optional(),
});

type Args = z.output<typeof input>;

export const composeTweet = defineXTool({
  name: 'compose_tweet',
  title: 'Compose a post',
  summary: 'Keeps a draft, or schedules it, from your content or written about a topic. Posts nothing now.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  faults: [
    'x_not_configured',
    'x_api_error',
    'db_error',
    'invalid_input',
    'tweet_too_long',
    ...POLICY_FAULTS,
    'llm_not_configured',
    'llm_error',
    'validation_error',
  ],
  requires: { xClient: true, db: true },
  deadlineMs: 300_000,
  input,
  output: contentShape,
  describeApproval: ({ content, topic, scheduled_for, content_type }) => {
    const what = content ?? `a ${content_type} about ${topic}, written by the language model`;
    return scheduled_for ? `Schedule for ${scheduled_for}: ${what}` : `Keep as a draft: ${what}`;
  },
  rollback: (_args, { id }) => ({ tool: 'cancel_draft', args: { id } }),
  async check(args, services) {
    if ((args.content === undefined) === (args.topic === undefined)) {
      throw new ToolFault('validation_error', 'Give exactly one of content and topic.');
    }
    if (args.scheduled_for !== undefined) {
      scheduleTime(args.scheduled_for, services.settings.schedule.timezone, services.now());
      await mustBeAbleToPost(services);
    }
    if (args.content === undefined) return;
    await services.safety.checkTexts({
      kind: args.content_type,
      texts: partsOf(args.content, args.content_type),
    });
  },
  async run(args, context) {
    const { services, now } = context;
    const texts = await textsFor(args, context);
    const zone = services.settings.schedule.timezone;
    const scheduledFor =
      args.scheduled_for === undefined ? undefined : scheduleTime(args.scheduled_for, zone, now());
    const row = await services.growth.agenda.add({
      type: args.content_type,
      texts,
      ...(scheduledFor ? { scheduledFor } : {}),
      ...(args.topic ? { topic: args.topic } : {}),
      ...(args.format ? { style: args.format } : {}),
      source: args.topic === undefined ? 'mcp' : 'assist',
      createdBy: principalName(context.principal),
      at: now(),
    });
    // A text the model just wrote was seen by nobody: it asks when its time comes.
    if (args.content !== undefined) await permitScheduled(context, row);
    await services.growth.journal.act(
      now(),
      row.state === 'draft' ? 'draft' : 'schedule',
      'success',
      `Item ${row.id}`,
      {
        content_id: row.id,
      },
    );
    return describeContent(row);
  },
  async reconcile(args, { services, startedAt }) {
    const recent = await services.growth.agenda.list(['draft', 'scheduled', 'claimed', 'posted'], 200);
    const wanted = args.content === undefined ? undefined : partsOf(args.content, args.content_type);
    const found = recent.find(
      (row) =>
        row.created_at >= startedAt.toISOString() &&
        (wanted ? row.content === encoded(wanted, args.content_type) : row.topic === args.topic),
    );
    if (!found) return { settled: 'not_done' };
    return { settled: 'done', data: await describeContent(found) };
  },
});

/** A post that could never go out is better refused now than found missing at its time. */
async function mustBeAbleToPost({ x }: XServices): Promise<void> {
  if (await (await x()).signedIn()) return;
  throw new ToolFault(
    'x_not_configured',
    'Nobody is signed in to X, so a scheduled post could not go out; run `countersign auth x`.',
  );
}

async function textsFor(args: Args, { services, signal }: ToolContext<XServices>): Promise<string[]> {
  if (args.content !== undefined) return partsOf(args.content, args.content_type);
  const topic = args.topic ?? '';
  if (args.content_type === 'tweet') {
    const { text } = await services.writer.tweet({ topic, style: args.format }, signal);
    return [text];
  }
  const wish = { topic, count: DEFAULT_THREAD, ...(args.format ? { format: args.format } : {}) };
  const parts = await services.writer.thread(wish, signal);
  return parts.map(({ text }) => text);
}

const encoded = (texts: readonly string[], type: 'tweet' | 'thread'): string =>
  type === 'thread' ? JSON.stringify(texts) : (texts[0] ?? '');
