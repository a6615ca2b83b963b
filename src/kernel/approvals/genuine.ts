import { ToolError } from '../../contract/errors.ts';
import type { Approval, ApprovalState } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import { digest } from '../../lib/canonical.ts';
import { leafHash } from '../../lib/merkle.ts';
import type { Entry } from '../log/entry.ts';
import { type SignedDecision, signedDecision } from '../log/passkeys/entries.ts';
import { type ApprovalEntry, entriesAbout } from '../log/rows/approval-entries.ts';
import { contextDigest } from '../log/rows/approval-terms.ts';
import { findForgedWords, statedContext } from '../log/rows/approval-words.ts';
import { writeWithEvidence } from '../log/write.ts';
import type { LoggedDecision } from '../passkeys/signed.ts';
import type { Database, Engine } from '../store/database.ts';
import { move } from './move.ts';
import { targetsOf } from './transitions.ts';

/** As the row of the approval must have it. */
interface LastDecision {
  readonly by: string;
  readonly at: string;
}

/** An approval as the audit log has it; the row in the database is only a copy that anyone with a client can edit. */
interface Logged {
  state: ApprovalState | undefined;
  tool: string | undefined;
  digest: string | undefined;
  requester: string | undefined;
  approver: string | undefined;
  decision: LastDecision | undefined;
  permit: boolean;
  /** Until when it can be used; undefined where its request does not say so. */
  expires: string | null | undefined;
  context: string | undefined;
  /** The call that began under it and has not given it back. */
  user: string | undefined;
  /** How many signatures were required when it was queued. */
  required: number;
  signed: SignedDecision | undefined;
  /** The signature entries of decisions before the last one: none counts twice. */
  readonly spent: Set<string>;
}

/** The row does not say what the log says. */
export class ForgedApproval extends ToolError {
  readonly approval: Approval;
  readonly logged: ApprovalState | undefined;
  /** The decision that the log has. */
  readonly decision: LastDecision | undefined;

  constructor(approval: Approval, logged: ApprovalState | undefined, why: string, decision?: LastDecision) {
    super(
      'approval_invalid',
      `Approval ${approval.id} does not match the audit log: ${why}. Nothing was run. Run \`countersign audit verify\`, and ask again.`,
      { detail: { approval_id: approval.id } },
    );
    this.approval = approval;
    this.logged = logged;
    this.decision = decision;
  }
}

/**
 * Throws unless the decision that the row claims is in the log, is the last word on it, and was made on this very call.
 * Returns what the log says of its signatures. `context` is what the row stores, where the caller has the row.
 */
export async function requireGenuine(
  db: Database['db'],
  engine: Engine,
  approval: Approval,
  state: 'pending' | 'approved',
  context?: string,
): Promise<LoggedDecision> {
  const logged = await readLogged(db, engine, approval.uuid);
  const why =
    contradiction(approval, logged, state) ??
    contextContradiction(context, logged?.context) ??
    // A person decides by the title and content shown, which a list reads from the row.
    (state === 'pending' && (await findForgedWords({ db, engine }, [approval.id])).has(approval.id)
      ? 'its title or content is not what was requested'
      : undefined);
  if (!logged || why !== undefined)
    throw new ForgedApproval(approval, logged?.state, why ?? UNREADABLE, logged?.decision);
  return logged;
}

/** A longer list is compared in parts: stored presentations may contain large diffs. */
const COMPARED = 100;

/**
 * The pending ones of these approvals that a person who opens them is refused, because row and log disagree. Two
 * statements for a page of them, so that a list can say so.
 */
export async function findForged(
  database: Pick<Database, 'db' | 'engine'>,
  approvals: readonly Approval[],
): Promise<ReadonlySet<number>> {
  const pending = approvals.filter(({ state }) => state === 'pending');
  const forged = new Set<number>();
  for (let start = 0; start < pending.length; start += COMPARED)
    for (const id of await forgedOf(database, pending.slice(start, start + COMPARED))) forged.add(id);
  return forged;
}

async function forgedOf(
  { db, engine }: Pick<Database, 'db' | 'engine'>,
  pending: readonly Approval[],
): Promise<readonly number[]> {
  const uuids = pending.map(({ uuid }) => uuid);
  const entries = await entriesAbout(db, engine, uuids);
  const about = new Map<string, ApprovalEntry[]>(uuids.map((uuid) => [uuid, []]));
  for (const entry of entries) about.get(entry.uuid)?.push(entry);
  const ids = pending.map(({ id }) => id);
  const words = await findForgedWords({ db, engine }, ids, entries);
  const suspects = pending.filter(
    (one) =>
      words.has(one.id) || contradiction(one, loggedFrom(about.get(one.uuid) ?? []), 'pending') !== undefined,
  );
  if (suspects.length === 0) return [];
  // Row and log are read one after the other: a decision that came in between is no forgery.
  const rows = await db.selectFrom('approvals').select(['id', 'version']).where('id', 'in', ids).execute();
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  return suspects.filter(({ id, version }) => versions.get(id) === version).map(({ id }) => id);
}

/** How many people had to sign an approval by the rules of the moment at which it was requested. */
export const requiredAtRequest = async (db: Database['db'], engine: Engine, uuid: string): Promise<number> =>
  (await readLogged(db, engine, uuid))?.required ?? 0;

const UNREADABLE = 'the log has no request for it';

/**
 * Closes the row, so that it is refused once and not at every attempt. It gets the decision that the log has: the entry
 * says that the row was forged, and the row no longer names the forger's decision as a fact.
 */
