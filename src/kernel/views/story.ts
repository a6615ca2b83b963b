import type { Selectable } from 'kysely';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { BoundTool } from '../../contract/toolkit.ts';
import { digest } from '../../lib/canonical.ts';
import { leafHash } from '../../lib/merkle.ts';
import { describeRule } from '../approvals/present.ts';
import { findPresentation } from '../approvals/presentations.ts';
import { approvalEdits } from '../approvals/query.ts';
import type { Entry } from '../log/entry.ts';
import { entriesAbout } from '../log/rows/approval-entries.ts';
import type { Database } from '../store/database.ts';
import type { ApprovalsTable, Tables } from '../store/tables.ts';
import type { CallStory, StoryStep } from './shapes.ts';

interface Read {
  readonly hash: string;
  readonly valid: boolean;
  readonly entry: Entry;
}

type Resolve = (tool: string) => Promise<BoundTool | undefined>;
type ApprovalRow = Selectable<ApprovalsTable>;

/** What the steps are told with besides their entries: words and arguments, which can be erased. */
interface Words {
  readonly approval: ApprovalRow | undefined;
  readonly edits: readonly Selectable<Tables['approval_edits']>[];
  /** Why the requester asked, in its own words. */
  readonly said: string | null;
  /** Calls that undid this one. */
  readonly undone: ReadonlySet<string>;
}

/**
 * What happened to a call, from being asked to being settled or undone, one step per audit entry. What happened, when and
 * by whom comes from the entries; rows that can be edited give only words, and an edit is shown only where it matches the
 * digests in its entry. An entry that does not match its hash is shown as invalid.
 */
export async function readStory(
  database: Database,
  callId: string,
  resolve: Resolve = async () => undefined,
): Promise<CallStory | undefined> {
  const { db, engine } = database;
  const row = await db.selectFrom('calls').selectAll().where('call_id', '=', callId).executeTakeFirst();
  const own = await entriesOf(database, callId);
  if (!row && own.length === 0) return undefined;
  const approval =
    row?.approval_id == null
      ? undefined
      : await db.selectFrom('approvals').selectAll().where('id', '=', row.approval_id).executeTakeFirst();
  const uuid = approval?.uuid ?? own.find(({ entry }) => entry.approval)?.entry.approval?.uuid;
  const about = uuid === undefined ? [] : toRead(await entriesAbout(db, engine, uuid));
  // The call that was routed and the one that ran later are two calls of one story.
  const asked =
    row?.approval_id == null
      ? []
      : await db
          .selectFrom('calls')
          .select('call_id')
          .where('approval_id', '=', row.approval_id)
          .where('status', '=', 'routed')
          .limit(20)
          .execute();
  const ran = about.flatMap(({ entry }) => (entry.call === undefined ? [] : [entry.call]));
  const undone = await undoingCalls(database, approval, resolve);
  const others = [...new Set([...asked.map(({ call_id }) => call_id), ...ran, ...undone])];
  const parts = await Promise.all(others.map((id) => entriesOf(database, id)));
  const all = new Map<string, Read>();
  for (const one of [...about, ...own, ...parts.flat()]) all.set(one.hash, one);
  const words = {
    approval,
    edits: approval ? await approvalEdits(db, approval.id) : [],
    said: approval ? await wordsOf(database, approval.id) : null,
    undone: new Set(undone),
  };
  const steps = [...all.values()].sort(byTime).flatMap((one) => stepsOf(one, words));
  return {
    call_id: callId,
    title: approval?.summary ?? row?.tool ?? own[0]?.entry.tool ?? callId,
    approval_id: approval?.id ?? null,
    steps,
    entries: all.size,
    valid: steps.every((step) => step.entry.valid),
  };
}

async function wordsOf({ db }: Database, approvalId: number): Promise<string | null> {
  const stored = await findPresentation(db, approvalId);
  return stored && 'presentation' in stored ? stored.said : null;
}

/** Later calls that did what undoes this one, no matter who made them. */
async function undoingCalls(
  { db }: Database,
  approval: ApprovalRow | undefined,
  resolve: Resolve,
): Promise<string[]> {
  if (approval?.state !== 'done' || approval.outcome === null || approval.call_id === null) return [];
  const { data = null } = JSON.parse(approval.outcome) as { data?: JsonValue };
  const args = JSON.parse(approval.args) as JsonObject;
  const bound = await resolve(approval.tool);
  const rollback = bound?.tool.rollback?.(args, data, approval.call_id);
  const undoer = rollback && (await resolve(rollback.tool));
  if (!undoer) return [];
  const digests = [...(rollback.first ?? []), rollback.args].map((one) => {
    const parsed = undoer.tool.input.parse(one);
    return digest(undoer.tool.name, parsed.ok ? parsed.value : one);
  });
  const rows = await db
    .selectFrom('calls')
    .select('call_id')
    .where('tool', '=', undoer.tool.name)
    .where('call_id', '>', approval.call_id)
    .where('digest', 'in', digests)
    .where('status', '=', 'ok')
    .limit(20)
    .execute();
  return rows.map(({ call_id }) => call_id);
}

const entriesOf = async ({ db }: Database, callId: string): Promise<Read[]> =>
  toRead(
    await db
      .selectFrom('audit_log')
      .select(['hash', 'body'])
      .where('call_id', '=', callId)
      .orderBy('seq')
      .execute(),
  );

