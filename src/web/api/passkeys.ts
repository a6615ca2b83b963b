import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import { principalName } from '../../contract/principal.ts';
import type { SignedOne } from '../../kernel/approvals/sign.ts';
import { ALGORITHMS, type Assertion } from '../../kernel/log/passkeys/assertion.ts';
import type { EnrolledKey, EnrolledKeys } from '../../kernel/log/passkeys/enrolled.ts';
import { MODES } from '../../kernel/log/passkeys/statement.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';
import { presentOutcome, readJson, send } from './body.ts';

const bytes = z
  .string()
  .regex(/^[\w-]+$/)
  .max(8192);
const assertion = { nonce: z.string(), authenticatorData: bytes, clientData: bytes, signature: bytes };
const enrolBody = z.strictObject({
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
  alg: z.union([z.literal(ALGORITHMS[0]), z.literal(ALGORITHMS[1]), z.literal(ALGORITHMS[2])]),
});
const possessionBody = z.strictObject(assertion);
const signedBody = z.strictObject({ ...assertion, credential: bytes });
const orderBody = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('remove'), key: z.string() }),
  z.strictObject({ action: z.literal('mode'), mode: z.enum(MODES) }),
]);
const signBody = z.strictObject({
  items: z
    .array(z.strictObject({ id: z.int(), version: z.int() }))
    .min(1)
    .max(25),
  person: z.string().optional(),
});

/** Passkeys: which there are, enrolling and removing them, and signing decisions with them. */
export function addPasskeyRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { passkeys, signing } = ports.kernel;
  const session = (context: Context<WebEnv>): string => context.get('session').id;
  const keysNow = async (): Promise<EnrolledKeys> => (await passkeys.state()).keys;

  api.get('/passkeys', async (context) => {
    const keys = await keysNow();
    const page = ports.passkeyPage(context.req.raw);
    return send({
      keys: keys.list.map(toJson),
      mode: keys.mode,
      configured: ports.passkeyMode,
      resets: keys.resets,
      person: principalName(context.get('session').person),
      /** Whether a key can be made and used on this page, and where otherwise. */
      page,
    });
  });

  api.post('/passkeys/enrol', async (context) => {
    const { name, person, credential, spki, alg } = await readJson(context, enrolBody);
    const page = mustSign(ports, context);
    const whose = person ? `person:${person}` : principalName(context.get('session').person);
    const key = { credential, spki, alg, name, rpId: page.rpId, origins: [page.origin], person: whose };
    const { nonce, challenge } = await passkeys.beginEnrolment(session(context), key);
    return send({ nonce, challenge, allow: [credential], rp_id: page.rpId });
  });

  api.post('/passkeys/enrol/finish', async (context) => {
    const { nonce, ...possession } = await readJson(context, possessionBody);
    const done = await passkeys.finishEnrolment(session(context), nonce, possession);
    if ('fingerprint' in done) return send({ enrolled: toJson(done) });
    const allow = usable(await keysNow(), mustSign(ports, context));
    return send({ countersign: { nonce: done.nonce, challenge: done.challenge, ...allow } });
  });

  api.post('/passkeys/enrol/countersign', async (context) => {
    const { nonce, ...by } = await readJson(context, signedBody);
    const signed = await keyed(by, await keysNow());
    return send({ enrolled: toJson(await passkeys.finishCountersigned(session(context), nonce, signed)) });
  });

  api.post('/passkeys/order', async (context) => {
    const order = await readJson(context, orderBody);
    const page = mustSign(ports, context);
    const { nonce, challenge } = await passkeys.beginOrder(session(context), order);
    return send({ nonce, challenge, ...usable(await keysNow(), page) });
  });

  api.post('/passkeys/order/finish', async (context) => {
    const { nonce, ...by } = await readJson(context, signedBody);
    const order = await passkeys.finishOrder(session(context), nonce, await keyed(by, await keysNow()));
    return send({ done: order });
  });

  api.post('/inbox/sign', async (context) => {
    const { items, person } = await readJson(context, signBody);
    const page = mustSign(ports, context);
    const signer = { person, preferred: principalName(context.get('session').person) };
    const { nonce, challenge, keys, statement } = await signing.begin(session(context), items, signer);
    return send({ nonce, challenge, person: keys[0]?.person, statement, ...allowed(keys, page) });
  });

  api.post('/inbox/sign/finish', async (context) => {
    const { nonce, ...by } = await readJson(context, signedBody);
    const results = await signing.finish(session(context), nonce, await keyed(by, await keysNow()));
    return send({ results: results.map(signedToJson) });
  });
}

function mustSign(ports: WebPorts, context: Context<WebEnv>): { origin: string; rpId: string } {
  const page = ports.passkeyPage(context.req.raw);
  if (page.usable) return { origin: page.origin, rpId: page.rpId };
  throw new ToolError(
    'signature_required',
    `Browsers do not offer passkeys on ${page.origin}. Open ${page.instead} instead: run \`countersign open\` for a link.`,
  );
}

const usable = (keys: EnrolledKeys, page: { origin: string; rpId: string }) => allowed(keys.list, page);

/** Keys made on another page cannot sign here; the browser would only say that none was found. */
function allowed(keys: readonly EnrolledKey[], { origin, rpId }: { origin: string; rpId: string }) {
  const here = keys.filter((key) => key.rpId === rpId && key.origins.includes(origin));
  if (here.length === 0) {
    const pages = [...new Set(keys.flatMap((key) => key.origins))].join(', ');
    throw new ToolError('signature_required', `No passkey works on ${origin}. Sign on ${pages}.`);
  }
  return { allow: here.map(({ credential }) => credential), rp_id: rpId };
}

function keyed(
  { credential, ...signed }: Assertion & { credential: string },
  keys: EnrolledKeys,
): Assertion & { key: string } {
  const key = keys.list.find((one) => one.credential === credential);
  if (!key) throw new ToolError('signature_invalid', 'This passkey is not enrolled here. Nothing was done.');
  return { ...signed, key: key.fingerprint };
}

const toJson = ({ fingerprint, person, name, enrolledAt, rpId, origins, endorsedBy }: EnrolledKey) => ({
  fingerprint,
  person,
  name,
  enrolled_at: enrolledAt,
  rp_id: rpId,
  origins,
  countersigned_by: endorsedBy ?? null,
});

const signedToJson = ({ approval, decided, required, signed, error }: SignedOne) => ({
  id: approval.id,
  version: approval.version,
  state: approval.state,
  required,
  signed,
  result: error
    ? { status: 'refused', code: error.code, message: error.message, hint: error.hint }
    : decided?.outcome
      ? presentOutcome(decided.outcome)
      : null,
});
