import { z } from 'zod';
import type { JsonValue } from '../../contract/json.ts';
import { ALGORITHMS, PASSKEY_MODES } from '../../contract/passkeys.ts';
import { policyRule } from '../../contract/policy.ts';
import { LOCAL_AGENT, principalName } from '../../contract/principal.ts';
import { standingDraft } from '../../contract/standing.ts';

// What pages send, as the server checks it. Pages import the types only.

export const AGE = /^(\d+)(m|h|d)$/;
const age = z.string().regex(AGE, 'must be a duration such as 30m, 24h or 7d').optional();

/** The filter of the inbox. Repeated values are separated by commas; all filters apply together. */
export const inboxFilter = z.object({
  state: z.string().default('pending'),
  /** Principals as they are shown: `agent:mira`. */
  agent: z.string().optional(),
  tool: z.string().optional(),
  /** A toolkit or a third-party server. */
  toolkit: z.string().optional(),
  environment: z.string().optional(),
  effect: z.string().optional(),
  signature: z.string().pipe(z.literal('required')).optional(),
  run: z.string().optional(),
  newer: age,
  older: age,
  q: z.string().max(200).optional(),
  /** Only approvals up to this number: a list that a person reads does not grow under their eyes. */
  until: z.coerce.number().int().min(0).optional(),
});

const seen = z.int().optional().describe('The version the person reviewed; any other is refused.');
export const approveBody = z.strictObject({
  note: z.string().max(2000).optional(),
  version: seen,
  prepare: z.boolean().optional(),
});
export const approveManyBody = z.strictObject({
  ids: z.array(z.int()).min(1).max(500),
  versions: z.array(z.int()).optional(),
});
export const rejectBody = z.strictObject({
  reason: z.string().max(2000).optional(),
  feedback: z.string().max(5000).optional(),
});
export const rejectManyBody = rejectBody.extend({ ids: z.array(z.int()).min(1).max(500) });
/** The filter of the list as its address has it, and how many items the person saw it match. */
export const rejectMatchingBody = rejectBody.extend({ filter: inboxFilter, total: z.int().min(0) });
/** What was parsed from JSON is JSON; the tool's own schema checks the rest. */
export const editBody = z.strictObject({ args: z.record(z.string(), z.custom<JsonValue>()) });
/** With `last`, it is refused unless it is still the person's last decision. */
export const undoBody = z.strictObject({ last: z.boolean().optional() });
export const settleBody = z.strictObject({ happened: z.boolean() });

export const standingTestBody = z.strictObject({ draft: standingDraft });
/** With an approval, that call is approved too: exactly the version that the person saw. */
export const standingBody = z.strictObject({
  draft: standingDraft,
  approve: z.strictObject({ id: z.int(), version: z.int() }).optional(),
});

export const agentBody = z.strictObject({ name: z.string() });

/** A rule that is being written is often wrong, so it is checked later. */
export const replayBody = z.strictObject({ rule: z.unknown() });
export const explainBody = z.strictObject({
  tool: z.string().min(1),
  args: z.record(z.string(), z.json()).default({}),
  principal: z.string().default(principalName(LOCAL_AGENT)),
  /** Not saved: the call is explained as if it were. */
  rule: policyRule.optional(),
});

export const callBody = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).default({}),
  idempotency_key: z.string().max(200).optional(),
  approve: z.boolean().default(false),
});

export const presenceBody = z.strictObject({
  listener: z.string().max(100),
  place: z.string().max(500).nullable(),
});

const bytes = z
  .string()
  .regex(/^[\w-]+$/)
  .max(8192);
const assertion = { nonce: z.string(), authenticatorData: bytes, clientData: bytes, signature: bytes };
export const enrolBody = z.strictObject({
  name: z.string().trim().min(1).max(80),
  person: z
    .string()
    .trim()
    .min(1)
    .max(80)
    .regex(/^[\w.@ -]+$/)
    .optional(),
  credential: bytes,
  spki: bytes,
  alg: z.int().pipe(z.literal(ALGORITHMS)),
});
export const possessionBody = z.strictObject(assertion);
export const signedBody = z.strictObject({ ...assertion, credential: bytes });
export const orderBody = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('remove'), key: z.string() }),
  z.strictObject({ action: z.literal('mode'), mode: z.enum(PASSKEY_MODES) }),
]);
export const signBody = z.strictObject({
  items: z
    .array(z.strictObject({ id: z.int(), version: z.int() }))
    .min(1)
    .max(25),
  person: z.string().optional(),
});
