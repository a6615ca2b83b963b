import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { JsonObject } from '../../../contract/json.ts';
import type { Database } from '../../store/database.ts';
import type { ArtifactStore } from '../artifacts.ts';
import type { Entry } from '../entry.ts';
import { STORED_LEVEL } from '../log.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { CHUNK, type Chunk, type ChunkReader, readChunk } from './chunks.ts';
import { isDamage, nameDamage } from './damage.ts';
import { findRepeatedCalls } from './pages.ts';
import { Problems, type VerifyReport } from './report.ts';
import { PAGE, Scan } from './scan.ts';
import type { TreeCheck } from './tree.ts';

export interface VerifyOptions {
  /** Keys the caller vouches for, as `name+hash+base64`. Without any, the keys that the log names are believed. */
  readonly publicKeys?: readonly string[];
  /** Checkpoints kept outside the store: what shows that a log was cut or replaced as a whole. */
  readonly expectCheckpoints?: readonly string[];
  /** Without it the rows of artifacts are checked, but not their files. */
  readonly artifacts?: ArtifactStore;
  /** Fingerprints of passkeys the caller vouches for; a signature by any other key fails. */
  readonly signers?: readonly string[];
  /** Signatures that people kept: what they witnessed must be the history of this log. */
  readonly receipts?: readonly JsonObject[];
  /** Also compares the rows of calls, approvals, counters, settings and agents with the log. */
  readonly rows?: boolean;
  /** Reads chunks in another thread, so that two work at the same time. */
  readonly helper?: ChunkReader;
  readonly signal?: AbortSignal;
  onProgress?(done: number, total: number): void;
}

/**
 * Recomputes everything the log claims. Works through pages of entries that no longer change, so it needs the same
 * memory for any log and may run while others write.
 */
export async function verifyLog(database: Database, options: VerifyOptions = {}): Promise<VerifyReport> {
  const problems = new Problems();
  const state = await readState(database, problems);
  const size = state.lastSeq + 1;
  const rows = options.rows ?? false;
  const scan = new Scan(database, problems, {
    publicKeys: options.publicKeys ?? [],
    outside: options.expectCheckpoints ?? [],
    largestStored: state.largestCheckpoint,
    artifacts: options.artifacts,
    rows,
    signers: options.signers ?? [],
    receipts: options.receipts ?? [],
  });
  const { tree, checkpoints, story, payloads, artifacts, calls } = scan;
  const chunks = Math.floor(size / CHUNK);
  const queue = new ChunkQueue(chunks, (index) => readableChunk(database, index, rows), options.helper);

  await scan.begin();
  for (let start = 0, end = 0; start < size; start = end) {
    options.signal?.throwIfAborted();
    const index = start / CHUNK;
    const chunk = Number.isInteger(index) && index < chunks ? await queue.take(index) : undefined;
    if (chunk && (await scan.takeChunk(index, chunk))) end = start + CHUNK;
    else {
      end = Math.min(start + PAGE, size);
      const isLast = end === size || end % CHUNK === 0;
      if (!(await scan.readPage(start, end, isLast))) end = await skipGap(database, end, size, problems);
    }
    options.onProgress?.(end, size);
    // The store is read synchronously on SQLite; a server that verifies must still answer.
    await setImmediate();
  }
  await scan.end(size);
  compareHead(state, tree, problems);
  const named = (what: string, work: () => Promise<void>) => nameDamage(problems, what, work);
  await named('The index of calls', () => findRepeatedCalls(database, size, story.calls, problems));
  await named('The payloads', async () => {
    const later = await laterErasures(database, size);
    payloads.finish(later);
    artifacts.finish(later);
    if (payloads.total < state.payloads && problems.list.length === 0)
      await nameStrayPayload(database, problems);
  });
  if (calls) await named('The rows of calls', () => calls.finish(story.calls, state.calls));
  await named('The rows of approvals, counters, settings and agents', async () => scan.rows?.finish());

  return {
    ok: problems.list.length === 0,
    origin: checkpoints.origin,
    size,
    root: tree.root,
    checkpoints: {
      verified: checkpoints.verified,
      lastSize: checkpoints.last?.size ?? 0,
      lastAt: checkpoints.last?.at,
    },
    unsigned: size - (checkpoints.last?.size ?? 0),
    keys: scan.keys.summary(),
    passkeys: {
      signers: scan.passkeys.summary,
      signatures: scan.passkeys.signatures,
      resets: scan.passkeys.resets,
      mode: scan.passkeys.mode,
    },
    payloads: payloads.counts,
    artifacts: artifacts.counts,
    openIntents: story.openIntents,
    backwards: scan.clock.backwards,
    first: problems.first,
    problems: problems.list,
    more: problems.more,
  };
}

