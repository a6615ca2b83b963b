import { type RawBuilder, sql } from 'kysely';
import { nodeHash } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import { fits, STORED_LEVEL, wasKept } from '../log.ts';
import { startOf } from '../rows/call-row.ts';
import { TOLERANCE_MS } from './clock.ts';
import { readIntact } from './pages.ts';
import { nodesText } from './tree.ts';

/** A power of two, so that a chunk is one complete subtree. */
export const CHUNK_LEVEL = 12;
export const CHUNK = 2 ** CHUNK_LEVEL;
/** Small enough that the payloads of a page fit the memory, and its texts the processor's cache. */
const PAGE = 256;

/**
 * A chunk in which every hash, column and node is right. Plain reads, whose payloads and rows are right too, are only
 * counted; the checks of the log's history have to see the other entries.
 */
export interface Chunk {
  /** All leaves in order, 64 hex digits each. */
  readonly leaves: string;
  readonly root: string;
  readonly plain: number;
  readonly verified: number;
  readonly unkept: number;
  readonly earliest: string;
  readonly latest: string;
  readonly others: readonly { readonly seq: number; readonly entry: Entry }[];
}

/** Reads chunks for a verification: in this thread or in another one. */
export type ChunkReader = (index: number) => Promise<Chunk | undefined>;

/**
 * Undefined when anything in the chunk is not as it should be: then it is read again the slow way, which names what is
 * wrong. Nothing here depends on what stands before the chunk, so that chunks can be read side by side.
 */
export async function readChunk(
  database: Database,
  index: number,
  rows: boolean,
): Promise<Chunk | undefined> {
  const start = index * CHUNK;
  const leaves: string[] = [];
  const others: { seq: number; entry: Entry }[] = [];
  const counts = { plain: 0, verified: 0, unkept: 0 };
  let earliest = '';
  let latest = '';
  for (let from = start; from < start + CHUNK; from += PAGE) {
    const page = await readIntact(database, from, from + PAGE);
    if (!page) return undefined;
    const plain = new Map<number, Entry>();
    for (const { seq, leaf, entry } of page) {
      leaves.push(leaf);
      const { at } = entry;
      if (at < latest && Date.parse(latest) - Date.parse(at) > TOLERANCE_MS) return undefined;
      if (at > latest) latest = at;
      if (earliest === '' || at < earliest) earliest = at;
      if (isPlain(entry)) plain.set(seq, entry);
      else others.push({ seq, entry });
    }
    if (rows) await keepAgreeing(database, from, plain, leaves);
    const sound = await countSound(database, from, plain);
    for (const { seq, entry } of page) {
      if (!isPlain(entry)) continue;
      if (!plain.has(seq)) others.push({ seq, entry });
      else counts.plain += 1;
    }
    counts.verified += sound.verified;
    counts.unkept += sound.unkept;
  }
  const root = await provenRoot(database, index, leaves);
  if (root === undefined) return undefined;
  others.sort((a, b) => a.seq - b.seq);
  return { leaves: leaves.join(''), root, ...counts, earliest, latest, others };
}

/** A read that stands alone: nothing before or after it in the log is about it. */
const isPlain = ({
  kind,
  effect,
  approval,
  artifacts,
  parent,
  run,
  code,
  decision,
  replayOf,
}: Entry): boolean =>
  kind === 'read' &&
  effect === 'read' &&
  approval === undefined &&
  artifacts === undefined &&
  parent === undefined &&
  run === undefined &&
  code === undefined &&
  replayOf === undefined &&
  (decision === 'allow' || decision === undefined);

/** Takes out those whose row is not exactly what the entry says. */
async function keepAgreeing(
  database: Database,
  from: number,
  plain: Map<number, Entry>,
  leaves: readonly string[],
): Promise<void> {
  if (plain.size === 0) return;
  const { rows } = await sql<{ lines: string | null }>`
    select ${joined(database, ROW_LINE)} as lines
    from audit_log as l cross join calls as c
    where l.seq >= ${from} and l.seq < ${from + PAGE} and l.kind = 'read' and c.call_id = l.call_id
  `.execute(database.db);
  const lines = rows[0]?.lines ?? '';
  const first = leaves.length - PAGE;
  const expected: string[] = [];
  for (const [seq, entry] of plain) {
    const line = rowLine(entry, leaves[first + seq - from] ?? '');
    if (line === undefined) plain.delete(seq);
    else expected.push(line);
  }
  if (lines === expected.join('\n')) return;
  const stored = new Set(lines.split('\n'));
  let at = 0;
  for (const seq of plain.keys()) {
    if (!stored.has(expected[at] ?? '')) plain.delete(seq);
    at += 1;
  }
}

