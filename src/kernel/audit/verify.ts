import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { Entry } from './entry.ts';
import { ArtifactCheck } from './verify/artifacts.ts';
import { CheckpointCheck } from './verify/checkpoints.ts';
import { KeyCheck } from './verify/keys.ts';
import { readPage } from './verify/pages.ts';
import { PayloadCheck } from './verify/payloads.ts';
import { findRepeatedCalls } from './verify/repeats.ts';
import { Problems, type VerifyReport } from './verify/report.ts';
import { StoryCheck } from './verify/story.ts';
import { TreeCheck } from './verify/tree.ts';

export interface VerifyOptions {
  /** Keys the caller vouches for, as `name+hash+base64`. Without any, the keys that the log names are believed. */
  readonly publicKeys?: readonly string[];
  /** Checkpoints kept outside the store: what shows that a log was cut or replaced as a whole. */
  readonly expectCheckpoints?: readonly string[];
  /** Without it the rows of artifacts are checked, but not their files. */
  readonly artifacts?: ArtifactStore;
  readonly signal?: AbortSignal;
  onProgress?(done: number, total: number): void;
}

/** Small enough for the processor's cache, large enough that the cost of a query does not count; divides a stretch. */
const PAGE = 256;

/**
 * Recomputes everything the log claims. Works through pages of entries that no longer change, so it needs the same
 * memory for any log and may run while others write.
 */
export async function verifyLog(database: Database, options: VerifyOptions = {}): Promise<VerifyReport> {
  const problems = new Problems();
  const state = await readState(database);
  const size = state.lastSeq + 1;
  const tree = new TreeCheck(problems);
  const keys = new KeyCheck(options.publicKeys ?? [], problems);
  const outside = options.expectCheckpoints ?? [];
  const checkpoints = new CheckpointCheck(database, keys, problems, {
    outside,
    largestStored: state.largestCheckpoint,
  });
  const story = new StoryCheck(problems);
  const payloads = new PayloadCheck(database, problems);
  const artifacts = new ArtifactCheck(database, options.artifacts, problems);

  let awaited = await checkpoints.next();
  for (let start = 0, end = 0; start < size; start = end) {
    options.signal?.throwIfAborted();
    end = Math.min(start + PAGE, size);
    const page = await readPage(database, start, end, problems);
    if (page.length === 0) end = await skipGap(database, end, size, problems);
    for (const { seq, leaf, entry } of page) {
      while (awaited <= seq) {
        checkpoints.check(awaited, tree.rootAt(awaited));
        awaited = await checkpoints.next();
      }
      tree.append(seq, leaf);
      if (!entry) continue;
      if (entry.kind === 'checkpoint-key') {
        keys.record(seq, entry);
        checkpoints.require(seq + 1);
      }
      story.take(seq, entry);
      payloads.take(seq, entry);
      artifacts.take(seq, entry);
    }
    await tree.checkNodes(database, end === size);
    await payloads.checkPage();
    await artifacts.checkPage();
    options.onProgress?.(end, size);
    // The store is read synchronously on SQLite; a server that verifies must still answer.
    await setImmediate();
  }
  if (awaited === size) checkpoints.check(size, tree.rootAt(size));
  await checkpoints.finish(size);
  compareHead(state, tree, problems);
  await findRepeatedCalls(database, size, story.calls, problems);
  const later = await laterErasures(database, size);
  payloads.finish(later);
  artifacts.finish(later);
  if (payloads.total < state.payloads && problems.list.length === 0)
    await nameStrayPayload(database, problems);

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
    keys: keys.summary(),
    payloads: payloads.counts,
    artifacts: artifacts.counts,
    openIntents: story.openIntents,
    first: problems.first,
    problems: problems.list,
    more: problems.more,
  };
}

/** One changed number must not send verify through millions of pages that nobody wrote. */
async function skipGap(database: Database, from: number, size: number, problems: Problems): Promise<number> {
  const { seq } = await database.db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.min('seq').as('seq'))
    .where('seq', '>=', from)
    .executeTakeFirstOrThrow();
  const to = Math.max(from, Math.floor((seq ?? size) / PAGE) * PAGE);
  if (to > from) problems.add('missing', from, `Entries ${from} to ${to - 1} are missing from the log.`);
  return to;
}

interface LogState {
  readonly headSize: number | null;
  readonly frontier: string | null;
  readonly lastSeq: number;
  readonly firstSeq: number;
  readonly nodes: number;
  readonly largestCheckpoint: number;
  readonly payloads: number;
}

/** One statement, so that what it says belongs together while others append. */
async function readState(database: Database): Promise<LogState> {
  const { rows } = await sql<LogState>`select
    (select size from audit_head where id = 1) as "headSize",
    (select frontier from audit_head where id = 1) as "frontier",
    coalesce((select max(seq) from audit_log), -1) as "lastSeq",
    coalesce((select min(seq) from audit_log), 0) as "firstSeq",
    (select count(*) from audit_nodes) as "nodes",
    coalesce((select max(size) from audit_checkpoints), 0) as "largestCheckpoint",
    (select count(*) from audit_payloads) as "payloads"`.execute(database.db);
  const [state] = rows;
  if (!state) throw new Error('The store did not answer.');
  return state;
}

function compareHead(state: LogState, tree: TreeCheck, problems: Problems): void {
  const size = state.lastSeq + 1;
  if (state.firstSeq < 0) {
    problems.add(
      'columns',
      state.firstSeq,
      `Entry ${state.firstSeq} stands before the beginning of the log.`,
    );
  }
  if (state.headSize === null || state.frontier === null) {
    problems.add('head', undefined, 'The head of the log is missing.');
    return;
  }
  if (state.headSize > size) {
    const message = `The head counts ${state.headSize} entries, the log has ${size}: the end is missing or the head was changed.`;
    problems.add('truncated', size, message);
  } else if (state.headSize < size) {
    problems.add('head', state.headSize, `The head counts ${state.headSize} entries, the log has ${size}.`);
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
  problems.add('payload', undefined, `There are payloads no entry refers to: ${which}.`);
}
