import { sql } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { CallRecord } from '../../contract/ports.ts';
import { ENVIRONMENTS } from '../../contract/presentation.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { isObject } from '../../lib/is-object.ts';
import { cutWords, humanName, toPastTense } from '../../lib/words.ts';
import { genericTitle, mainArgument } from '../approvals/present.ts';
import { findShownDifferences } from '../log/rows/find.ts';
import { parseObject } from '../store/cells.ts';
import type { Database } from '../store/database.ts';
import { storedArguments } from './calls.ts';
import type { Call, ListedCall } from './shapes.ts';

type Resolve = (tool: string) => Promise<BoundTool | undefined>;
type Words = Pick<Call, 'title' | 'gist' | 'environment'>;
type ApprovedWords = Words & { readonly done: string; readonly state: string };

const GIST_MAX = 160;

/** What each of these calls did, in words: as the person was shown it, or else from its tool and arguments. */
export async function describeCalls(
  database: Database,
  resolve: Resolve,
  calls: readonly CallRecord[],
): Promise<readonly Call[]> {
  const approved = await approvedWords(
    database,
    calls.flatMap(({ approvalId }) => (approvalId === undefined ? [] : [approvalId])),
  );
  const others = calls.filter(({ approvalId }) => approvalId === undefined || !approved.has(approvalId));
  const args = await storedArguments(
    database,
    others.map(({ callId }) => callId),
  );
  const tools = new Map(
    await Promise.all(
      [...new Set(others.map(({ tool }) => tool))].map(async (name) => [name, await resolve(name)] as const),
    ),
  );
  return calls.map((call) => {
    const known = call.approvalId === undefined ? undefined : approved.get(call.approvalId);
    const words = known
      ? { ...known, title: call.status === 'ok' ? known.done : known.title }
      : toolWords(call, tools.get(call.tool), args.get(call.callId));
    const { title, gist, environment } = words;
    return { ...toCall(call), title, gist, environment, approval_state: known?.state ?? null };
  });
}

/** The same calls with whether what a list shows of each is what its entries say. */
export async function compareWithLog(
  database: Database,
  calls: readonly Call[],
): Promise<readonly ListedCall[]> {
  const found = await findShownDifferences(
    database,
    calls.map(({ call_id }) => call_id),
    ['args'],
  );
  return calls.map((call) => ({ ...call, differs: (found.get(call.call_id)?.length ?? 0) > 0 }));
}

async function approvedWords(
  { db, engine }: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ApprovedWords>> {
  if (ids.length === 0) return new Map();
  const wanted = [...new Set(ids)];
  // Taken out of the stored presentation by the database: its diff may be large.
  const done =
    engine === 'postgres'
      ? sql<string | null>`p.body::json -> 'presentation' ->> 'done'`
      : sql<string | null>`json_extract(p.body, '$.presentation.done')`;
  const words = db
    .selectFrom('approval_previews as p')
    .select(['p.approval_id', done.as('done')])
    .where('p.approval_id', 'in', wanted)
    .execute();
  // No database takes anything out of a text that is not JSON: of all of them, or of one by one.
  const found = await words.catch(() => doneOneByOne(db, wanted));
  const doneBy = new Map(found.map((row) => [row.approval_id, row.done]));
  const rows = await db
    .selectFrom('approvals as a')
    .select(['a.id', 'a.summary', 'a.gist', 'a.environment', 'a.state'])
    .where('a.id', 'in', wanted)
    .execute();
  return new Map(
    rows.map(({ id, summary, gist, environment, state }) => [
      id,
      {
        title: summary,
        done: doneBy.get(id) ?? summary,
        gist,
        state,
        environment: ENVIRONMENTS.find((one) => one === environment) ?? null,
      },
    ]),
  );
}

/** The same where a stored presentation cannot be read: that one has only the title of its row. */
async function doneOneByOne(db: Database['db'], ids: readonly number[]) {
  const rows = await db
    .selectFrom('approval_previews')
    .select(['approval_id', 'body'])
    .where('approval_id', 'in', ids)
    .execute();
  return rows.map(({ approval_id, body }) => {
    const presentation = parseObject(body)?.presentation;
    const done = isObject(presentation) ? presentation.done : undefined;
    return { approval_id, done: typeof done === 'string' ? done : null };
  });
}

function toolWords(call: CallRecord, bound: BoundTool | undefined, args: JsonObject | undefined): Words {
  if (!bound) return { title: humanName(call.tool), gist: null, environment: null };
  const { tool, toolkit } = bound;
  const words = genericTitle(tool, { label: toolkit.title ?? toolkit.id });
  const gist = args && mainArgument(tool, args);
  return {
    title: call.status === 'ok' ? toPastTense(words) : words,
    gist: gist ? cutWords(gist, GIST_MAX) : null,
    environment: tool.reach === 'local' ? 'local' : null,
  };
}

const toCall = (call: CallRecord): Omit<Call, keyof Words | 'approval_state'> => ({
  call_id: call.callId,
  at: call.at.toISOString(),
  tool: call.tool,
  toolkit: call.toolkit,
  category: call.category,
  effect: call.effect,
  principal: call.principal,
  client: call.client ?? null,
  transport: call.transport,
  run_id: call.runId ?? null,
  status: call.status,
  code: call.code ?? null,
  decision: call.decision,
  rule: call.rule ?? null,
  latency_ms: call.latencyMs,
  evidence_hash: call.evidenceHash ?? null,
  approval_id: call.approvalId ?? null,
  replay_of: call.replayOf ?? null,
});
