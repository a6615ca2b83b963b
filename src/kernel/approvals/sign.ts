import { ToolError } from '../../contract/errors.ts';
import type { Approval, Decided } from '../../contract/ports.ts';
import { newSalt } from '../../lib/random.ts';
import { prepareEntry } from '../log/entry.ts';
import type { Assertion } from '../log/passkeys/assertion.ts';
import { type EnrolledKey, PasskeyProblem } from '../log/passkeys/enrolled.ts';
import { type KeysInForce, lockKeys, readKeysInForce } from '../log/passkeys/read.ts';
import { type DecisionStatement, decisionStatement, itemHash } from '../log/passkeys/statement.ts';
import { type EvidenceWrite, writeWithEvidence } from '../log/write.ts';
import { type Opened, openRequest, preambleFor, takeRequest } from '../passkeys/requests.ts';
import { refused, SIGN_MS } from '../passkeys/service.ts';
import { itemOf } from '../passkeys/signed.ts';
import { requiredAtRequest } from './genuine.ts';
import { move } from './move.ts';
import { type ApprovalQueue, isExpired } from './queue.ts';
import { expiredText, obstacleOf } from './refusals.ts';
import { toApproval } from './row.ts';

/** The maximum of decisions in one signature; the person has seen each in full. */
const MAX_BATCH = 25;

/** An approval and the version that was on screen. */
export interface Shown {
  readonly id: number;
  readonly version: number;
}

export interface SignRequest extends Opened {
  /** The keys that may sign: those of people who have not signed yet. */
  readonly keys: readonly EnrolledKey[];
}

export interface SignedOne {
  readonly approval: Approval;
  /** Undefined while more signatures are required, and for permits. */
  readonly decided: Decided | undefined;
  /** Why the signed call could not run; it is pending again. */
  readonly error?: ToolError;
  readonly required: number;
  readonly signed: readonly string[];
}

export interface Requirement {
  /** How many people must sign. */
  readonly required: number;
  readonly signed: readonly string[];
  /** Those with a passkey who have not signed yet. */
  readonly people: readonly string[];
}

export interface Signer {
  /** The only person who may sign. */
  readonly person?: string;
  /** Signs if they have a passkey, else anyone who has one. */
  readonly preferred?: string;
}

export interface Signing {
  requirement(approval: Approval): Promise<Requirement>;
  begin(session: string, shown: readonly Shown[], signer?: Signer): Promise<SignRequest>;
  finish(session: string, nonce: string, by: Assertion & { key: string }): Promise<readonly SignedOne[]>;
}

export interface SigningPorts {
  readonly queue: ApprovalQueue;
  find(id: number): Promise<Approval>;
  /** Throws unless the log has the request as the row says. */
  requireAsked(approval: Approval): Promise<void>;
  execute(approval: Approval): Promise<Decided>;
}

interface OpenItem {
  readonly id: number;
  readonly version: number;
  readonly salt: string;
}

