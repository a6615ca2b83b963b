import type { ModelMessage } from 'ai';
import type { JsonObject } from '../../../contract/json.ts';
import type { Session } from './sessions.ts';
import type { Entry } from './transcript.ts';

const VERSION = 1;

/** A session as JSON lines: a header, then every entry in order, also those the model is no longer shown. */
export function* transcriptLines(session: Session, entries: readonly Entry[]): Generator<string> {
  yield JSON.stringify({
    type: 'session',
    version: VERSION,
    id: session.id,
    key: session.key,
    caller: session.scope,
    timestamp: session.created_at,
  });
  for (const entry of entries) yield JSON.stringify(entryJson(entry));
}

export function entryJson(entry: Entry): JsonObject {
  const body = JSON.parse(entry.body) as JsonObject;
  const about = { type: entry.type, seq: entry.seq, run: entry.run_id, timestamp: entry.created_at };
  const model: JsonObject = entry.model === null ? {} : { model: entry.model };
  if (entry.type === 'message')
    return { ...about, ...model, inContext: entry.in_context === 1, message: body };
  return { ...about, ...model, ...body };
}

/** The conversation as plain Markdown, for a command-line agent that keeps no sessions of its own. */
export function transcriptText(entries: readonly Entry[]): string {
  return entries.map(entryText).filter(Boolean).join('\n\n');
}

function entryText(entry: Entry): string {
  if (entry.type === 'note') return `*${(JSON.parse(entry.body) as { text: string }).text}*`;
  if (entry.type !== 'message') return '';
  const message = JSON.parse(entry.body) as ModelMessage;
  const content =
    typeof message.content === 'string'
      ? message.content
      : message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return content === '' ? '' : `## ${message.role}\n\n${content}`;
}