const toRead = (rows: readonly { hash: string; body: string }[]): Read[] =>
  rows.map(({ hash, body }) => ({ hash, valid: leafHash(body) === hash, entry: JSON.parse(body) as Entry }));

/** Where two entries have the same time, the order in which they can only have come. */
const ORDER = ['routed', 'approval', 'edit', 'intent', 'read', 'call', 'outcome', 'settled'];
const byTime = (a: Read, b: Read): number =>
  a.entry.at.localeCompare(b.entry.at) || ORDER.indexOf(a.entry.kind) - ORDER.indexOf(b.entry.kind);

function stepsOf({ hash, valid, entry }: Read, words: Words): StoryStep[] {
  const step = (kind: StoryStep['kind'], text: string, detail: string | null = null): StoryStep => ({
    kind,
    at: entry.at,
    by: entry.principal ?? null,
    text,
    detail,
    rule: kind === 'evaluated' ? (entry.rule ?? null) : null,
    change: null,
    call_id: entry.call ?? null,
    entry: { hash, valid },
  });
  const who = nameOf(entry.principal);
  if (entry.call !== undefined && words.undone.has(entry.call))
    return entry.kind === 'outcome' || entry.kind === 'call'
      ? [step('undone', `${who} undid it`, entry.tool)]
      : [];
  switch (entry.kind) {
    case 'routed':
      return [step('evaluated', `Policy decided: ask`, evaluation(entry))];
    case 'approval':
      return approvalStep(entry, who, step, words);
    case 'edit':
      return [{ ...step('edited', `${who} edited the arguments`), change: changeOf(entry, words) }];
    case 'intent':
      return [
        ...(entry.decision === 'allow' || entry.extra?.standing !== undefined
          ? [
              step('asked', `${who} asked`),
              step('evaluated', `Policy decided: ${entry.decision}`, evaluation(entry)),
            ]
          : []),
        ...(entry.extra?.standing === undefined
          ? []
          : [step('decided', 'A standing approval answered', String(entry.extra.standing))]),
        step('began', 'Intent written to the audit log before anything was sent'),
      ];
    case 'outcome':
      return [step('ended', ending(entry), entry.code ?? null)];
    case 'settled':
      return [
        step('settled', `${who} settled it: ${entry.status === 'ok' ? 'it happened' : 'it did not happen'}`),
      ];
    case 'read':
    case 'call':
      return [
        step('asked', `${who} asked`),
        step('evaluated', `Policy decided: ${entry.decision ?? 'none'}`, evaluation(entry)),
        step('ended', ending(entry), entry.code ?? null),
      ];
    case 'refusal':
    case 'dry_run':
      return [
        step('asked', `${who} asked`),
        step('evaluated', `Policy decided: ${entry.decision ?? 'none'}`, evaluation(entry)),
        step(
          'ended',
          entry.kind === 'refusal' ? 'Refused; nothing was run' : 'Dry run; nothing was changed',
          entry.code ?? null,
        ),
      ];
    default:
      return [];
  }
}

type MakeStep = (kind: StoryStep['kind'], text: string, detail?: string | null) => StoryStep;

function approvalStep(
  { status, principal, extra }: Entry,
  who: string,
  step: MakeStep,
  { approval, said }: Words,
): StoryStep[] {
  switch (status) {
    case 'pending':
      return principal === 'system:kernel'
        ? [step('asked', 'Pending again: the approved call was refused before it ran')]
        : [step('asked', `${who} asked`, said || null)];
    case 'approved':
      return [
        step('decided', `${who} approved`, extra?.signed === undefined ? null : 'Signed with a passkey'),
      ];
    case 'rejected':
      return [step('decided', `${who} rejected`, approval?.feedback || approval?.decision_reason || null)];
    case 'withdrawn':
      return [step('decided', `${who} withdrew it`)];
    case 'expired':
      return [step('decided', 'Expired without a decision')];
    case 'returned':
      return [step('settled', 'Nothing happened, so the approval was given back')];
    default:
      return [];
  }
}

/** Null where the stored arguments were erased, or are not those that the entry is about. */
function changeOf({ digest: after, tool = '' }: Entry, { edits }: Words): StoryStep['change'] {
  const edit = edits.find(({ new_digest }) => new_digest === after);
  if (!edit) return null;
  const [before, now] = [JSON.parse(edit.old_args), JSON.parse(edit.new_args)] as [JsonObject, JsonObject];
  const isSame = digest(tool, now) === after && digest(tool, before) === edit.old_digest;
  return isSame ? { before, after: now } : null;
}

const ending = ({ status }: Entry): string =>
  status === 'ok' ? 'Done' : status === 'indeterminate' ? 'Outcome unknown' : 'Failed';

const evaluation = ({ rule, policyVersion }: Entry): string | null =>
  rule === undefined
    ? null
    : `${describeRule(rule, '', undefined).title}${policyVersion ? `, policy ${policyVersion.slice(0, 8)}` : ''}`;

/** `agent:mira` as a person reads it. */
const nameOf = (principal: string | undefined): string =>
  principal === undefined ? 'Countersign' : principal.replace(/^(agent|person|system):/u, '');