/** Decisions signed with a passkey: the signature and what it decides are one transaction. */
export function createSigning({ queue, find, requireAsked, execute }: SigningPorts): Signing {
  const { database, now, resolve, signersFor, foresee } = queue.ports;

  /** What had to be signed when it was requested must be signed, also if the same call would not have to be by now. */
  const requiredFor = async (approval: Approval): Promise<number> => {
    const bound = await resolve(approval.tool);
    const { args, requester, uuid } = approval;
    const now = bound ? await signersFor({ bound, args, requester }) : 1;
    return Math.max(now, await requiredAtRequest(database.db, database.engine, uuid));
  };

  const decidable = async ({ id, version }: Shown): Promise<Approval> => {
    const approval = await find(id);
    if (approval.state !== 'pending')
      throw new ToolError(
        'approval_state',
        `Approval ${id} is already ${approval.state}. Nothing was signed.`,
      );
    if (approval.version !== version)
      throw new ToolError(
        'approval_state',
        `Approval ${id} was edited after you opened it. Review it before you sign.`,
      );
    if (isExpired(approval, now())) throw new ToolError('approval_state', expiredText(approval));
    const bound = await resolve(approval.tool);
    if (!bound)
      throw new ToolError('not_found', `Tool ${approval.tool} no longer exists. Nothing was signed.`);
    await requireAsked(approval);
    const refusal = (await foresee(bound, approval)) ?? (await obstacleOf(bound, approval))?.error;
    if (refusal) throw refusal;
    return approval;
  };

  /** The keys of people who have not signed any of these yet. */
  const ableKeys = async (approvals: readonly Approval[]) => {
    const { keys } = await readKeysInForce(database);
    const done = new Set((await Promise.all(approvals.map((one) => signersSoFar(database.db, one)))).flat());
    return { any: keys.any, able: keys.list.filter((key) => !done.has(key.person)) };
  };

  /** Each call of a batch has its own end: what stops one must not keep the others from running. */
  const runSigned = async ({ approval, people: signed, required }: Recorded): Promise<SignedOne> => {
    if (approval.state !== 'approved' || approval.kind !== 'call')
      return { approval, decided: undefined, required, signed };
    try {
      const decided = await execute(approval);
      return { approval: decided.approval, decided, required, signed };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { approval: await find(approval.id), decided: undefined, required, signed, error };
    }
  };

  return {
    async requirement(approval) {
      const required = await requiredFor(approval);
      if (required === 0) return { required, signed: [], people: [] };
      const { able } = await ableKeys([approval]);
      const people = [...new Set(able.map(({ person }) => person))];
      return { required, signed: await signersSoFar(database.db, approval), people };
    },
    async begin(session, shown, { person, preferred } = {}) {
      if (shown.length === 0 || shown.length > MAX_BATCH)
        throw new ToolError('invalid_input', `One signature covers 1 to ${MAX_BATCH} approvals.`);
      const approvals: Approval[] = [];
      for (const one of shown) approvals.push(await decidable(one));
      const { any, able } = await ableKeys(approvals);
      const has = (one: string | undefined) => able.some((key) => key.person === one);
      const signer = person ?? (has(preferred) ? preferred : able[0]?.person);
      const own = able.filter((key) => key.person === signer);
      if (signer === undefined || own.length === 0) throw noKey(signer, any);
      const items = approvals.map((approval) => ({
        item: itemOf(approval),
        id: approval.id,
        salt: newSalt(),
      }));
      const statement: DecisionStatement = {
        v: 'countersign-decision/1',
        person: signer,
        decision: 'approved',
        scope: 'once',
        of: items.length,
        items: items.map(({ item, salt }) => itemHash(item, salt)),
        ...(await preambleFor(database, now(), SIGN_MS)),
      };
      const more: OpenItem[] = items.map(({ id, salt, item: { version } }) => ({ id, version, salt }));
      return { ...(await openRequest(database, session, statement, more, now())), keys: own };
    },
    async finish(session, nonce, by) {
      const required = new Map<number, number>();
      for (const { id } of await peekItems(queue, session, nonce))
        required.set(id, await requiredFor(await find(id)));
      const recorded = await writeWithEvidence(database, async (write) => {
        await lockKeys(write.trx, write.engine, 'read');
        const request = await takeRequest(write, session, nonce, now());
        const statement = decisionStatement.parse(request.statement);
        const entry = await signatureEntry(write, statement, by, now());
        write.append(entry);
        const signed: Recorded[] = [];
        // In the order of their numbers, so two signatures never wait for each other's rows.
        const items = [...(request.more as OpenItem[])].sort((a, b) => a.id - b.id);
        for (const item of items) {
          const needed = required.get(item.id) ?? 1;
          signed.push(await recordOne(write, { item, statement, entry: entry.hash, needed, at: now() }));
        }
        return signed;
      });
      const results: SignedOne[] = [];
      for (const one of recorded) results.push(await runSigned(one));
      return results;
    },
  };
}

interface Recorded {
  readonly approval: Approval;
  readonly people: readonly string[];
  readonly required: number;
}

