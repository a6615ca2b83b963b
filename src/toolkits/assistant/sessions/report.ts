import type { ModelMessage } from 'ai';
import type { JsonObject } from '../../../contract/json.ts';
import type { Session, Sessions } from './sessions.ts';
import type { Entry } from './transcript.ts';

const MINUTE_MS = 60_000;

export interface SessionsReport {
  /** Where the sessions are kept. */
  readonly path: string;
  readonly count: number;
  readonly activeMinutes: number | null;
  readonly sessions: readonly SessionRow[];
}

export interface SessionRow extends JsonObject {
  key: string;
  kind: string;
  updatedAt: number;
  ageMs: number;
  sessionId: string;
  systemSent: boolean;
  abortedLastRun: boolean;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  model: string | null;
  contextTokens: number;
}

/** For `countersign sessions`; pass the store that `--store` names, or the one in use. */
export async function sessionsReport(
  sessions: Sessions,
  options: { path: string; activeMinutes: number | undefined; now: Date },
): Promise<SessionsReport> {
  const { path, activeMinutes, now } = options;
  const activeSince =
    activeMinutes === undefined ? undefined : new Date(now.getTime() - activeMinutes * MINUTE_MS);
  const rows = (await sessions.list({ activeSince })).map((session) => sessionRow(session, now));
  return { path, count: rows.length, activeMinutes: activeMinutes ?? null, sessions: rows };
}

export function sessionRow(session: Session, now: Date): SessionRow {
  const updatedAt = Date.parse(session.updated_at);
  return {
    key: session.key,
    kind: 'direct',
    updatedAt,
    ageMs: Math.max(0, now.getTime() - updatedAt),
    sessionId: session.id,
    systemSent: session.turns > 0,
    abortedLastRun: session.aborted_last_run === 1,
    inputTokens: session.input_tokens,
    outputTokens: session.output_tokens,
    // What the conversation takes up now, which is what the percentage of the window is about.
    totalTokens: session.context_tokens,
    model: session.model,
    contextTokens: session.window_tokens,
  };
}

/** Undefined when the text is no number of minutes; the command then says so and ends with 1. */
export function parseActive(text: string): number | undefined {
  return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}

export const BAD_ACTIVE = '--active must be a positive integer (minutes)';

const WIDTHS = { kind: 6, key: 26, age: 9, model: 14, tokens: 20 };

export function sessionsText(report: SessionsReport): string {
  const lines = [`Session store: ${report.path}`, `Sessions listed: ${report.count}`];
  if (report.activeMinutes !== null) lines.push(`Filtered to the last ${report.activeMinutes} minute(s)`);
  if (report.count === 0) return [...lines, 'No sessions found.'].join('\n');
  lines.push(line('Kind', 'Key', 'Age', 'Model', 'Tokens (ctx %)', 'Flags'));
  for (const row of report.sessions) {
    const flags = [row.systemSent && 'system', row.abortedLastRun && 'aborted', `id:${row.sessionId}`];
    lines.push(
      line(
        row.kind,
        shortKey(row.key),
        age(row.ageMs),
        row.model ?? '-',
        tokens(row),
        flags.filter(Boolean).join(' '),
      ),
    );
  }
  return lines.join('\n');
}

function line(
  kind: string,
  key: string,
  ageText: string,
  model: string,
  used: string,
  flags: string,
): string {
  const cells = [
    kind.padEnd(WIDTHS.kind),
    key.padEnd(WIDTHS.key),
    ageText.padEnd(WIDTHS.age),
    model.padEnd(WIDTHS.model),
    used.padEnd(WIDTHS.tokens),
    flags,
  ];
  return cells.join(' ').trimEnd();
}

const shortKey = (key: string): string =>
  key.length <= WIDTHS.key ? key : `${key.slice(0, 16)}…${key.slice(-6)}`;

function age(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ago` : `${Math.floor(hours / 24)}d ago`;
}

function tokens(row: SessionRow): string {
  if (row.contextTokens === 0) return '-';
  const percent = Math.round((row.totalTokens / row.contextTokens) * 100);
  return `${thousands(row.totalTokens)}/${thousands(row.contextTokens)} (${percent}%)`;
}

const thousands = (count: number): string =>
  count < 1_000 ? String(count) : `${Math.round(count / 1_000)}k`;

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
