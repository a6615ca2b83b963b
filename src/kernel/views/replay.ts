import { setImmediate } from 'node:timers/promises';
import type { PolicyRule } from '../../contract/policy.ts';
import type { CallRecord, TelemetryPort } from '../../contract/ports.ts';
import { parsePrincipal } from '../../contract/principal.ts';
import type { Effect } from '../../contract/tool.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { isObject } from '../../lib/is-object.ts';
import { uuidTime } from '../../lib/random.ts';
import { type ChangedCall, type PastCall, type PolicyInput, previewRule } from '../policy/index.ts';
import type { Database } from '../store/database.ts';
import { describeCalls } from './activity.ts';
import { storedArguments } from './calls.ts';
import type { ReplayChange, ReplayData } from './policy-shapes.ts';

const REPLAYED = 500;
const LISTED = 60;
/** How far back calls are looked for: in a log of reads alone no change would ever be found. */
const FARTHEST = 50_000;

export interface ReplayPorts {
  readonly database: Database;
  readonly telemetry: TelemetryPort;
  resolve(tool: string): Promise<BoundTool | undefined>;
}

/** Evaluates past calls under today's policy and under it with a draft rule. Nothing is run, counted or written. */
export async function replayRule(
  { database, telemetry, resolve }: ReplayPorts,
  input: PolicyInput,
  rule: PolicyRule,
): Promise<ReplayData> {
  const calls = await pastCalls(database, telemetry, rule);
  const args = await storedArguments(
    database,
    calls.map(({ callId }) => callId),
  );
  await setImmediate();
  const past = calls.flatMap((call) => toPastCall(call, args.get(call.callId)));
  const preview = await previewRule(input, rule, past);
  const decided = await decisionsOn(database, calls);
  const changed = [...preview.loosened, ...preview.stopped];
  const isRejected = ({ callId, after }: ChangedCall): boolean =>
    after === 'allow' && decided.get(callId) === 'rejected';
  const sorted = [...changed.filter(isRejected), ...changed.filter((one) => !isRejected(one))];
  const listed = sorted.slice(0, LISTED);
  const records = new Map(calls.map((call) => [call.callId, call]));
  const described = await describeCalls(
    database,
    resolve,
    listed.flatMap(({ callId }) => records.get(callId) ?? []),
  );
  const words = new Map(described.map((call) => [call.call_id, call]));
  const count = (from: string | undefined, to: string | undefined): number =>
    changed.filter(({ before, after }) => (from ?? before) === before && (to ?? after) === after).length;
  return {
    looked_at: past.length,
    unchanged: preview.unchanged,
    still_ask: preview.stillAsk,
    no_longer_ask: count('ask', 'allow'),
    newly_ask: count(undefined, 'ask'),
    lets_through_rejected: changed.filter(isRejected).length,
    unknown: preview.unknown.length,
    changes: listed.flatMap((change): ReplayChange[] => {
      const call = words.get(change.callId);
      if (!call) return [];
      const { call_id, at, title, gist, principal } = call;
      const { before, after, reason } = change;
      return [
        { call_id, at, title, gist, principal, before, after, reason, decided: decided.get(call_id) ?? null },
      ];
    }),
    more: sorted.length - listed.length,
  };
}

/** The calls that such a rule can be about: not the second run of what was asked, nor repeated answers. */
async function pastCalls(
  { db }: Database,
  telemetry: TelemetryPort,
  { effects, tools, categories, toolkits }: PolicyRule,
): Promise<readonly CallRecord[]> {
  const named = tools ?? categories ?? toolkits;
  const farthest = await db
    .selectFrom('calls')
    .select('call_id')
    .orderBy('call_id', 'desc')
    .offset(FARTHEST)
    .limit(1)
    .executeTakeFirst();
  const calls = await telemetry.calls({
    effects: effects ?? (named ? ALL : CHANGES),
    limit: REPLAYED,
    ...(farthest ? { since: uuidTime(farthest.call_id) } : {}),
  });
  return calls.filter(({ transport, replayOf }) => transport !== 'approval' && replayOf === undefined);
}

const CHANGES: readonly Effect[] = ['change', 'destroy'];
const ALL: readonly Effect[] = [...CHANGES, 'read', 'propose', 'decide'];

function toPastCall(call: CallRecord, args: PastCall['args']): PastCall[] {
  const principal = parsePrincipal(call.principal);
  if (!principal) return [];
  const { callId, at, tool: name, toolkit, category } = call;
  const subject = { name, toolkit, category, effect: call.effect as Effect };
  // Of private values only hashes are kept, and no condition can be evaluated on those.
  const known = args && !Object.values(args).some((value) => isObject(value) && '$hash' in value);
  return [{ callId, at, subject, principal, args: known ? args : undefined }];
}

async function decisionsOn(
  { db }: Database,
  calls: readonly CallRecord[],
): Promise<ReadonlyMap<string, 'approved' | 'rejected'>> {
  const ids = [...new Set(calls.flatMap(({ approvalId }) => approvalId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('approvals').select(['id', 'state']).where('id', 'in', ids).execute();
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  return new Map(
    calls.flatMap(({ callId, approvalId }) => {
      const state = approvalId === undefined ? undefined : states.get(approvalId);
      if (state === undefined || OPEN.has(state)) return [];
      return [[callId, state === 'rejected' ? 'rejected' : 'approved'] as const];
    }),
  );
}

const OPEN = new Set(['pending', 'expired', 'withdrawn']);
