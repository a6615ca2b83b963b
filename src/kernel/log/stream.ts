import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../contract/json.ts';
import { lookup } from '../../lib/lookup.ts';
import { leafHash } from '../../lib/merkle.ts';
import type { Database } from '../store/database.ts';
import { type Entry, readBody } from './entry.ts';

const BATCH = 1_000;
const POLL_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

interface Place {
  readonly seq: number;
  /** As stored; of a valid entry, the leaf hash of its body. */
  readonly hash: string;
}

interface ValidEntry extends Place {
  readonly entry: Entry;
  readonly body?: undefined;
}

/** The body cannot be read or does not match the hash: `at` is the time in its row. */
interface InvalidEntry extends Place {
  readonly entry?: undefined;
  readonly at: string;
  readonly body: string;
}

export type StreamedEntry = ValidEntry | InvalidEntry;

export interface StreamOptions {
  /** The position of the last entry that the reader has; -1 for none. */
  readonly after?: number;
  /** Waits for more at the end, until the signal is aborted. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  readonly pollMs?: number;
  /** While following: the database could not be read and is tried again. */
  onError?(error: unknown): void;
}

/**
 * Every entry in the order of the log, each once, whether it is valid or not. Positions become visible in order, because writers take the head of
 * the log one after the other; so nothing can appear behind what was already read.
 */
export async function* streamEntries(
  database: Pick<Database, 'db'>,
  { after = -1, follow = false, signal, pollMs = POLL_MS, onError }: StreamOptions = {},
): AsyncGenerator<StreamedEntry> {
  let last = after;
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const rows = await database.db
        .selectFrom('audit_log')
        .select(['seq', 'hash', 'at', 'body'])
        .where('seq', '>', last)
        .orderBy('seq')
        .limit(BATCH)
        .execute();
      failures = 0;
      for (const { seq, hash, at, body } of rows) {
        if (signal?.aborted) return;
        last = seq;
        const entry = leafHash(body) === hash ? readBody(body) : undefined;
        yield entry ? { seq, hash, entry } : { seq, hash, at, body };
      }
      if (rows.length === BATCH) continue;
    } catch (error) {
      if (!follow) throw error;
      failures += 1;
      onError?.(error);
    }
    if (!follow) return;
    const wait = Math.min(pollMs * 2 ** failures, Math.max(pollMs, LONGEST_WAIT_MS));
    await sleep(wait, undefined, { signal }).catch(() => {});
  }
}

export type EntryFormat = 'jsonl' | 'ecs';

/** One line for a log collector. */
export const formatEntry = (streamed: StreamedEntry, format: EntryFormat): string =>
  JSON.stringify(FORMATS[format](streamed));

const FORMATS: Readonly<Record<EntryFormat, (streamed: StreamedEntry) => object>> = {
  jsonl: ({ seq, hash, entry, body }) => ({ seq, hash, ...(entry ?? { invalid: true, body }) }),
  ecs: (streamed) => (streamed.entry ? toEcs(streamed) : toInvalidEcs(streamed)),
};

const ECS = { version: '8.11.0' };
const EVENT = { kind: 'event', module: 'countersign', dataset: 'countersign.audit' };

const OUTCOMES: Readonly<Record<string, string>> = { ok: 'success', failed: 'failure', refused: 'failure' };
const TYPES: Readonly<Record<string, string>> = { read: 'access', change: 'change', destroy: 'deletion' };

/** The Elastic Common Schema; what it has no field for is under `countersign`. */
function toEcs({ seq, hash, entry }: ValidEntry): JsonObject {
  const { at, kind, call, tool, effect, principal, client, status, code, rule, decision } = entry;
  const type = entry.kind === 'refusal' ? 'denied' : lookup(TYPES, effect ?? '');
  return withoutUnset({
    '@timestamp': at,
    ecs: ECS,
    message: [kind, tool, status, code].filter(Boolean).join(' '),
    event: withoutUnset({
      ...EVENT,
      action: tool ?? kind,
      category: kind === 'config' ? ['configuration'] : ['api'],
      type: type === undefined ? undefined : [type],
      outcome: status === undefined ? undefined : (lookup(OUTCOMES, status) ?? 'unknown'),
      code,
      id: call,
      sequence: seq,
      hash,
    }),
    user: principal === undefined ? undefined : { name: principal },
    user_agent: client === undefined ? undefined : { original: client },
    rule: rule === undefined ? undefined : { name: rule },
    countersign: withoutUnset({
      kind,
      decision,
      status,
      effect,
      toolkit: entry.toolkit,
      transport: entry.transport,
      run: entry.run,
      parent: entry.parent,
      approval: entry.approval === undefined ? undefined : { ...entry.approval },
      replay_of: entry.replayOf,
      extra: entry.extra,
    }),
  });
}

/** What the text says is not repeated in other fields: nothing vouches for it. */
const toInvalidEcs = ({ seq, hash, at, body }: InvalidEntry): JsonObject => ({
  '@timestamp': at,
  ecs: ECS,
  message: 'invalid entry',
  event: { ...EVENT, action: 'invalid', outcome: 'failure', sequence: seq, hash, original: body },
  countersign: { invalid: true },
});

const withoutUnset = (fields: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
