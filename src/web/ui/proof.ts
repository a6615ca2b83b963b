import type { ProofFile } from '../../contract/ports.ts';

export interface Checked {
  readonly ok: boolean;
  /** What was looked at, in order, and how it came out. */
  readonly steps: readonly Step[];
}

interface Step {
  readonly text: string;
  readonly ok: boolean | 'unknown';
  /** Hashes and key names, for those who compare them. */
  readonly detail?: string;
}

const encoder = new TextEncoder();
const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const toHex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
const join = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};
const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

const leafHash = async (body: string): Promise<string> =>
  toHex(await sha256(join(Uint8Array.of(0), encoder.encode(body))));

const nodeHash = async (left: string, right: string): Promise<string> =>
  toHex(await sha256(join(Uint8Array.of(1), fromHex(left), fromHex(right))));

/** RFC 9162, section 2.1.3.2. */
async function isIncluded(
  leaf: string,
  index: number,
  size: number,
  path: readonly string[],
  root: string,
): Promise<boolean> {
  if (!(Number.isSafeInteger(size) && Number.isSafeInteger(index) && index >= 0 && index < size))
    return false;
  if (![leaf, root, ...path].every((hash) => /^[0-9a-f]{64}$/.test(hash))) return false;
  let at = index;
  let last = size - 1;
  let current = leaf;
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      current = await nodeHash(sibling, current);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else current = await nodeHash(current, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && current === root;
}

/** True or false; 'unknown' where this browser knows no Ed25519. */
async function isSigned(note: string, publicKey: string): Promise<boolean | 'unknown'> {
  const end = note.lastIndexOf('\n\n');
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(publicKey) ?? [];
  if (end < 0 || !name || !encoded) return false;
  const typed = fromBase64(encoded);
  const expected = toHex(await sha256(join(encoder.encode(`${name}\n`), typed))).slice(0, 8);
  if (typed.length !== 33 || typed[0] !== 1 || expected !== id) return false;
  const line = note
    .slice(end + 2)
    .split('\n')
    .find((one) => one.startsWith(`\u2014 ${name} `));
  const signature = line ? fromBase64(line.slice(name.length + 3)) : new Uint8Array();
  if (toHex(signature.subarray(0, 4)) !== id) return false;
  try {
    const key = await crypto.subtle.importKey('raw', join(typed.subarray(1)), { name: 'Ed25519' }, false, [
      'verify',
    ]);
    return await crypto.subtle.verify(
      'Ed25519',
      key,
      join(signature.subarray(4)),
      encoder.encode(note.slice(0, end + 1)),
    );
  } catch {
    return 'unknown';
  }
}

interface Expected {
  /** The keys that sign, or once signed, for this log. */
  readonly keys: readonly string[];
  /** What the call says is the hash of its last entry. */
  readonly evidenceHash: string | null;
  /** Where what the page shows about the call differs from its entries. */
  readonly differences: readonly string[];
}

/**
 * Checks, in the browser and with nothing but the proof itself, that a call's entries are in the log that was signed:
 * RFC 6962 hashes up to the root, and the Ed25519 signature on the checkpoint that names this root. What is wrong with
 * the proof is among the steps, also when it cannot even be read.
 */
export async function checkProof(proof: ProofFile, expected: Expected): Promise<Checked> {
  try {
    return await check(proof, expected);
  } catch {
    return {
      ok: false,
      steps: [{ text: 'The proof is unreadable: it was modified or truncated', ok: false }],
    };
  }
}

async function check(proof: ProofFile, { keys, evidenceHash, differences }: Expected): Promise<Checked> {
  const steps: Step[] = [];
  const leaves: string[] = [];
  const [origin = '', size = '', root = ''] = proof.checkpoint.split('\n');
  const rootHex = toHex(fromBase64(root));
  for (const { seq, body, path } of proof.entries) {
    const leaf = await leafHash(body);
    leaves.push(leaf);
    const inside = await isIncluded(leaf, seq, Number(size), path, rootHex);
    const own = aboutCall(body) === proof.call;
    steps.push({
      text: inside
        ? `Entry ${seq.toLocaleString('en')} is in the log of ${Number(size).toLocaleString('en')}`
        : `Entry ${seq} does not match the signed root: its body, position or path was modified`,
      ok: inside,
      ...(inside ? { detail: `${leaf} leads to the signed root through ${path.length} hashes` } : {}),
    });
    if (!own) steps.push({ text: `Entry ${seq} is about another call`, ok: false });
  }
  if (proof.entries.length === 0) steps.push({ text: 'The proof contains no entries', ok: false });
  if (Number(size) !== proof.size)
    steps.push({ text: 'The proof and its checkpoint differ in size', ok: false });
  const signed = await isSigned(proof.checkpoint, proof.publicKey);
  steps.push({
    text:
      signed === 'unknown'
        ? 'This browser cannot verify Ed25519 signatures; use `countersign audit check`'
        : signed
          ? "The log's checkpoint is signed by its key"
          : 'The checkpoint signature is invalid',
    ok: signed,
    detail: `${origin}, key ${proof.publicKey.split('+').slice(0, 2).join('+')}`,
  });
  if (!keys.includes(proof.publicKey))
    steps.push({ text: 'The checkpoint was signed with a key that does not belong to this log', ok: false });
  if (evidenceHash !== null && !leaves.includes(evidenceHash))
    steps.push({ text: "The call's evidence hash does not match any of these entries", ok: false });
  for (const what of differences) steps.push({ text: `What is stored about this call ${what}`, ok: false });
  if (differences.length === 0)
    steps.push({ text: 'What this page shows about the call is what its entries say', ok: true });
  return { ok: steps.every(({ ok }) => ok !== false), steps };
}

function aboutCall(body: string): unknown {
  try {
    return (JSON.parse(body) as { call?: unknown }).call;
  } catch {
    return undefined;
  }
}
