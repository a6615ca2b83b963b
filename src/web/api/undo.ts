import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { approvalDifferences } from '../../kernel/views/approval-evidence.ts';
import { successfulDigests } from '../../kernel/views/calls.ts';
import { findLastDecided, undoReason } from '../../kernel/views/inbox.ts';
import type { HoldView, Item, LastDecision, UndoneData } from '../../kernel/views/shapes.ts';
import { digest } from '../../lib/canonical.ts';
import type { WebPorts } from '../ports.ts';
import { presentOutcome } from './body.ts';

interface Undo {
  readonly bound: BoundTool;
  /** The calls that are still to be made, in order. */
  readonly left: readonly JsonObject[];
  readonly of: number;
}

/** What would take a done call back; undefined where its tool has nothing of the kind. */
async function undoOf(ports: WebPorts, approval: Approval): Promise<Undo | undefined> {
  const { outcome, state } = approval;
  if (state !== 'done' || typeof outcome !== 'object' || outcome === null || Array.isArray(outcome))
    return undefined;
  const { tool } = (await ports.inventory.resolve(approval.tool)) ?? {};
  const rollback = tool?.rollback?.(approval.args, outcome.data ?? null, approval.callId);
  const bound = rollback && (await ports.inventory.resolve(rollback.tool));
  if (!bound) return undefined;
  const calls = [...(rollback.first ?? []), rollback.args];
  const made = await madeSince(ports, bound, approval.createdAt);
  return { bound, of: calls.length, left: calls.filter((args) => !made.has(digestOf(bound, args))) };
}

/** The digests of that tool's calls that came off: no matter who made them, what they undid is undone. */
async function madeSince(
  { database, kernel }: WebPorts,
  { tool }: BoundTool,
  from: Date,
): Promise<ReadonlySet<string>> {
  await kernel.flush();
  return successfulDigests(database, tool.name, from);
}

/** As the pipeline makes it: over the arguments with their defaults. */
function digestOf({ tool }: BoundTool, args: JsonObject): string {
  const parsed = tool.input.parse(args);
  return digest(tool.name, parsed.ok ? parsed.value : args);
}

/** For the page: which tool undoes it, in how many calls, and whether that happened already. */
export async function showUndo(ports: WebPorts, approval: Approval): Promise<Item['undo']> {
  const undo = await undoOf(ports, approval);
  if (!undo) return null;
  const { bound, left, of } = undo;
  return { tool: bound.tool.name, title: bound.tool.title, calls: of, undone: left.length === 0 };
}

/** What the person decided last, here or elsewhere: on hold, called off, or decided. */
export async function findLast(ports: WebPorts, person: Principal): Promise<LastDecision | undefined> {
  const decided = await findLastDecided(ports.database, person);
  const since = ports.holds
    .list(person)
    .filter(({ state }) => state !== 'ran')
    .filter((hold) => !decided || beganAt(hold) >= decided.at);
  // One that was called off is pending again; what is still held may then be called off as well.
  const hold = since.findLast(({ state }) => state !== 'called_off') ?? since.at(-1);
  const [first] = hold?.items ?? [];
  if (hold && first && hold.state !== 'ran') {
    const { key, state, items } = hold;
    const { id, title } = first;
    return {
      kind: state,
      id,
      title,
      gist: null,
      count: items.length,
      at: beganAt(hold),
      hold: key,
      undo: null,
    };
  }
  const approval = decided && (await ports.kernel.approvals.get(decided.id));
  if (!approval) return undefined;
  const { id, summary: title, gist = null, state } = approval;
  const differences = await approvalDifferences(ports.database, approval);
  return {
    kind: state === 'rejected' ? 'rejected' : 'approved',
    id,
    title,
    gist,
    count: 1,
    at: decided.at,
    hold: null,
    undo: differences.length > 0 ? null : await showUndo(ports, approval),
  };
}

const beganAt = ({ until, hold_ms }: HoldView): string => new Date(Date.parse(until) - hold_ms).toISOString();

/** A page may not know of what the person has decided on another one since. */
export async function requireLast(ports: WebPorts, approval: Approval, person: Principal): Promise<void> {
  const last = await findLast(ports, person);
  if (last?.id === approval.id && last.kind === 'approved') return;
  throw new ToolError(
    'approval_state',
    `Approval ${approval.id} is not your last decision. Nothing was undone. Open it to undo it.`,
    { detail: { id: approval.id, last: last?.id ?? null } },
  );
}

/** Makes the calls that undo it, as the person, and stops at the first that does not come off. */
export async function runUndo(ports: WebPorts, approval: Approval, person: Principal): Promise<UndoneData> {
  // What the calls are made from is in the row, and what policy routes of them is approved by the same press.
  const differences = await approvalDifferences(ports.database, approval);
  if (differences.length > 0)
    throw new ToolError(
      'approval_invalid',
      `Approval ${approval.id} is not what the audit log has: it ${differences.join('; ')}. Nothing was undone. Run \`countersign audit verify\`.`,
      { detail: { approval_id: approval.id } },
    );
  const undo = await undoOf(ports, approval);
  if (!undo) throw new ToolError('validation_error', 'This call cannot be undone.');
  const { bound, left, of } = undo;
  if (left.length === 0) throw new ToolError('approval_state', 'This was already undone.');
  for (const [index, args] of left.entries()) {
    const outcome = await decidedCall(ports, bound, args, approval, person);
    if (outcome.status !== 'ok')
      return { undone: false, done: of - left.length + index, of, outcome: presentOutcome(outcome) };
  }
  return { undone: true, done: of, of };
}

async function decidedCall(
  { kernel }: WebPorts,
  bound: BoundTool,
  args: JsonObject,
  approval: Approval,
  person: Principal,
): Promise<Outcome> {
  const reason = undoReason(approval.id);
  const { outcome } = await kernel.invoke({ bound, args, principal: person, transport: 'web', reason });
  if (outcome.status !== 'routed') return outcome;
  // The person who undoes has just decided: what policy routed is approved in the same breath.
  return (await kernel.approvals.approve(outcome.approvalId, person)).outcome ?? outcome;
}
