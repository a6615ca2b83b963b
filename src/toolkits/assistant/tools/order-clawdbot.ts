import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { samePrincipal } from '../../../contract/principal.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { type Answer, answerSchema } from '../runtime/answer.ts';
import { errorFromJson } from '../runtime/failures.ts';
import { ASSISTANT } from '../runtime/tools.ts';
import { defineAssistantTool } from '../services.ts';
import { checkKey } from '../sessions/sessions.ts';

const HOUR_MS = 3_600_000;

export const orderClawdbot = defineAssistantTool({
  name: 'order_clawdbot',
  title: 'Order Clawdbot',
  summary:
    'Send a message to Clawdbot and receive a response. The message will be processed as if typed by a user.',
  effect: 'change',
  reach: 'network',
  category: 'assistant',
  profiles: CHANGE_PROFILES,
  errors: [
    'assistant_not_configured',
    'assistant_auth',
    'assistant_rate_limited',
    'assistant_context_overflow',
    'assistant_refused',
    'assistant_limit',
    'assistant_error',
  ],
  requires: { llm: true, db: true },
  privateArgs: ['message', 'sessionKey'],
  privateData: ['text', 'sessionKey'],
  // Longer than any configured waiting and working time together: those end an order with their own words.
  deadlineMs: 4 * HOUR_MS,
  mayTakeLong: true,
  outlivesCaller: true,
  input: z.object({
    message: z.string().describe('The message to send to Clawdbot'),
    // Clients that fill in every property send null for one that is not set.
    sessionKey: z
      .preprocess((key) => key ?? undefined, z.string().optional())
      .optional()
      .describe('Optional session key for conversation continuity'),
  }),
  output: z.object({
    text: z.string().describe('The response.'),
    sessionKey: z.string().describe('Send it again to continue this conversation.'),
    model: z.string().describe('Which model or command answered.'),
    steps: z.number().int(),
    usage: z.object({
      inputTokens: z.number().int(),
      outputTokens: z.number().int(),
      costUsd: z.number().nullable().describe('Null where no price is configured.'),
    }),
    pendingApprovals: z
      .array(z.object({ approvalId: z.number().int(), tool: z.string(), reason: z.string() }))
      .describe('Calls of the assistant that require approval; they have not happened.'),
    notices: z.array(z.string()).describe('What the caller should know about this answer.'),
    storedAt: z
      .string()
      .nullable()
      .describe('When the answer was made, if an earlier identical call had timed out.'),
  }),

  present: ({ message, sessionKey }, { principal }) => ({
    title: `Send the assistant a message of ${message.length} characters`,
    done: `Sent the assistant a message of ${message.length} characters`,
    act: 'send',
    kind: 'message',
    target: {
      kind: 'assistant',
      label: 'The assistant',
      detail: sessionKey === undefined ? 'New conversation' : 'Existing or named conversation',
      environment: 'local',
    },
    effect: { text: 'The assistant acts on it', detail: 'Its own changes are evaluated one by one' },
    undo: { possible: null, text: 'Unknown', detail: 'Depends on what the assistant does' },
    body: [
      {
        type: 'message',
        title: 'Message',
        from: { name: principal.id },
        to: [{ name: 'The assistant' }],
        text: message,
      },
    ],
    covers: ['message', 'sessionKey'],
  }),
  risks: () => ['The assistant may use any tool that its configuration and the policy allow.'],

  check({ message, sessionKey }) {
    if (message.trim() === '') {
      throw new ToolError('invalid_input', 'message is empty. Write what the assistant should do.');
    }
    if (sessionKey !== undefined) checkKey(sessionKey);
  },

  async run({ message, sessionKey }, context) {
    const { services, principal, callId, signal } = context;
    if (samePrincipal(principal, ASSISTANT)) {
      throw new ToolError('not_allowed', 'The assistant cannot send orders to itself.');
    }
    const progress = (text: string) => context.progress(text);
    const delivery = await services.orders.place({
      message,
      sessionKey,
      principal,
      callId,
      signal,
      progress,
      onKey: (key) => context.note({ sessionKey: key }),
    });
    const { answer, session } = delivery;
    const files = await services.readFiles(answer);
    const notices = [...delivery.notices, ...answer.notices, ...files.notices];
    // Clients that show only text must see the notices too, after the response as the assistant wrote it.
    if (notices.length > 0) context.attach({ type: 'text', text: answer.text });
    for (const part of files.parts) context.attach(part);
    for (const notice of notices) context.attach({ type: 'text', text: `Note: ${notice}` });
    return { ...shown(answer, session.key), notices, storedAt: delivery.storedAt ?? null };
  },

  /** The order's own row says how far it came; each tool it used has evidence of its own. */
  async reconcile(_, { services, callId }) {
    const run = await services.runs.byCall(callId);
    if (!run || (run.state === 'queued' && run.started === 0)) return { settled: 'not_done' };
    if (run.state === 'done') {
      const answer = answerSchema.parse(JSON.parse(run.answer ?? '{}'));
      const session = await services.sessions.get(run.session_id);
      const storedAt = run.finished_at;
      return {
        settled: 'done',
        data: { ...shown(answer, session?.key ?? ''), notices: answer.notices, storedAt },
      };
    }
    if (run.state === 'running' || run.state === 'queued') {
      return {
        settled: 'unknown',
        why: 'The assistant is still working on it, or its process has just died.',
      };
    }
    if (run.state === 'failed' && errorFromJson(run.fault).effect !== 'none') {
      return {
        settled: 'unknown',
        why: 'The command-line agent failed; what it had done by then is unknown.',
      };
    }
    return { settled: 'not_done' };
  },
});

const shown = (answer: Answer, sessionKey: string) => ({
  text: answer.text,
  sessionKey,
  model: answer.model,
  steps: answer.steps,
  usage: { inputTokens: answer.inputTokens, outputTokens: answer.outputTokens, costUsd: answer.costUsd },
  pendingApprovals: answer.pending,
});
