import type { Selectable } from 'kysely';
import type { BoundTool } from '../../contract/toolkit.ts';
import { digest } from '../../lib/canonical.ts';
import { leafHash } from '../../lib/merkle.ts';
import { describeRule } from '../approvals/present.ts';
import { findPresentation } from '../approvals/presentations.ts';
import { approvalEdits } from '../approvals/query.ts';
import { UnreadableApproval } from '../approvals/row.ts';
import type { Entry } from '../log/entry.ts';
import { entriesAbout } from '../log/rows/approval-entries.ts';
import { saidDigest } from '../log/rows/approval-terms.ts';
import { findForgedWords } from '../log/rows/approval-words.ts';
import { parseObject } from '../store/cells.ts';
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

/** What the steps show in addition to their entries: words and arguments, which can be erased. */
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
 * by whom comes from the entries; rows that can be edited give only words, and these only where they match the digests in
 * the entries. An entry that does not match its hash is shown as invalid, and a call without entries has no story.
 */
export async function readStory(
  database: Database,
  callId: string,
  resolve: Resolve = async () => undefined,
): Promise<CallStory | undefined> {
  const { db } = database;
  const row = await db.selectFrom('calls').selectAll().where('call_id', '=', callId).executeTakeFirst();
  const own = await entriesOf(database, callId);
  const [first] = own;
  if (!first)
    return row && { call_id: callId, title: callId, approval_id: null, steps: [], entries: 0, valid: false };
  const { approval, about } = await approvalOf(database, first.entry, row?.approval_id ?? null);
  // The call that was routed and the one that ran later are two calls of one story.
  const asked = approval ? await routedCalls(database, approval.id, about) : [];
  const ran = about.flatMap(({ entry }) => (entry.call === undefined ? [] : [entry.call]));
  const undone = await undoingCalls(database, approval, resolve);
  const others = [...new Set([...asked, ...ran, ...undone])];
  const parts = await Promise.all(others.map((id) => entriesOf(database, id)));
  const all = new Map<string, Read>();
  for (const one of [...about, ...own, ...parts.flat()]) all.set(one.hash, one);
  const isForged = approval && (await findForgedWords(database, [approval.id])).has(approval.id);
  const words = {
    approval,
    edits: approval ? await approvalEdits(db, approval.id) : [],
    said: approval && !isForged ? await wordsOf(database, approval.id) : null,
    undone: new Set(undone),
  };
  const steps = [...all.values()].sort(byTime).flatMap((one) => stepsOf(one, words));
  return {
    call_id: callId,
    title: (isForged ? undefined : approval?.summary) ?? first.entry.tool ?? callId,
    approval_id: approval?.id ?? null,
    steps,
    entries: all.size,
    valid: [...all.values()].every(({ valid }) => valid),
  };
}

/**
 * The approval that a call asked for or ran under, with its entries. Its UUID is in the entry of the call; only a routed
 * call is linked by its row, and then the approval must have been requested for the same call.
 */
async function approvalOf(
  { db, engine }: Database,
  { kind, digest: asked, approval: used }: Entry,
  linked: number | null,
): Promise<{ readonly approval: ApprovalRow | undefined; readonly about: readonly Read[] }> {
  const none = { approval: undefined, about: [] };
  const query = db.selectFrom('approvals').selectAll();
  if (used) {
    const approval = await query.where('uuid', '=', used.uuid).executeTakeFirst();
    return { approval, about: toRead(await entriesAbout(db, engine, used.uuid)) };
  }
  if (kind !== 'routed' || linked === null) return none;
  const approval = await query.where('id', '=', linked).executeTakeFirst();
  const about = approval ? toRead(await entriesAbout(db, engine, approval.uuid)) : [];
  return about.some(({ entry }) => entry.approval?.digest === asked) ? { approval, about } : none;
}

/** The calls that were routed to an approval: their entries do not name it, but are about the same call. */
async function routedCalls(
  { db }: Database,
  approvalId: number,
  about: readonly Read[],
): Promise<readonly string[]> {
  const digests = new Set(about.map(({ entry }) => entry.approval?.digest));
  const rows = await db
    .selectFrom('calls as c')
    .innerJoin('audit_log as l', 'l.call_id', 'c.call_id')
    .select(['c.call_id', 'l.hash', 'l.body'])
    .where('c.approval_id', '=', approvalId)
    .where('c.status', '=', 'routed')
    .where('l.kind', '=', 'routed')
    .limit(20)
    .execute();
  return rows.flatMap((row) =>
    toRead([row]).some(({ entry }) => digests.has(entry.digest)) ? [row.call_id] : [],
  );
}

async function wordsOf({ db }: Database, approvalId: number): Promise<string | null> {
  const stored = await findPresentation(db, approvalId).catch((error: unknown) => {
    // Words only: what happened is in the entries.
    if (error instanceof UnreadableApproval) return undefined;
    throw error;
  });
  return stored && 'presentation' in stored ? stored.said : null;
}

/** Later calls that did what undoes this one, no matter who made them. */
async function undoingCalls(
  database: Database,
  approval: ApprovalRow | undefined,
  resolve: Resolve,
): Promise<string[]> {
  if (approval?.state !== 'done' || approval.outcome === null || approval.call_id === null) return [];
  const args = parseObject(approval.args);
  const outcome = parseObject(approval.outcome);
  if (!args || !outcome) return [];
  const { data = null } = outcome;
  const bound = await resolve(approval.tool);
  const rollback = bound?.tool.rollback?.(args, data, approval.call_id);
  const undoer = rollback && (await resolve(rollback.tool));
  if (!undoer) return [];
  const digests = [...(rollback.first ?? []), rollback.args].map((one) => {
    const parsed = undoer.tool.input.parse(one);
    return digest(undoer.tool.name, parsed.ok ? parsed.value : one);
  });
  const rows = await database.db
    .selectFrom('calls')
    .select('call_id')
    .where('tool', '=', undoer.tool.name)
    .where('call_id', '>', approval.call_id)
    .where('digest', 'in', digests)
    .where('status', '=', 'ok')
    .limit(20)
    .execute();
  const proven = await Promise.all(
    rows.map(async ({ call_id }) => {
      const [first] = await entriesOf(database, call_id);
      const { tool, digest: done } = first?.entry ?? {};
      return tool === undoer.tool.name && digests.includes(done ?? '') ? [call_id] : [];
    }),
  );
  return proven.flat();
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
      return [step('decided', `${who} rejected`, approval ? reasonOf(approval, extra) : null)];
    case 'withdrawn':
      return [step('decided', `${who} withdrew it`)];
    case 'expired':
      return [step('decided', 'Expired without a decision')];
    case 'returned':
      return [step('settled', 'Nothing happened, so the approval can be used again')];
    default:
      return [];
  }
}

/** What the person said; null where the entry states other words, or where nothing can be compared any more. */
function reasonOf(approval: ApprovalRow, extra: Entry['extra']): string | null {
  const stated = extra?.said_sha256;
  const isSaid = stated === undefined || stated === saidDigest(approval);
  return isSaid ? approval.feedback || approval.decision_reason || null : null;
}

/** Null where the stored arguments were erased, or are not those that the entry is about. */
function changeOf({ digest: after, tool = '' }: Entry, { edits }: Words): StoryStep['change'] {
  const edit = edits.find(({ new_digest }) => new_digest === after);
  if (!edit) return null;
  const [before, now] = [parseObject(edit.old_args), parseObject(edit.new_args)];
  if (!before || !now) return null;
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
