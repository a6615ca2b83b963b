import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isObject } from '../../../lib/is-object.ts';
import { lookup } from '../../../lib/lookup.ts';

export interface PublicKey {
  /** SubjectPublicKeyInfo, DER in base64url, as `getPublicKey()` gives it. */
  readonly spki: string;
  readonly alg: number;
  readonly rpId: string;
  readonly origins: readonly string[];
}

/** What `navigator.credentials.get()` returned, as received, in base64url. */
export interface Assertion {
  readonly authenticatorData: string;
  readonly clientData: string;
  readonly signature: string;
}

export type Verification =
  | { readonly ok: true; readonly counter: number }
  | { readonly ok: false; readonly why: string };

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
/** RP ID hash, flags, counter. */
const LEAST = 37;

/** Verifies one signature: by this key and a verified person, on exactly this challenge, from exactly these pages. */
export function verifyAssertion(key: PublicKey, challenge: Buffer, assertion: Assertion): Verification {
  const data = Buffer.from(assertion.authenticatorData, 'base64url');
  const client = Buffer.from(assertion.clientData, 'base64url');
  const said = readClientData(client);
  if (!said) return no('the client data is not a JSON object');
  if (said.type !== 'webauthn.get') return no('it is not a signature of an approval');
  if (said.challenge !== challenge.toString('base64url')) return no('it signs something else');
  if (!key.origins.includes(said.origin)) return no(`it was made on ${said.origin || 'another page'}`);
  if (said.isCrossOrigin) return no('it was made inside another page');
  if (data.length < LEAST) return no('the authenticator data is too short');
  if (!data.subarray(0, 32).equals(sha256(key.rpId))) return no('it was made for another site');
  const flags = data[32] ?? 0;
  if ((flags & USER_PRESENT) === 0) return no('no one touched the authenticator');
  if ((flags & USER_VERIFIED) === 0) return no('the authenticator did not verify the person');
  const signed = Buffer.concat([data, sha256(client)]);
  if (!isSignedBy(key, signed, Buffer.from(assertion.signature, 'base64url')))
    return no('the signature is not valid for this key');
  return { ok: true, counter: data.readUInt32BE(33) };
}

interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  readonly isCrossOrigin: boolean;
}

function readClientData(bytes: Buffer): ClientData | undefined {
  try {
    const said: unknown = JSON.parse(bytes.toString('utf8'));
    if (!isObject(said)) return undefined;
    const text = (name: string): string => {
      const value = lookup(said, name);
      return typeof value === 'string' ? value : '';
    };
    return {
      type: text('type'),
      challenge: text('challenge'),
      origin: text('origin'),
      isCrossOrigin: said.crossOrigin === true,
    };
  } catch {
    return undefined;
  }
}

function isSignedBy({ spki, alg }: PublicKey, signed: Buffer, signature: Buffer): boolean {
  const key = readKey(spki);
  if (!key || !fitsAlgorithm(key, alg)) return false;
  try {
    return verify(alg === -8 ? null : 'sha256', signed, key, signature);
  } catch {
    return false;
  }
}

/** Reading a key takes longer than verifying with it, and few keys sign everything. */
const kept = new Map<string, KeyObject | undefined>();
const KEPT = 200;

export function readKey(spki: string): KeyObject | undefined {
  if (kept.has(spki)) return kept.get(spki);
  let key: KeyObject | undefined;
  try {
    key = createPublicKey({ key: Buffer.from(spki, 'base64url'), format: 'der', type: 'spki' });
  } catch {
    key = undefined;
  }
  if (kept.size >= KEPT) kept.clear();
  kept.set(spki, key);
  return key;
}

/** Checks that the algorithm uses this kind of key and that the key is long enough. */
export function fitsAlgorithm(key: KeyObject, alg: number): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (alg === -7) return type === 'ec' && details?.namedCurve === 'prime256v1';
  if (alg === -8) return type === 'ed25519';
  return alg === -257 && type === 'rsa' && (details?.modulusLength ?? 0) >= 2048;
}

export const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();

/** The first 16 bytes of the key's SHA-256: short enough to write down, long enough that no second key has them. */
export const fingerprintOf = (spki: string): string =>
  sha256(Buffer.from(spki, 'base64url')).subarray(0, 16).toString('hex');

const no = (why: string): Verification => ({ ok: false, why });
