import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { principalName } from '../../../contract/principal.ts';
import { CHANGE_PROFILES, type PrepareContext } from '../../../contract/tool.ts';
import { requireDecider } from '../approval-view.ts';
import {
  askAboutScheduled,
  describeContent,
  partsOf,
  permitScheduled,
  voidPermits,
} from '../content/compose.ts';
import { FORMAT_NAMES } from '../content/prompts.ts';
import { POLICY_ERRORS, XError } from '../errors.ts';
import { instantOf } from '../growth/clock.ts';
import { accountOf, postBlock, threadBlock } from '../present.ts';
import { defineXTool, type XServices } from '../services.ts';
import { contentShape } from '../views.ts';

const WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/u;
const LOCAL = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/u;
const YEAR_MS = 366 * 86_400_000;

/** A time without a zone means the wall clock of `[schedule] timezone`: that is what people write. */
export function scheduleTime(text: string, timeZone: string, now: Date): Date {
  const at = read(text.trim(), timeZone);
  if (!at || Number.isNaN(at.getTime())) {
    throw fault(`scheduled_for "${text}" is not a time. Write 2026-03-01T09:15 or 2026-03-01T09:15:00Z.`);
  }
  if (at <= now) throw fault(`scheduled_for is in the past (${at.toISOString()}).`);
  if (at.getTime() - now.getTime() > YEAR_MS) throw fault('scheduled_for is more than a year ahead.');
  return at;
}

function read(text: string, timeZone: string): Date | undefined {
  const [date, time] = [text.slice(0, 10), text.slice(11, 16)];
  // Catches the 31st of February and the like, which would otherwise roll over.
  const wall = new Date(`${date}T${time}:00Z`);
  if (Number.isNaN(wall.getTime()) || !wall.toISOString().startsWith(`${date}T${time}`)) return undefined;
  if (WITH_ZONE.test(text)) return new Date(text);
  return LOCAL.test(text) ? instantOf(date, time, timeZone) : undefined;
}

const fault = (message: string): ToolError =>
  new ToolError('validation_error', message, { detail: { field: 'scheduled_for' } });

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
  topic: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      'What it is about. Without content, the language model writes the text before anyone is asked.',
    ),
  format: z.enum(FORMAT_NAMES).optional(),
});

type Args = z.output<typeof input>;

