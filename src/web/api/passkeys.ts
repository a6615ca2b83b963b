import type { Context, Hono } from 'hono';
import { ToolError } from '../../contract/errors.ts';
import { principalName } from '../../contract/principal.ts';
import type { SignedOne } from '../../kernel/approvals/sign.ts';
import type { Assertion } from '../../kernel/log/passkeys/assertion.ts';
import type { EnrolledKey, EnrolledKeys } from '../../kernel/log/passkeys/enrolled.ts';
import type { WebPorts } from '../ports.ts';
import type { Passkey, SignedResult } from '../routes/shapes.ts';
import type { WebEnv } from '../sign-in.ts';
import { answer } from './answer.ts';
import { presentOutcome } from './body.ts';

/** Passkeys: which there are, enrolling and removing them, and signing decisions with them. */
export function addPasskeyRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  const { passkeys, signing } = ports.kernel;
  const session = (context: Context<WebEnv>): string => context.get('session').id;
  const keysNow = async (): Promise<EnrolledKeys> => (await passkeys.state()).keys;

  answer(api, 'GET /passkeys', async (context) => {
    const keys = await keysNow();
    const page = ports.passkeyPage(context.req.raw);
    return {
      keys: keys.list.map(toJson),
      mode: keys.mode,
      configured: ports.passkeyMode,
      resets: keys.resets,
      person: principalName(context.get('session').person),
      page,
    };
  });

  answer(api, 'POST /passkeys/enrol', async (context, { name, person, credential, spki, alg }) => {
    const page = mustSign(ports, context);
    const whose = person ? `person:${person}` : principalName(context.get('session').person);
    const key = { credential, spki, alg, name, rpId: page.rpId, origins: [page.origin], person: whose };
    const { nonce, challenge } = await passkeys.beginEnrolment(session(context), key);
    return { nonce, challenge, allow: [credential], rp_id: page.rpId };
  });

  answer(api, 'POST /passkeys/enrol/finish', async (context, { nonce, ...possession }) => {
    const done = await passkeys.finishEnrolment(session(context), nonce, possession);
    if ('fingerprint' in done) return { enrolled: toJson(done) };
    const allow = usable(await keysNow(), mustSign(ports, context));
    return { countersign: { nonce: done.nonce, challenge: done.challenge, ...allow } };
  });

  answer(api, 'POST /passkeys/enrol/countersign', async (context, { nonce, ...by }) => {
    const signed = await keyed(by, await keysNow());
    return { enrolled: toJson(await passkeys.finishCountersigned(session(context), nonce, signed)) };
  });

  answer(api, 'POST /passkeys/order', async (context, order) => {
    const page = mustSign(ports, context);
    const { nonce, challenge } = await passkeys.beginOrder(session(context), order);
    return { nonce, challenge, ...usable(await keysNow(), page) };
  });

  answer(api, 'POST /passkeys/order/finish', async (context, { nonce, ...by }) => {
    const order = await passkeys.finishOrder(session(context), nonce, await keyed(by, await keysNow()));
    return { done: order };
  });

  answer(api, 'POST /inbox/sign', async (context, { items, person }) => {
    const page = mustSign(ports, context);
    const signer = { person, preferred: principalName(context.get('session').person) };
    const { nonce, challenge, keys, statement } = await signing.begin(session(context), items, signer);
    return { nonce, challenge, person: keys[0]?.person, statement, ...allowed(keys, page) };
  });

  answer(api, 'POST /inbox/sign/finish', async (context, { nonce, ...by }) => {
    const results = await signing.finish(session(context), nonce, await keyed(by, await keysNow()));
    return { results: results.map(signedToJson) };
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

const toJson = ({
  fingerprint,
  person,
  name,
  enrolledAt,
  rpId,
  origins,
  endorsedBy,
}: EnrolledKey): Passkey => ({
  fingerprint,
  person,
  name,
  enrolled_at: enrolledAt,
  rp_id: rpId,
  origins,
  countersigned_by: endorsedBy ?? null,
});

const signedToJson = ({ approval, decided, required, signed, error }: SignedOne): SignedResult => ({
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
