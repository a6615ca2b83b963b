import { createHash, createPublicKey, verify } from 'node:crypto';

// A second reader of proofs and exported runs. It shares no code with the product on purpose: it was written from the
// format alone, so what both accept does not rest on one mistake.

type Json = { [name: string]: unknown };
interface Proven {
  readonly seq: number;
  readonly body: string;
  readonly path: readonly string[];
}
interface File {
  readonly entries: readonly Proven[];
  readonly support?: readonly Proven[];
  readonly checkpoint: string;
  readonly publicKey: string;
}
interface Key {
  readonly spki: string;
  readonly alg: number;
  readonly rpId: string;
  readonly origins: readonly string[];
  readonly person: string;
}

const sha = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const need = (isMet: boolean, what: string): void => {
  if (!isMet) throw new Error(what);
};
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, one]) => [name, sorted(one)]),
        )
      : value;
const canonical = (value: unknown): string => JSON.stringify(sorted(value));
const bytes = (text: unknown): Buffer => Buffer.from(String(text), 'base64url');

/** The signed head of the log: its size and root. */
function openCheckpoint({ checkpoint, publicKey }: File): { size: number; root: Buffer } {
  const [, name = '', , raw = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(publicKey) ?? [];
  const x = Buffer.from(raw, 'base64').subarray(1).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const end = checkpoint.lastIndexOf('\n\n');
  const text = checkpoint.slice(0, end + 1);
  const lines = checkpoint.slice(end + 2).split('\n');
  const signed = lines.some((line) => {
    const [dash, who, signature = ''] = line.split(' ');
    const made = Buffer.from(signature, 'base64').subarray(4);
    return dash === '\u2014' && who === name && verify(null, Buffer.from(text), key, made);
  });
  need(signed, 'the checkpoint is not signed by the key of the file');
  const [, size, root = ''] = text.split('\n');
  return { size: Number(size), root: Buffer.from(root, 'base64') };
}

/** RFC 9162, 2.1.3.2. */
function isIncluded({ seq, body, path }: Proven, size: number, root: Buffer): boolean {
  let [at, last] = [seq, size - 1];
  let hash = sha('\0', body);
  for (const step of path) {
    if (last === 0) return false;
    const other = Buffer.from(step, 'hex');
    if (at % 2 === 1 || at === last) {
      hash = sha('\x01', other, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1];
    } else hash = sha('\x01', hash, other);
    [at, last] = [at >> 1, last >> 1];
  }
  return last === 0 && hash.equals(root);
}

function requireSigned(key: Key | undefined, statement: unknown, by: Json): void {
  need(key !== undefined, 'a key signed that was not enrolled');
  if (!key) return;
  const data = bytes(by.authenticatorData);
  const client = bytes(by.clientData);
  const said = JSON.parse(client.toString()) as Json;
  need(said.type === 'webauthn.get', 'not an assertion');
  need(said.challenge === sha(canonical(statement)).toString('base64url'), 'something else was signed');
  need(key.origins.includes(String(said.origin)), 'signed on another page');
  need(data.subarray(0, 32).equals(sha(key.rpId)), 'signed for another site');
  need(((data[32] ?? 0) & 5) === 5, 'no person was verified');
  const spki = createPublicKey({ key: bytes(key.spki), format: 'der', type: 'spki' });
  const hash = key.alg === -8 ? null : 'sha256';
  need(verify(hash, Buffer.concat([data, sha(client)]), spki, bytes(by.signature)), 'the signature is wrong');
}

/** Throws what does not hold; otherwise which person signed which call, by the key of which fingerprint. */
export function verifyFile(file: File): { call: string; person: string; key: string }[] {
  const { size, root } = openCheckpoint(file);
  const all = [...file.entries, ...(file.support ?? [])].sort((a, b) => a.seq - b.seq);
  const keys = new Map<string, Key>();
  const made = new Map<string, { statement: Json; person: string; key: string }>();
  const decided = new Map<string, { person: string; key: string }[]>();
  const out: { call: string; person: string; key: string }[] = [];
  const log = sha('\0', all[0]?.body ?? '').toString('hex');
  for (const one of all) {
    need(isIncluded(one, size, root), `entry ${one.seq} is not in the log`);
    const entry = JSON.parse(one.body) as Json;
    const extra = (entry.extra ?? {}) as Json;
    const [statement, by] = [(extra.statement ?? {}) as Json, (extra.by ?? {}) as Json];
    if (entry.kind === 'passkey' && extra.action === 'reset') keys.clear();
    else if (entry.kind === 'passkey' || entry.kind === 'signature') {
      need(all[0]?.seq === 0 && statement.log === log, 'signed for another log');
      if (extra.action === 'enrol') {
        const key = { ...(statement.key as Json), person: statement.person } as unknown as Key;
        requireSigned(key, statement, extra.possession as Json);
        const countersigned = extra.countersigned as Json | undefined;
        if (keys.size > 0 || countersigned)
          requireSigned(keys.get(String(countersigned?.key)), statement, countersigned ?? {});
        keys.set(sha(bytes(key.spki)).subarray(0, 16).toString('hex'), key);
      } else requireSigned(keys.get(String(by.key)), statement, by);
      if (extra.action === 'remove') keys.delete(String((statement.order as Json).key));
      const person = keys.get(String(by.key))?.person ?? '';
      if (entry.kind === 'signature')
        made.set(sha('\0', one.body).toString('hex'), { statement, person, key: String(by.key) });
    }
    const approval = (entry.approval ?? {}) as Json;
    if (entry.kind === 'approval' && entry.status === 'approved' && extra.signed) {
      const { item: parts, by: list } = extra.signed as { item: Json; by: { entry: string; salt: string }[] };
      const { uuid, permit, approver: _, ...call } = approval;
      const item = { ...parts, ...call, approval: uuid, kind: permit ? 'permit' : 'call', tool: entry.tool };
      const people = list.map(({ entry: hash, salt }) => {
        const { statement: about, ...who } = made.get(hash) ?? { statement: {}, person: '', key: '' };
        const covered = ((about.items ?? []) as string[]).includes(
          sha(canonical({ ...item, salt })).toString('hex'),
        );
        need(covered && about.person === who.person, 'a signature does not cover the decision');
        return who;
      });
      decided.set(canonical([uuid, entry.tool, call.digest, permit ? null : call.requester]), people);
    }
    const [digest, who] = approval.permit ? [approval.digest, null] : [entry.digest, entry.principal];
    if (entry.kind === 'intent' && entry.parent === undefined)
      for (const one of decided.get(canonical([approval.uuid, entry.tool, digest, who])) ?? [])
        out.push({ call: String(entry.call), ...one });
  }
  return out;
}
