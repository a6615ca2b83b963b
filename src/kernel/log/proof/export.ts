import type { ProvenEntry } from '../../../contract/ports.ts';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import type { ArtifactStore } from '../artifacts.ts';
import { artifactId, type Entry } from '../entry.ts';
import type { LogSigner } from '../signing/checkpoint.ts';
import { type Envelope, signEnvelope } from '../signing/note.ts';
import { requireIntact, requireProven } from './intact.ts';
import { proveEntries } from './prove.ts';
import { supportOf } from './signatures.ts';
import { runStatements, STATEMENT_TYPE } from './statement.ts';

/** Everything about one run in one file that can be checked anywhere. */
export interface Bundle {
  /** Version 2 also proves who signed the approvals. */
  readonly format: 'countersign-bundle/1' | 'countersign-bundle/2';
  readonly run: string;
  readonly createdAt: string;
  readonly size: number;
  readonly checkpoint: string;
  /** Signed the checkpoint. */
  readonly publicKey: string;
  /** Signed the statements: the key in force now, where the checkpoint may be older. Null when nothing was signed. */
  readonly statementKey: string | null;
  readonly entries: readonly ProvenEntry[];
  /** Of version 2: the decisions, their signatures, and every entry about keys. */
  readonly support?: readonly ProvenEntry[];
  readonly payloads: readonly BundledPayload[];
  readonly artifacts: readonly BundledArtifact[];
  readonly statements: readonly Envelope[];
}

export interface BundledPayload {
  readonly call: string;
  readonly kind: string;
  readonly hash: string;
  readonly salt: string;
  readonly body: string | null;
  readonly erasedAt: string | null;
}

export interface BundledArtifact {
  readonly id: string;
  readonly name: string | null;
  readonly mediaType: string | null;
  /** Base64; null when it was erased. */
  readonly content: string | null;
}

export interface ExportContext {
  readonly artifacts: ArtifactStore;
  /** Without one the bundle has no signed statements; its entries are proven all the same. */
  readonly signer?: LogSigner;
  readonly now?: () => Date;
}

/** Undefined when no entry belongs to the run. Fails when the bundle would not be valid, and names the entry. */
export async function exportRun(
  database: Database,
  run: string,
  { artifacts, signer, now = () => new Date() }: ExportContext,
): Promise<Bundle | undefined> {
  const own = await entriesOfRun(database, run);
  if (own.length === 0) return undefined;
  const payloads = await payloadsOf(database, own);
  // Where something was erased, the entry that says so comes along, or the gap would look like tampering.
  const rows = [...own, ...(await erasuresOf(database, payloads))].sort((a, b) => a.seq - b.seq);
  // Otherwise statements would be signed about entries that were changed.
  requireIntact(rows);
  const support = await supportOf(database, rows);
  const proven = await proveEntries(database, signer, [...rows, ...support], now);
  const { checkpoint, publicKey } = proven;
  const head = requireProven(proven.entries, checkpoint.note);
  const stated = rows.map(({ seq, body }) => ({
    seq,
    hash: leafHash(body),
    entry: JSON.parse(body) as Entry,
  }));
  const statements = signer
    ? runStatements(run, head, stated).map((text) => signEnvelope(STATEMENT_TYPE, text, signer))
    : [];
  return {
    format: support.length > 0 ? 'countersign-bundle/2' : 'countersign-bundle/1',
    run,
    createdAt: now().toISOString(),
    size: head.size,
    checkpoint: checkpoint.note,
    publicKey,
    statementKey: signer?.key.text ?? null,
    entries: proven.entries.slice(0, rows.length),
    ...(support.length > 0 && { support: proven.entries.slice(rows.length) }),
    payloads,
    artifacts: await artifactsOf(
      artifacts,
      stated.map(({ entry }) => entry),
    ),
    statements,
  };
}

interface LogRow {
  readonly seq: number;
  readonly hash: string;
  readonly body: string;
  readonly call_id: string | null;
}

/** By run, and by call: a part of a call belongs to the run even where only the whole was marked with it. */
async function entriesOfRun(database: Database, run: string): Promise<LogRow[]> {
  const { db } = database;
  const calls = db
    .selectFrom('audit_log')
    .select('call_id')
    .where('run_id', '=', run)
    .where('call_id', 'is not', null);
  return db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body', 'call_id'])
    .where((eb) => eb.or([eb('run_id', '=', run), eb('call_id', 'in', calls)]))
    .orderBy('seq')
    .execute();
}

async function payloadsOf(database: Database, rows: readonly LogRow[]): Promise<BundledPayload[]> {
  const calls = [...new Set(rows.flatMap(({ call_id }) => (call_id === null ? [] : [call_id])))];
  const found: BundledPayload[] = [];
  for (let start = 0; start < calls.length; start += 500) {
    const some = await database.db
      .selectFrom('audit_payloads')
      .selectAll()
      .where('call_id', 'in', calls.slice(start, start + 500))
      .execute();
    for (const { call_id: call, kind, hash, salt, body, erased_at: erasedAt } of some) {
      found.push({ call, kind, hash, salt, body, erasedAt });
    }
  }
  return found.sort((a, b) => (`${a.call} ${a.kind}` < `${b.call} ${b.kind}` ? -1 : 1));
}

async function erasuresOf(database: Database, payloads: readonly BundledPayload[]): Promise<LogRow[]> {
  const times = [...new Set(payloads.flatMap(({ erasedAt }) => (erasedAt === null ? [] : [erasedAt])))];
  if (times.length === 0) return [];
  return database.db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body', 'call_id'])
    .where('kind', '=', 'erasure')
    .where('at', 'in', times)
    .execute();
}

async function artifactsOf(store: ArtifactStore, entries: readonly Entry[]): Promise<BundledArtifact[]> {
  const found = new Map<string, BundledArtifact>();
  for (const artifact of entries.flatMap((entry) => entry.artifacts ?? [])) {
    const id = artifactId(artifact);
    if (found.has(id)) continue;
    const { name, mediaType } = typeof artifact === 'string' ? { name: null, mediaType: null } : artifact;
    const bytes = await store.read(id);
    found.set(id, { id, name, mediaType, content: bytes ? Buffer.from(bytes).toString('base64') : null });
  }
  return [...found.values()];
}