/** The entry, if the keys in force accept the signature. */
async function signatureEntry(
  write: EvidenceWrite,
  statement: DecisionStatement,
  by: Assertion & { key: string },
  now: Date,
) {
  const at = now.toISOString();
  const extra = { statement, by: { ...by } };
  const { log, keys }: KeysInForce = await readKeysInForce(write.database, write.trx);
  try {
    keys.checkSignature(log ?? '', at, extra);
  } catch (error) {
    throw error instanceof PasskeyProblem ? refused(error) : error;
  }
  return prepareEntry({ kind: 'signature', at, principal: statement.person, extra });
}

interface Recording {
  readonly item: OpenItem;
  readonly statement: DecisionStatement;
  readonly entry: string;
  readonly needed: number;
  readonly at: Date;
}

/** Counts the signature for one approval, and approves it when it was the last that was required. */
async function recordOne(
  write: EvidenceWrite,
  { item, statement, entry, needed, at }: Recording,
): Promise<Recorded> {
  const { trx, engine } = write;
  // Locked: of two people who sign at the same time, the second must see the signature of the first.
  const row = await trx
    .selectFrom('approvals')
    .selectAll()
    .where('id', '=', item.id)
    .$if(engine === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  const approval = row && toApproval(row);
  // The row must still be what was signed, even if the page showed something else.
  if (!approval || !statement.items.includes(itemHash(itemOf(approval), item.salt)))
    throw new ToolError(
      'approval_state',
      `Approval ${item.id} has changed. Nothing was done; review it again.`,
    );
  if (isExpired(approval, at)) throw new ToolError('approval_state', expiredText(approval));
  const { person } = statement;
  const { numInsertedOrUpdatedRows: added } = await trx
    .insertInto('approval_signatures')
    .values({ approval_id: item.id, version: item.version, person, entry, salt: item.salt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (added === 0n)
    throw new ToolError('approval_state', `${person} has already signed approval ${item.id}.`);
  const given = await trx
    .selectFrom('approval_signatures')
    .selectAll()
    .where('approval_id', '=', item.id)
    .where('version', '=', item.version)
    .orderBy('person')
    .execute();
  const people = given.map((one) => one.person);
  if (new Set(people).size < needed) return { approval, people, required: needed };
  const { version, binding, expires } = itemOf(approval);
  const signed = {
    item: { version, binding, expires },
    by: given.map((one) => ({ entry: one.entry, salt: one.salt })),
  };
  const decided = { decided_at: at.toISOString(), decided_by: person };
  const [moved] = await move(
    write,
    'approve',
    { id: item.id, version: item.version },
    { state: 'approved', ...decided },
    { at, by: person, extra: { signed } },
  );
  if (!moved)
    throw new ToolError(
      'approval_state',
      `Approval ${item.id} was just decided. Nothing was done; review it again.`,
    );
  return { approval: toApproval(moved), people, required: needed };
}

async function peekItems(
  { ports }: ApprovalQueue,
  session: string,
  nonce: string,
): Promise<readonly OpenItem[]> {
  const row = await ports.database.db
    .selectFrom('passkey_requests')
    .select('more')
    .where('nonce', '=', nonce)
    .where('session', '=', session)
    .executeTakeFirst();
  return row ? (JSON.parse(row.more) as OpenItem[]) : [];
}

async function signersSoFar(db: ApprovalQueue['ports']['database']['db'], { id, version }: Approval) {
  const rows = await db
    .selectFrom('approval_signatures')
    .select('person')
    .where('approval_id', '=', id)
    .where('version', '=', version)
    .execute();
  return rows.map(({ person }) => person);
}

const noKey = (person: string | undefined, any: boolean): ToolError =>
  new ToolError(
    'signature_required',
    any
      ? `${person ?? 'Everyone with a passkey'} has already signed or has no passkey. Another person must sign.`
      : 'No passkey is enrolled. Enrol one in the web app, under Passkeys.',
  );
