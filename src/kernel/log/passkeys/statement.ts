import { z } from 'zod';
import { ALGORITHMS, PASSKEY_MODES, type PasskeyMode } from '../../../contract/passkeys.ts';
import { canonicalJson } from '../../../lib/canonical.ts';
import { sha256 } from './assertion.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const fingerprint = z.string().regex(/^[0-9a-f]{32}$/);
const moment = z.iso.datetime();

/** Every statement names the log and its head, so a signature also witnesses all history before it. */
const common = {
  log: hex,
  head: z.strictObject({ size: z.int().positive(), root: hex }),
  issued: moment,
  until: moment,
  nonce: z.string().min(22).max(64),
};

export const decisionStatement = z.strictObject({
  v: z.literal('countersign-decision/1'),
  person: z.string().min(1),
  decision: z.literal('approved'),
  scope: z.literal('once'),
  of: z.int().min(1).max(25),
  items: z.array(hex).min(1).max(25),
  ...common,
});
export type DecisionStatement = z.output<typeof decisionStatement>;

const keyShape = z.strictObject({
  /** The credential's own ID, by which browsers find it. */
  credential: z.string().min(1).max(2048),
  spki: z.string().min(40).max(4096),
  alg: z.literal(ALGORITHMS),
  rpId: z.string().min(1),
  origins: z.array(z.string().min(1)).min(1).max(5),
  name: z.string().min(1).max(80),
});
export type KeyShape = z.output<typeof keyShape>;

export const enrolStatement = z.strictObject({
  v: z.literal('countersign-enrol/1'),
  person: z.string().min(1),
  key: keyShape,
  ...common,
});
export type EnrolStatement = z.output<typeof enrolStatement>;

export const adminStatement = z.strictObject({
  v: z.literal('countersign-passkeys/1'),
  order: z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('remove'), key: fingerprint }),
    z.strictObject({ action: z.literal('mode'), mode: z.enum(PASSKEY_MODES) }),
  ]),
  ...common,
});
export type AdminStatement = z.output<typeof adminStatement>;

export type Statement = DecisionStatement | EnrolStatement | AdminStatement;

/** What the authenticator signs. */
export const challengeOf = (statement: Statement): Buffer => sha256(canonicalJson(statement));

/** One approval in a decision. Hashed with a salt, so that the proof of one call says nothing about the others. */
export interface SignedItem {
  readonly approval: string;
  /** Of the row when it was shown: one that was edited or came back needs a new signature. */
  readonly version: number;
  readonly kind: 'call' | 'permit';
  readonly tool: string;
  readonly digest: string;
  /** What a permit is bound to beyond its arguments, as a hash. */
  readonly binding: string | null;
  readonly requester: string;
  readonly expires: string | null;
}

/** The part of an item that the decision's entry does not say itself. */
export const signedParts = z.strictObject({
  version: z.int().positive(),
  binding: z.string().nullable(),
  expires: moment.nullable(),
});

export const itemHash = (item: SignedItem, salt: string): string =>
  sha256(canonicalJson({ ...item, salt })).toString('hex');

/** How many people a mode makes sign a call of this effect. */
export const signersOf = (mode: PasskeyMode, effect: string): number =>
  mode === 'always' || (mode === 'destructive' && effect === 'destroy') ? 1 : 0;