export const composeTweet = defineXTool({
  name: 'compose_tweet',
  title: 'Compose a post',
  summary: 'Saves or schedules a draft, from your content or written about a topic. Posts nothing now.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  errors: [
    'x_not_configured',
    'x_api_error',
    'db_error',
    'invalid_input',
    'tweet_too_long',
    ...POLICY_ERRORS,
    'llm_not_configured',
    'llm_error',
    'validation_error',
  ],
  requires: { xClient: true, db: true },
  deadlineMs: 300_000,
  input,
  output: contentShape,
  async present({ content = '', scheduled_for, content_type }, context) {
    const { author, handle, target } = await accountOf(context);
    const { settings, now } = context.services;
    const at =
      scheduled_for === undefined
        ? undefined
        : scheduleTime(scheduled_for, settings.schedule.timezone, now()).toISOString();
    const texts = partsOf(content, content_type);
    const what = content_type === 'thread' ? `a thread of ${texts.length}` : 'a post';
    const verbs = at ? ['Schedule', 'Scheduled'] : ['Save', 'Saved'];
    const place = at ? `on ${handle}` : `as a draft for ${handle}`;
    const block =
      content_type === 'thread'
        ? await threadBlock(author, texts, { at })
        : await postBlock(author, texts[0] ?? '', { at });
    return {
      title: `${verbs[0]} ${what} ${place}`,
      done: `${verbs[1]} ${what} ${place}`,
      act: at ? 'schedule' : 'save',
      kind: 'schedule',
      gist: content,
      target,
      effect: at ? { text: 'Public at its time', detail: at } : { text: 'A draft', detail: 'Posts nothing' },
      undo: { possible: true, text: 'Can be cancelled', detail: 'Until it is posted' },
      body: [block],
      covers: ['content', 'topic', 'scheduled_for', 'content_type'],
    };
  },
  rollback: (_args, { id }) => ({ tool: 'cancel_draft', args: { id } }),
  async check(args, services) {
    if (args.content === undefined && args.topic === undefined) {
      throw new ToolError('validation_error', 'Give content, or a topic to write about.');
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
  prepare: (args) =>
    args.content === undefined
      ? { complete: async (context) => ({ ...args, content: await write(args, context) }) }
      : undefined,
  async run(args, context) {
    const { services, now } = context;
    const texts = partsOf(args.content ?? '', args.content_type);
    const zone = services.settings.schedule.timezone;
    const scheduledFor =
      args.scheduled_for === undefined ? undefined : scheduleTime(args.scheduled_for, zone, now());
    const row = await services.growth.contentQueue.add({
      type: args.content_type,
      texts,
      ...(scheduledFor ? { scheduledFor } : {}),
      ...(args.topic ? { topic: args.topic } : {}),
      ...(args.format ? { style: args.format } : {}),
      source: context.isPrepared ? 'assist' : 'mcp',
      createdBy: principalName(context.principal),
      at: now(),
    });
    // Of a text that the model wrote, only an approval shows that a person has seen it.
    if (context.isPrepared && !context.approval) await askAboutScheduled(context, row);
    else await permitScheduled(context, row);
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
    const recent = await services.growth.contentQueue.list(['draft', 'scheduled', 'claimed', 'posted'], 200);
    const wanted = encoded(partsOf(args.content ?? '', args.content_type), args.content_type);
    const found = recent.find((row) => row.created_at >= startedAt.toISOString() && row.content === wanted);
    if (!found) return { settled: 'not_done' };
    return { settled: 'done', data: await describeContent(found) };
  },
});

/** A post that could never go out is better refused now than found missing at its time. */
async function mustBeAbleToPost({ x }: XServices): Promise<void> {
  if (await (await x()).signedIn()) return;
  throw new XError(
    'x_not_configured',
    'No one is signed in to X, so a scheduled post could not be posted; run `countersign auth x`.',
  );
}

/** The text in the form of `content`. */
async function write(
  { topic = '', format, content_type }: Args,
  { services, signal }: PrepareContext<XServices>,
): Promise<string> {
  if (content_type === 'tweet') return (await services.writer.tweet({ topic, style: format }, signal)).text;
  const request = { topic, count: DEFAULT_THREAD, ...(format ? { format } : {}) };
  const parts = await services.writer.thread(request, signal);
  return parts.map(({ text }) => text).join('\n---\n');
}

const encoded = (texts: readonly string[], type: 'tweet' | 'thread'): string =>
  type === 'thread' ? JSON.stringify(texts) : (texts[0] ?? '');

/** For people in the web app and on the command line: no profile lists it, so no agent is offered it. */
export const updateDraft = defineXTool({
  name: 'update_draft',
  title: 'Edit or schedule a draft',
  summary: 'Changes the text or the time of a draft or scheduled post. A person decides.',
  effect: 'decide',
  reach: 'local',
  category: 'write',
  profiles: [],
  errors: ['db_error', 'not_found', 'validation_error', 'tweet_too_long'],
  requires: { db: true },
  input: z.object({
    id: z.number().int().positive(),
    content: z.string().min(1).max(25_000).optional(),
    scheduled_for: z.string().nullable().optional().describe('null makes it a draft again.'),
  }),
  output: contentShape,
  // A draft is not an approval.
  decides: () => ({ ids: [] }),
  async run({ id, content, scheduled_for }, context) {
    const { services, now } = context;
    const by = requireDecider(context.decider);
    const row = await services.growth.contentQueue.get(id);
    if (!row) throw new ToolError('not_found', `Draft ${id} not found.`, { detail: { id } });
    const texts = content === undefined ? undefined : partsOf(content, row.content_type);
    if (texts) await services.safety.checkTexts({ kind: row.content_type, texts });
    const when =
      typeof scheduled_for === 'string'
        ? scheduleTime(scheduled_for, services.settings.schedule.timezone, now())
        : scheduled_for;
    const updated = await services.growth.contentQueue.update(id, { texts, scheduledFor: when }, now());
    if (!updated) throw settled(id, row.state);
    await voidPermits(context, id, by);
    await permitScheduled(context, updated, by);
    return describeContent(updated);
  },
});

const settled = (id: number, state: string): ToolError =>
  new ToolError('validation_error', `Draft ${id} can no longer be changed: it is ${state}.`, {
    detail: { id, state },
  });

/** For people in the web app and on the command line: no profile lists it, so no agent is offered it. */
export const cancelDraft = defineXTool({
  name: 'cancel_draft',
  title: 'Cancel a draft',
  summary: 'Removes a draft or scheduled post from the list; it stays in the history. A person decides.',
  effect: 'decide',
  reach: 'local',
  category: 'write',
  profiles: [],
  errors: ['db_error', 'not_found', 'validation_error'],
  requires: { db: true },
  input: z.object({ id: z.number().int().positive() }),
  output: contentShape,
  // A draft is not an approval.
  decides: () => ({ ids: [] }),
  async run({ id }, context) {
    const { services, now } = context;
    const by = requireDecider(context.decider);
    const row = await services.growth.contentQueue.get(id);
    if (!row) throw new ToolError('not_found', `Draft ${id} not found.`, { detail: { id } });
    const cancelled = await services.growth.contentQueue.update(id, { cancel: true }, now());
    if (cancelled) {
      await voidPermits(context, id, by);
      return describeContent(cancelled);
    }
    throw new ToolError('validation_error', `Draft ${id} can no longer be cancelled: it is ${row.state}.`, {
      detail: { id, state: row.state },
    });
  },
});