/** What cannot be read is named by the slow way, page by page. */
const readableChunk = (database: Database, index: number, rows: boolean): Promise<Chunk | undefined> =>
  readChunk(database, index, rows).catch((error: unknown) => {
    if (isDamage(error)) return undefined;
    throw error;
  });

/** One changed number must not send verify through millions of pages that were never written. */
async function skipGap(database: Database, from: number, size: number, problems: Problems): Promise<number> {
  const { seq } = await database.db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.min('seq').as('seq'))
    .where('seq', '>=', from)
    .executeTakeFirstOrThrow();
  const to = Math.max(from, Math.floor((seq ?? size) / PAGE) * PAGE);
  if (to > from) problems.addMissing(from, to - 1);
  return to;
}

interface LogState {
  /** Null where there is no head; undefined where it could not be read, which is a problem of its own. */
  readonly headSize: number | null | undefined;
  readonly frontier: string | null;
  readonly lastSeq: number;
  readonly firstSeq: number;
  readonly nodes: number;
  readonly largestCheckpoint: number;
  readonly payloads: number;
  readonly calls: number;
}

const UNREADABLE: LogState = {
  headSize: undefined,
  frontier: null,
  lastSeq: -1,
  firstSeq: 0,
  nodes: 0,
  largestCheckpoint: 0,
  payloads: 0,
  calls: 0,
};

/** What can be read of a damaged database is verified all the same. */
async function readState(database: Database, problems: Problems): Promise<LogState> {
  let state = UNREADABLE;
  await nameDamage(problems, 'The head of the log', async () => {
    state = await readAll(database);
  });
  if (state !== UNREADABLE) return state;
  await nameDamage(problems, 'The end of the log', async () => {
    const last = await database.db
      .selectFrom('audit_log')
      .select((eb) => eb.fn.max('seq').as('seq'))
      .executeTakeFirst();
    state = { ...UNREADABLE, lastSeq: last?.seq ?? -1 };
  });
  return state;
}

/** One statement, so that what it says belongs together while others append. */
async function readAll(database: Database): Promise<LogState> {
  const { rows } = await sql<LogState>`select
    (select size from audit_head where id = 1) as "headSize",
    (select frontier from audit_head where id = 1) as "frontier",
    coalesce((select max(seq) from audit_log), -1) as "lastSeq",
    coalesce((select min(seq) from audit_log), 0) as "firstSeq",
    (select count(*) from audit_nodes where level >= ${STORED_LEVEL}) as "nodes",
    coalesce((select max(size) from audit_checkpoints), 0) as "largestCheckpoint",
    (select count(*) from audit_payloads) as "payloads",
    (select count(*) from calls) as "calls"`.execute(database.db);
  const [state] = rows;
  if (!state) throw new Error('The database did not answer.');
  return state;
}

function compareHead(state: LogState, tree: TreeCheck, problems: Problems): void {
  const size = state.lastSeq + 1;
  if (state.firstSeq < 0) {
    problems.add('columns', state.firstSeq, `Entry ${state.firstSeq} comes before the beginning of the log.`);
  }
  if (state.headSize === undefined) return;
  if (state.headSize === null || state.frontier === null) {
    problems.add('head', undefined, 'The head of the log is missing.');
    return;
  }
  if (state.headSize > size) {
    const message = `The head counts ${state.headSize} entries, but the log has ${size}: the end is missing or the head was changed.`;
    problems.add('truncated', size, message);
  } else if (state.headSize < size) {
    problems.add(
      'head',
      state.headSize,
      `The head counts ${state.headSize} entries, but the log has ${size}.`,
    );
  }
  tree.checkHead(state.frontier, state.nodes);
}

/** Erasures that happened while the log was being read explain rows that look erased too early. */
async function laterErasures(database: Database, size: number): Promise<Entry[]> {
  const rows = await database.db
    .selectFrom('audit_log')
    .select('body')
    .where('seq', '>=', size)
    .where('kind', '=', 'erasure')
    .execute();
  return rows.map(({ body }) => JSON.parse(body) as Entry);
}

async function nameStrayPayload(database: Database, problems: Problems): Promise<void> {
  const stray = await database.db
    .selectFrom('audit_payloads as p')
    .leftJoin('audit_log as l', 'l.call_id', 'p.call_id')
    .where('l.seq', 'is', null)
    .select(['p.call_id', 'p.kind'])
    .limit(1)
    .executeTakeFirst();
  const which = stray ? `the ${stray.kind} of call ${stray.call_id}` : 'at least one payload';
  problems.add('payload', undefined, `No entry refers to these payloads: ${which}.`);
}
