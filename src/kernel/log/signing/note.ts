import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { z } from 'zod';

/** The signature type C2SP signed-note gives to plain Ed25519. */
const ED25519 = 1;
const DASH = '\u2014';

/** A public key as notes know it. The written form is `name+hash+base64`, what other tools call a vkey. */
export interface NoteKey {
  readonly name: string;
  /** Eight hex digits: the first four bytes of a hash over name and key. */
  readonly id: string;
  readonly text: string;
  readonly publicKey: KeyObject;
}

export interface NoteSigner {
  readonly key: NoteKey;
  sign(message: Uint8Array): Uint8Array;
}

export type OpenedNote =
  | { readonly ok: true; readonly text: string; readonly key: NoteKey }
  | {
      readonly ok: false;
      readonly text: string | undefined;
      readonly problem: string;
      readonly signers: readonly string[];
    };

export function noteKey(name: string, publicKey: KeyObject): NoteKey {
  if (!/^[^\s+]+$/.test(name)) throw new Error(`"${name}" cannot name a key: no spaces and no plus sign.`);
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  if (publicKey.asymmetricKeyType !== 'ed25519' || raw.length !== 32)
    throw new Error('Only Ed25519 keys sign notes.');
  const typed = Buffer.concat([Buffer.of(ED25519), raw]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed])).slice(0, 8);
  return { name, id, text: `${name}+${id}+${typed.toString('base64')}`, publicKey };
}

/** Reads the written form; a damaged one is an error that says so. */
export function parseNoteKey(text: string): NoteKey {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text.trim()) ?? [];
  const typed = Buffer.from(encoded ?? '', 'base64');
  if (!name || typed.length !== 33 || typed[0] !== ED25519) {
    throw new Error(`"${text.slice(0, 120)}" is not a public key of the form name+hash+base64.`);
  }
  const x = typed.subarray(1).toString('base64url');
  const key = noteKey(name, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }));
  if (key.id !== id) throw new Error(`The public key of ${name} does not match its own hash ${id}.`);
  return key;
}

/** `text` must end with a newline. */
export function signNote(text: string, signer: NoteSigner): string {
  const signature = Buffer.concat([Buffer.from(signer.key.id, 'hex'), signer.sign(Buffer.from(text))]);
  return `${text}\n${DASH} ${signer.key.name} ${signature.toString('base64')}\n`;
}

/** Signatures by other keys (witnesses) are passed over; one by a known key must be there and be right. */
export function openNote(note: string, keys: readonly NoteKey[]): OpenedNote {
  const end = note.lastIndexOf('\n\n');
  const text = end < 0 ? undefined : note.slice(0, end + 1);
  const lines = note.slice(end + 2).split('\n');
  const bad = (problem: string, signers: string[] = []): OpenedNote => ({
    ok: false,
    text,
    problem,
    signers,
  });
  if (text === undefined || lines.pop() !== '' || lines.length === 0) return bad('is not a signed note');
  const signers: string[] = [];
  for (const line of lines) {
    const [, name, encoded] = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded ?? '', 'base64');
    // A signature written in two ways would let a bit of the note change unseen.
    if (!name || bytes.length < 5 || bytes.toString('base64') !== encoded)
      return bad('has a malformed signature line');
    const id = bytes.subarray(0, 4).toString('hex');
    signers.push(`${name}+${id}`);
    const key = keys.find((one) => one.name === name && one.id === id);
    if (!key) continue;
    if (!verify(null, Buffer.from(text), key.publicKey, bytes.subarray(4)))
      return bad('has an invalid signature', signers);
    return { ok: true, text, key };
  }
  return bad(`is not signed by a known key (it names ${signers.join(', ')})`, signers);
}

/** Dead Simple Signing Envelope: what in-toto statements travel in. */
export const envelopeShape = z.object({
  payloadType: z.string(),
  payload: z.string(),
  signatures: z.array(z.object({ keyid: z.string().optional(), sig: z.string() })).min(1),
});
export type Envelope = z.infer<typeof envelopeShape>;

export function signEnvelope(payloadType: string, body: string, signer: NoteSigner): Envelope {
  const bytes = Buffer.from(body);
  const sig = Buffer.from(signer.sign(preAuthEncoding(payloadType, bytes))).toString('base64');
  const keyid = `${signer.key.name}+${signer.key.id}`;
  return { payloadType, payload: bytes.toString('base64'), signatures: [{ keyid, sig }] };
}

/** The signed text, or undefined when no signature is by this key. The key id is only a hint and not believed. */
export function openEnvelope(
  { payloadType, payload, signatures }: Envelope,
  key: NoteKey,
): string | undefined {
  const bytes = Buffer.from(payload, 'base64');
  const message = preAuthEncoding(payloadType, bytes);
  const signed = signatures.some(({ sig }) =>
    verify(null, message, key.publicKey, Buffer.from(sig, 'base64')),
  );
  return signed ? bytes.toString('utf8') : undefined;
}

function preAuthEncoding(type: string, body: Uint8Array): Uint8Array {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.byteLength} `;
  return Buffer.concat([Buffer.from(head), body]);
}
