import type { Kysely } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { Approval } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { sha256 } from '../log/passkeys/assertion.ts';
import { type EnrolledKeys, PasskeyProblem } from '../log/passkeys/enrolled.ts';
import { type SignedDecision, signatureEntry } from '../log/passkeys/entries.ts';
import { findSignature, lockKeys, readKeysInForce } from '../log/passkeys/read.ts';
import { itemHash, type SignedItem, signersOf } from '../log/passkeys/statement.ts';
import type { EvidenceWrite } from '../log/write.ts';
import type { Engine } from '../store/database.ts';
import type { Tables } from '../store/tables.ts';

/** An approval as it is signed. */
export const itemOf = (approval: Approval): SignedItem => ({
  approval: approval.uuid,
  version: approval.version,
  kind: approval.kind,
  tool: approval.tool,
  digest: approval.digest,
  binding: approval.binding ? sha256(canonicalJson(approval.binding)).toString('hex') : null,
  requester: principalName(approval.requester),
  expires: approval.expiresAt?.toISOString() ?? null,
});

/** A decision as the log has it. */
export interface LoggedDecision {
  readonly signed: SignedDecision | undefined;
  /** How many signatures were required when the call was queued. */
  readonly required: number;
  /** The signature entries of earlier decisions on the same approval. */
  readonly spent: ReadonlySet<string>;
}

export interface SignatureNeed {
  /** Of the tool itself: the row says it too, but anyone with a client can edit a row. */
  readonly effect: string;
  /** How many people policy and the configuration require to have signed. */
  readonly atLeast: number;
}

/** Throws unless as many people signed exactly this call as the log, the mode and policy require. Returns how many. */
export async function requireSigned(
  { trx: db, engine, database }: EvidenceWrite,
  approval: Approval,
  { signed, required, spent }: LoggedDecision,
  { effect, atLeast }: SignatureNeed,
): Promise<number> {
  await lockKeys(db, engine, 'read');
  const { log = '', keys } = await readKeysInForce(database, db);
  const needed = Math.max(required, atLeast, signersOf(keys.mode, effect));
  if (needed === 0) return 0;
  const people = signed
    ? await signersOn(db, engine, { approval, signed, log, keys, spent })
    : new Set<string>();
  if (people.size < needed) throw signatureMissing(approval, needed, people.size);
  return needed;
}

/** How many people must sign a call that runs under no decision of its own: a standing approval, or that of the whole. */
export async function countSigners(
  { trx, engine, database }: EvidenceWrite,
  { effect, atLeast }: SignatureNeed,
): Promise<number> {
  await lockKeys(trx, engine, 'read');
  const { keys } = await readKeysInForce(database, trx);
  return Math.max(atLeast, signersOf(keys.mode, effect));
}

/** The people whose signatures on this decision are valid; one that is not valid is a forgery. */
async function signersOn(
  db: Kysely<Tables>,
  engine: Engine,
  on: {
    readonly approval: Approval;
    readonly signed: SignedDecision;
    readonly log: string;
    readonly keys: EnrolledKeys;
    readonly spent: ReadonlySet<string>;
  },
): Promise<Set<string>> {
  const { approval, signed, log, keys, spent } = on;
  // Of the row itself: a signature for anything else has another hash.
  const item = { ...itemOf(approval), version: signed.item.version };
  const people = new Set<string>();
  const used = await noncesOf(db, engine, spent);
  for (const { entry: hash, salt } of signed.by) {
    const entry = await findSignature(db, engine, hash);
    if (!entry) throw forged(approval, 'the log lacks one of its signatures');
    try {
      const { statement } = keys.checkSignature(log, entry.at, entry.extra);
      if (!statement.items.includes(itemHash(item, salt)))
        throw forged(approval, 'one of its signatures is for another call');
      if (used.has(statement.nonce)) throw forged(approval, 'its signature was used for an earlier decision');
      people.add(statement.person);
    } catch (error) {
      if (error instanceof PasskeyProblem) throw forged(approval, `a signature ${error.message}`);
      throw error;
    }
  }
  return people;
}

/** By their nonces: a copy of an entry, or the twin of an ECDSA signature, has another hash. */
async function noncesOf(
  db: Kysely<Tables>,
  engine: Engine,
  hashes: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const nonces = new Set<string>();
  for (const hash of hashes) {
    const read = signatureEntry.safeParse((await findSignature(db, engine, hash))?.extra);
    if (read.success) nonces.add(read.data.statement.nonce);
  }
  return nonces;
}

export const signatureMissing = (approval: Approval, needed: number, have: number, url?: string): ToolError =>
  new ToolError(
    'signature_required',
    `Approval ${approval.id} needs ${needed === 1 ? 'your passkey' : `the passkeys of ${needed} people`}${have > 0 ? ` (${have} signed)` : ''}. ${url ? `Sign: ${url}` : 'Open it in the inbox to sign.'}`,
    { detail: { approval_id: approval.id, signers: needed, signed: have, ...(url && { sign_url: url }) } },
  );

const forged = (approval: Approval, why: string): ToolError =>
  new ToolError(
    'approval_invalid',
    `Approval ${approval.id} is not signed as required: ${why}. Nothing was run. Run \`countersign audit verify\`, and ask again.`,
    { detail: { approval_id: approval.id } },
  );
