import type { ModelMessage } from 'ai';
import type { Run } from '../sessions/runs.ts';
import type { Entry } from '../sessions/transcript.ts';

export interface Context {
  readonly messages: ModelMessage[];
  /** As far as it can be told without the provider's own counting. */
  readonly tokens: number;
}

/** What the model is shown of a session: the summary of what came before, then every entry since. */
export function buildContext(
  parts: { readonly compaction: Entry | undefined; readonly entries: readonly Entry[] },
  current: { readonly run: Run; readonly model: string },
): Context {
  const messages: ModelMessage[] = [];
  let tokens = 0;
  if (parts.compaction) {
    messages.push({
      role: 'user',
      content: `[Summary of the conversation so far]\n${summaryOf(parts.compaction)}`,
    });
    tokens += parts.compaction.tokens;
    // The message being answered is never left to a summary.
    const isShown = parts.entries.some((entry) => entry.run_id === current.run.id && isUserMessage(entry));
    if (!isShown) messages.push({ role: 'user', content: current.run.message });
  }
  for (const entry of parts.entries) {
    tokens += entry.tokens;
    const sameTurn =
      entry.run_id === current.run.id && (entry.model === null || entry.model === current.model);
    messages.push(toMessage(entry, sameTurn));
  }
  return { messages: closeOpenCalls(messages), tokens };
}

const isUserMessage = (entry: Entry): boolean =>
  entry.type === 'message' && (JSON.parse(entry.body) as ModelMessage).role === 'user';

export function summaryOf(compaction: Entry): string {
  const body: unknown = JSON.parse(compaction.body);
  return typeof body === 'object' && body !== null && 'summary' in body ? String(body.summary) : '';
}

function toMessage(entry: Entry, keepThoughts: boolean): ModelMessage {
  if (entry.type === 'note') {
    const note = JSON.parse(entry.body) as { text: string };
    return { role: 'assistant', content: `[${note.text}]` };
  }
  const message = JSON.parse(entry.body) as ModelMessage;
  return keepThoughts ? message : withoutProviderParts(message);
}

/**
 * Reasoning and item ids mean something only to the model that made them, and only within the turn. Another provider
 * would refuse or misread them.
 */
function withoutProviderParts(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content
    .filter((part) => part.type !== 'reasoning')
    .map((part) => ({ ...part, providerOptions: undefined }));
  return { role: 'assistant', content: content.length > 0 ? content : '[no text]' };
}

/** Providers refuse a call without a result; a run that was cut short leaves such calls behind. */
function closeOpenCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const closed: ModelMessage[] = [];
  let open = new Map<string, string>();
  const flush = () => {
    if (open.size === 0) return;
    closed.push({ role: 'tool', content: [...open].map(([id, name]) => interruptedResult(id, name)) });
    open = new Map();
  };
  for (const message of messages) {
    if (message.role !== 'tool') flush();
    closed.push(message);
    if (typeof message.content === 'string') continue;
    for (const part of message.content) {
      if (part.type === 'tool-call') open.set(part.toolCallId, part.toolName);
      if (part.type === 'tool-result') open.delete(part.toolCallId);
    }
  }
  flush();
  return closed;
}

const INTERRUPTED_CALL =
  'Interrupted: it is not known whether this call took effect. Look at the current state before you do anything like it again.';

const interruptedResult = (toolCallId: string, toolName: string) => ({
  type: 'tool-result' as const,
  toolCallId,
  toolName,
  output: { type: 'error-text' as const, value: INTERRUPTED_CALL },
});