const text = (column: string) => sql.ref(`c.${column}`);
const optional = (column: string) => sql`coalesce('|=' || ${text(column)}, '|-')`;
const piped = (columns: readonly string[]) => sql`(${sql.join(columns.map(text), sql` || '|' || `)})`;
const ABSENT = ['parent_id', 'run_id', 'code', 'approver', 'replay_of', 'holder_host', 'lease_until'];
/**
 * The columns of a call that a plain read leaves empty are asked for in one word. In groups, because every `||` copies
 * what is to its left.
 */
const ROW_LINE = sql`${piped(['call_id', 'started_at', 'tool', 'toolkit', 'principal'])} || '|' ||
  ${piped(['transport', 'digest', 'status', 'decision'])} ||
  (${sql.join(['finished_at', 'evidence_hash', 'client', 'rule'].map(optional), sql` || `)}) ||
  case when c.effect = 'read' and coalesce(${sql.join(ABSENT.map(text))}) is null
    and coalesce(c.approval_id, c.holder_pid) is null and c.latency_ms >= 0 then '|' else '!' end`;

const stated = (value: string | undefined): string => (value === undefined ? '-' : `=${value}`);

/** Undefined where a separator within a value could make two rows look alike. */
function rowLine(entry: Entry, leaf: string): string | undefined {
  const { call, at, tool = '', toolkit = '', principal = '', client, transport = '' } = entry;
  const { digest = '', status, decision = 'none', rule } = entry;
  if (`${tool}${toolkit}${principal}${client}${transport}${digest}${status}${rule}`.includes('|'))
    return undefined;
  const started = startOf(entry);
  if (started === undefined) return undefined;
  return `${call}|${started}|${tool}|${toolkit}|${principal}|${transport}|${digest}|${status}|${decision}|=${at}|=${leaf}|${stated(client)}|${stated(rule)}|`;
}

/** Counts the payloads of plain reads; a read with one that is not simply in order is no longer plain. */
async function countSound(
  database: Database,
  from: number,
  plain: Map<number, Entry>,
): Promise<{ verified: number; unkept: number }> {
  const counts = { verified: 0, unkept: 0 };
  const expected = new Map<string, string>();
  for (const { call, at, args, result } of plain.values()) {
    if (args !== undefined) expected.set(`${call}|args|${args}|${at}|`, args);
    if (result !== undefined) expected.set(`${call}|result|${result}|${at}|`, result);
  }
  if (expected.size === 0) return counts;
  const line = sql`p.call_id || '|' || p.kind || '|' || p.hash || '|' || p.at || '|' || coalesce(p.erased_at, '')`;
  const { rows } = await sql<{ lines: string | null; salted: string | null }>`
    select ${joined(database, line)} as lines, ${joined(database, sql`p.salt || coalesce(p.body, '')`)} as salted
    from audit_log as l cross join audit_payloads as p
    where l.seq >= ${from} and l.seq < ${from + PAGE} and l.kind = 'read' and p.call_id = l.call_id
  `.execute(database.db);
  const salted = rows[0]?.salted?.split('\n') ?? [];
  const sound = new Set<string>();
  for (const [index, found] of (rows[0]?.lines?.split('\n') ?? []).entries()) {
    const hash = expected.get(found);
    if (hash !== undefined && fits(hash, salted[index] ?? '')) sound.add(found);
  }
  for (const [seq, { call, at, args, result }] of plain) {
    const own = [
      ...(args === undefined ? [] : [[`${call}|args|${args}|${at}|`, args] as const]),
      ...(result === undefined ? [] : [[`${call}|result|${result}|${at}|`, result] as const]),
    ];
    if (!own.every(([key]) => sound.has(key))) {
      plain.delete(seq);
      continue;
    }
    for (const [, hash] of own) {
      if (wasKept(hash)) counts.verified += 1;
      else counts.unkept += 1;
    }
  }
  return counts;
}

/** The hash over the chunk, if every node that is stored of it is as it must be. */
async function provenRoot(
  database: Database,
  index: number,
  leaves: readonly string[],
): Promise<string | undefined> {
  let hashes = leaves;
  for (let level = 1; level <= CHUNK_LEVEL; level += 1) {
    const above: string[] = [];
    for (let at = 0; at < hashes.length; at += 2)
      above.push(nodeHash(hashes[at] ?? '', hashes[at + 1] ?? ''));
    hashes = above;
    if (level < STORED_LEVEL) continue;
    const from = index * above.length;
    if ((await nodesText(database, level, from, from + above.length)) !== above.join('')) return undefined;
  }
  return hashes[0];
}

function joined({ engine }: Database, line: RawBuilder<unknown>): RawBuilder<string> {
  return engine === 'postgres'
    ? sql<string>`string_agg(${line}, chr(10) order by l.seq)`
    : sql<string>`group_concat(${line}, char(10))`;
}
