import { ALGORITHMS } from '../../contract/passkeys.ts';
import { lookup } from '../../lib/lookup.ts';
import type { SignedResult, ToSign } from '../routes/shapes.ts';
import { ApiError, post } from './api.ts';

const TIMEOUT_MS = 110_000;

const decode = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));

const encode = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? [])))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Asks the authenticator for a signature; what the server gets to see is as the browser gave it. */
export async function sign({ nonce, challenge, allow, rp_id }: ToSign, signal?: AbortSignal) {
  const given = await asked(() =>
    navigator.credentials.get({
      ...(signal ? { signal } : {}),
      publicKey: {
        challenge: decode(challenge),
        rpId: rp_id,
        allowCredentials: allow.map((id) => ({ type: 'public-key' as const, id: decode(id) })),
        userVerification: 'required',
        timeout: TIMEOUT_MS,
      },
    }),
  );
  const { response, rawId } = given as PublicKeyCredential & { response: AuthenticatorAssertionResponse };
  return {
    nonce,
    credential: encode(rawId),
    authenticatorData: encode(response.authenticatorData),
    clientData: encode(response.clientDataJSON),
    signature: encode(response.signature),
  };
}

/** Makes a key on this device, another one or a security key. */
export async function create(rpId: string, person: string) {
  const made = await asked(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: rpId, name: 'Countersign' },
        user: { id: crypto.getRandomValues(new Uint8Array(16)), name: person, displayName: person },
        // Nothing is proven by the registration itself: the key signs its own enrolment right after.
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
        authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
        timeout: TIMEOUT_MS,
      },
    }),
  );
  const { response, rawId } = made as PublicKeyCredential & { response: AuthenticatorAttestationResponse };
  return {
    credential: encode(rawId),
    spki: encode(response.getPublicKey()),
    alg: response.getPublicKeyAlgorithm(),
  };
}

/** Signs decisions: one signature for all of these items, which must be on screen. */
export async function signDecisions(
  items: readonly { readonly id: number; readonly version: number }[],
  { onAsk, signal }: SignOptions = {},
): Promise<readonly SignedResult[]> {
  const shown = items.map(({ id, version }) => ({ id, version }));
  const request = await post('/inbox/sign', { items: shown, person: signer });
  onAsk?.(request);
  const { results } = await post('/inbox/sign/finish', await sign(request, signal));
  return results;
}

interface SignOptions {
  /** What the authenticator is about to sign. */
  onAsk?(request: ToSign): void;
  readonly signal?: AbortSignal;
}

/** The digest that is signed, as it is read aloud and compared. */
export function readableDigest(challenge: string): string {
  const hex = [...decode(challenge)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 4)} ${hex.slice(4, 8)} ${hex.slice(8, 12)} ${hex.slice(12, 16)} … ${hex.slice(-4)}`;
}

let signer: string | undefined;

/** Who signs next on this page; undefined: the server prefers the signed-in person. */
export const signAs = (person: string | undefined): void => {
  signer = person;
};

/** Browsers report little about the cause, on purpose; the person must know that nothing was done. */
const CAUSES: Readonly<Record<string, string>> = {
  NotAllowedError: 'Not signed: cancelled, timed out, or no enrolled passkey was found.',
  AbortError: 'Not signed: cancelled.',
  OperationError: 'This page is already waiting for the authenticator.',
};

async function asked(work: () => Promise<Credential | null>): Promise<Credential> {
  try {
    const credential = await work();
    if (credential) return credential;
    throw new Error('Not signed.');
  } catch (fault) {
    const { name, message } = fault instanceof Error ? fault : new Error(String(fault));
    const error = `${lookup(CAUSES, name) ?? message} Nothing was done.`;
    throw new ApiError(0, { error, code: 'not_signed', hint: 'Try again, with an enrolled passkey.' });
  }
}