export async function closeForged(
  database: Database,
  { approval, logged, message, decision }: ForgedApproval,
  at: Date,
): Promise<void> {
  // Begun, and no outcome under its name: it may have happened.
  const known = logged === 'executing' ? 'indeterminate' : logged;
  const state = known && targetsOf('invalidate', approval.kind).includes(known) ? known : 'failed';
  const outcome = JSON.stringify({ status: 'refused', code: 'approval_invalid', message });
  const set = {
    state,
    decided_by: decision?.by ?? null,
    decided_at: decision?.at ?? null,
    ...(state === 'failed' && { outcome }),
  };
  const evidence = { at, by: 'system:kernel', code: 'approval_invalid' };
  await writeWithEvidence(database, (write) =>
    move(write, 'invalidate', { id: approval.id, version: approval.version }, set, evidence),
  );
}

function contradiction(
  approval: Approval,
  logged: Logged | undefined,
  state: 'pending' | 'approved',
): string | undefined {
  if (!logged?.state) return UNREADABLE;
  if (logged.state !== state) return `the row is ${state}, but the log says ${logged.state}`;
  if (logged.digest !== approval.digest || logged.tool !== approval.tool)
    return 'the log says it is for another call';
  // A person decides by the arguments shown. When the call runs, it is compared itself.
  if (state === 'pending' && digestOf(approval) !== approval.digest)
    return 'the row does not have the arguments that were requested';
  if (logged.permit !== (approval.kind === 'permit')) return 'the log says it is another kind of approval';
  if (logged.requester !== undefined && logged.requester !== principalName(approval.requester))
    return `the log has ${logged.requester} as its requester`;
  const expires = approval.expiresAt?.toISOString() ?? null;
  if (logged.expires !== undefined && logged.expires !== expires)
    return logged.expires === null ? 'the log has no expiry' : `the log has ${logged.expires} as its expiry`;
  const decider = approval.decidedBy && principalName(approval.decidedBy);
  if (state === 'approved' && (decider === undefined || logged.approver !== decider))
    return `the log has ${logged.approver} as its approver`;
  return undefined;
}

/** Toolkits act by the context: which project, which account. */
const contextContradiction = (stored: string | undefined, logged: string | undefined): string | undefined =>
  stored !== undefined && logged !== undefined && contextDigest(stored) !== logged
    ? 'its context is not what was requested'
    : undefined;

const digestOf = ({ kind, tool, args, binding = {} }: Approval): string =>
  digest(tool, kind === 'permit' ? { args, binding } : args);

const readLogged = async (db: Database['db'], engine: Engine, uuid: string): Promise<Logged | undefined> =>
  loggedFrom(await entriesAbout(db, engine, uuid));

function loggedFrom(rows: readonly ApprovalEntry[]): Logged | undefined {
  const logged: Logged = {
    state: undefined,
    tool: undefined,
    digest: undefined,
    requester: undefined,
    approver: undefined,
    decision: undefined,
    permit: false,
    expires: undefined,
    context: undefined,
    user: undefined,
    required: 0,
    signed: undefined,
    spent: new Set(),
  };
  for (const { hash, body } of rows) {
    // A changed entry proves nothing.
    if (leafHash(body) !== hash) return undefined;
    read(logged, JSON.parse(body) as Entry);
  }
  return logged;
}

/** What one entry changes. Refusals, dry runs and replays name an approval without using it. */
function read(logged: Logged, entry: Entry): void {
  switch (entry.kind) {
    case 'approval':
      readMove(logged, entry);
      break;
    case 'edit':
      Object.assign(logged, { state: 'pending', digest: entry.approval?.digest });
      break;
    case 'intent':
      // The parts of a whole run under its approval.
      if (logged.user === undefined) Object.assign(logged, { state: 'executing', user: entry.call });
      break;
    case 'outcome':
      if (entry.call === logged.user) logged.state = endOf(entry.status);
      break;
    case 'settled':
      // A late outcome uses the approval up even when it was given back; one that failed leaves it as it is.
      if (entry.call === logged.user || entry.status !== 'failed') logged.state = endOf(entry.status);
      break;
    case 'read':
    case 'call':
      // A change without an intent did not begin. A part is written before the whole: either way it is used.
      if (entry.effect !== 'change' && entry.effect !== 'destroy') logged.state = endOf(entry.status);
      break;
    default:
  }
}

const DECIDED: ReadonlySet<string> = new Set(['approved', 'rejected', 'withdrawn']);

function readMove(logged: Logged, { tool, status, approval, extra, code, principal, at }: Entry): void {
  if (status === 'returned') {
    if (!logged.permit) logged.decision = undefined;
    logged.state = logged.permit ? 'approved' : 'pending';
    logged.user = undefined;
    return;
  }
  logged.state = status as ApprovalState;
  if (status === 'pending') logged.decision = undefined;
  // A row that was closed as the log has it was not decided again.
  else if (code !== 'approval_invalid' && DECIDED.has(status ?? ''))
    logged.decision = { by: principal ?? '', at };
  const context = statedContext({ extra });
  if (status === 'pending' && context !== undefined) {
    logged.context = context;
    logged.expires = typeof extra?.expires === 'string' ? extra.expires : null;
  }
  if (status === 'pending' && typeof extra?.sign === 'number')
    logged.required = Math.max(logged.required, extra.sign);
  if (status === 'approved') {
    for (const { entry } of logged.signed?.by ?? []) logged.spent.add(entry);
    logged.signed = signedDecision.safeParse(extra?.signed).data;
  }
  if (status === 'pending' || status === 'approved') {
    logged.tool = tool;
    logged.digest = approval?.digest;
    logged.requester = approval?.requester ?? logged.requester;
    logged.permit = approval?.permit === true;
    logged.approver = approval?.approver;
  }
}

const endOf = (status: string | undefined): ApprovalState =>
  status === 'ok' ? 'done' : status === 'indeterminate' ? 'indeterminate' : 'failed';
