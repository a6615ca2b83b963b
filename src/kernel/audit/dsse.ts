import { verify } from 'node:crypto';
import { z } from 'zod';
import type { NoteKey, NoteSigner } from './note.ts';

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
