import { z } from 'zod';
import type { Entry } from '../entry.ts';
import {
  adminStatement,
  decisionStatement,
  enrolStatement,
  type SignedItem,
  signedParts,
} from './statement.ts';

// The `extra` of entries of kind `signature` and `passkey`, and of signed decisions.

const bytes = z
  .string()
  .regex(/^[\w-]+$/)
  .max(8192);
const fingerprint = z.string().regex(/^[0-9a-f]{32}$/);

const assertionShape = z.strictObject({
  authenticatorData: bytes,
  clientData: bytes,
  signature: bytes,
});

/** By which key, and its signature. */
const signedBy = assertionShape.extend({ key: fingerprint });

export const signatureEntry = z.strictObject({ statement: decisionStatement, by: signedBy });
export type SignatureEntry = z.output<typeof signatureEntry>;

export const passkeyEntry = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('enrol'),
    statement: enrolStatement,
    /** By the new key itself, which proves possession. */
    possession: assertionShape,
    /** By a key enrolled before; only the first key has none. */
    countersigned: signedBy.optional(),
  }),
  z.strictObject({ action: z.literal('remove'), statement: adminStatement, by: signedBy }),
  z.strictObject({ action: z.literal('mode'), statement: adminStatement, by: signedBy }),
  z.strictObject({ action: z.literal('reset') }),
]);
export type PasskeyEntry = z.output<typeof passkeyEntry>;

/** On a decision: what was signed beyond the entry's own fields, and by which signature entries (their leaf hashes). */
export const signedDecision = z.strictObject({
  item: signedParts,
  by: z.array(z.strictObject({ entry: z.string().regex(/^[0-9a-f]{64}$/), salt: z.string().min(16) })).min(1),
});
export type SignedDecision = z.output<typeof signedDecision>;

/** The item that a decision's signatures must cover: the entry's own call, so no other can be signed in its place. */
export const itemOfDecision = (
  { approval, tool = '' }: Entry,
  { version, binding, expires }: SignedDecision['item'],
): SignedItem => ({
  approval: approval?.uuid ?? '',
  version,
  kind: approval?.permit ? 'permit' : 'call',
  tool,
  digest: approval?.digest ?? '',
  binding,
  requester: approval?.requester ?? '',
  expires,
});
