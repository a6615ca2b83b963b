import { lookup } from '../../../lib/lookup.ts';
import type { CallsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';

/** An entry about a call, with its place and hash. */
export interface CallEntry {
  readonly seq: number;
  readonly hash: string;
  readonly entry: Entry;
}

/** The columns of a call's row that its entries state, with the values they state. */
export type StatedRow = Pick<
  CallsTable,
  | 'parent_id'
  | 'finished_at'
  | 'tool'
  | 'toolkit'
  | 'effect'
  | 'principal'
  | 'client'
  | 'transport'
  | 'run_id'
  | 'digest'
  | 'status'
  | 'code'
  | 'decision'
  | 'rule'
  | 'evidence_hash'
  | 'approver'
  | 'replay_of'
> & { readonly started_at: string | undefined };

/** What the row of a call must hold, given all its entries in order; undefined when there are none. */
export function statedRow(entries: readonly CallEntry[]): StatedRow | undefined {
  const [first] = entries;
  if (!first) return undefined;
  const { entry } = first;
  const begun = entry.kind === 'intent';
  const ended = begun ? entries.findLast((one) => one.entry.kind === 'outcome') : first;
  const settled = entries.findLast((one) => one.entry.kind === 'settled');
  const late = entries.findLast(({ entry: { kind, extra } }) => kind === 'settled' && extra?.late === true);
  const interrupted = ended?.entry.extra?.interrupted === true;
  const last = settled ?? ended;
  return {
    started_at: startOf(entry),
    parent_id: entry.parent ?? null,
    finished_at: last === undefined || (interrupted && !settled) ? null : last.entry.at,
    tool: entry.tool ?? '',
    toolkit: entry.toolkit ?? '',
    effect: entry.effect ?? '',
    principal: entry.principal ?? '',
    client: entry.client ?? null,
    transport: entry.transport ?? '',
    // A call that opens a run knows its id only at the end.
    run_id: (ended?.entry ?? entry).run ?? null,
    digest: entry.digest ?? '',
    status: last?.entry.status ?? 'running',
    // Settling says whether it happened and leaves the code; a process that comes back has its own.
    code: (late ?? ended)?.entry.code ?? null,
    decision: entry.decision ?? 'none',
    rule: entry.rule ?? null,
    evidence_hash: ended?.hash ?? null,
    approver: entry.approval?.approver ?? null,
    replay_of: entry.replayOf ?? null,
  };
}

/** An intent is dated by the start of its call; every other entry by its end, and then the id has the start. */
export function startOf({ kind, at, call = '' }: Entry): string | undefined {
  if (kind === 'intent') return at;
  if (call.length !== 36 || call[14] !== '7' || call[8] !== '-' || call[13] !== '-') return undefined;
  const ms = Number.parseInt(call.slice(0, 8) + call.slice(9, 13), 16);
  return Number.isNaN(ms) ? undefined : isoTime(ms);
}

const DAY_MS = 86_400_000;
let day = Number.NaN;
let date = '';
const two = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** Calls come in the order of time: most share the day of the one before, and making a date again costs far more. */
function isoTime(ms: number): string {
  const whole = Math.floor(ms / DAY_MS);
  if (whole !== day) {
    date = new Date(whole * DAY_MS).toISOString().slice(0, 11);
    day = whole;
  }
  const within = ms - whole * DAY_MS;
  const seconds = Math.floor(within / 1000);
  const minutes = Math.floor(seconds / 60);
  const thousandths = String(within - seconds * 1000).padStart(3, '0');
  return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}.${thousandths}Z`;
}

function isApprovalRule(rule: string): boolean {
  return rule === 'hard:approval' || rule === 'hard:permit';
}

/** Refusals name the rule that stopped the call; their entry names the one that had let it pass until then. */
const RULES_OF_REFUSALS: Readonly<Record<string, (rule: string) => boolean>> = {
  policy_denied_rate_limited: (rule) => rule.startsWith('limit:'),
  paused: (rule) => rule === 'hard:paused',
  agent_paused: (rule) => rule === 'hard:agent_paused',
  quota_exceeded: (rule) => rule === 'hard:fair_share',
  approval_invalid: isApprovalRule,
  approval_required: isApprovalRule,
  approval_state: isApprovalRule,
  not_found: isApprovalRule,
  policy_denied_hard_rule: (rule) => rule === 'hard:person_decides',
  policy_error: (rule) => rule === 'hard:unreadable_policy',
  signature_required: (rule) => isApprovalRule(rule) || rule === 'hard:person_decides',
};

export interface FoundRow {
  readonly row: CallsTable | undefined;
  /** The approval that the row's number stands for. */
  readonly approvalUuid: string | null;
}

/** Where a call's row differs from its entries, one sentence part each; empty when they agree. */
export function rowDifferences({ row, approvalUuid }: FoundRow, entries: readonly CallEntry[]): string[] {
  const stated = statedRow(entries);
  if (!stated) return row ? ['has a row, but no entry'] : [];
  if (!row) return ['has entries, but its row is missing'];
  const found: string[] = [];
  const differs = (column: string, stored: unknown, wanted: unknown) =>
    found.push(`says ${column} is ${show(stored)}, but its entries say ${show(wanted)}`);
  for (const [column, wanted] of Object.entries(stated)) {
    const stored = row[column as keyof StatedRow];
    if (wanted === undefined || stored === wanted) continue;
    if (column === 'rule' && lookup(RULES_OF_REFUSALS, stated.code ?? '')?.(String(stored))) continue;
    differs(column, stored, wanted);
  }
  const { entry } = entries[0] as CallEntry;
  const wanted = entry.approval?.uuid ?? null;
  const numbered = row.approval_id !== null;
  // The entry of a routed call names no approval: the one that waits is made with it.
  const agrees =
    entry.kind === 'routed'
      ? numbered && approvalUuid !== null
      : numbered === (wanted !== null) && wanted === approvalUuid;
  if (!agrees) differs('approval_id', row.approval_id, wanted ?? 'none');
  const held = row.holder_host !== null || row.holder_pid !== null || row.lease_until !== null;
  if (held && stated.status !== 'running') differs('holder_host', row.holder_host, null);
  if (!(row.latency_ms >= 0)) differs('latency_ms', row.latency_ms, 'a duration');
  return found;
}

const show = (value: unknown): string => (value === null ? 'empty' : `"${String(value).slice(0, 80)}"`);
