import { createHash } from 'node:crypto';
import { z } from 'zod';
import { artifactId, type Entry } from '../entry.ts';
import { fitsUnkept, payloadHash, wasKept } from '../log.ts';
import type { Checkpoint } from '../signing/checkpoint.ts';
import { envelopeShape, type NoteKey, openEnvelope, parseNoteKey } from '../signing/note.ts';
import { type CheckOptions, type CheckReport, checkEntries, evidenceShape, failed } from './check.ts';
import { runStatements, STATEMENT_TYPE } from './statement.ts';

const bundleShape = z.object({
  ...evidenceShape,
  format: z.enum(['countersign-bundle/1', 'countersign-bundle/2']),
  run: z.string(),
  statementKey: z.string().nullable(),
  payloads: z.array(
    z.object({
      call: z.string(),
      kind: z.string(),
      hash: z.string(),
      salt: z.string(),
      body: z.string().nullable(),
      erasedAt: z.string().nullable(),
    }),
  ),
  artifacts: z.array(z.object({ id: z.string(), content: z.string().nullable() })),
  statements: z.array(envelopeShape),
});
type BundleFile = z.infer<typeof bundleShape>;

/** Checks an exported run with nothing but the file and, if given, the public keys one trusts. */
export function checkBundle(file: unknown, options: CheckOptions = {}): CheckReport {
  const parsed = bundleShape.safeParse(file);
  if (!parsed.success) return failed([`Not an exported run: ${z.prettifyError(parsed.error)}`]);
  const bundle = parsed.data;
  const report = checkEntries(bundle, options);
  const { checkpoint } = report;
  if (!checkpoint) return { ...report, ok: false };
  const statementKey = bundle.statementKey === null ? null : readKey(bundle.statementKey);
  if (statementKey === undefined) return failed(['The key of the statements is unreadable.']);
  const supporting = new Set(bundle.support.map(({ seq }) => seq));
  const own = report.entries.filter(({ seq }) => !supporting.has(seq));
  const entries = own.map(({ entry }) => entry);
  const problems = [
    ...report.problems,
    ...membershipErrors(bundle, entries),
    ...payloadErrors(bundle, entries),
    ...artifactErrors(bundle, entries),
    ...statementErrors(bundle, statementKey, { checkpoint, entries: own }, options),
  ];
  return { ...report, problems, ok: problems.length === 0 };
}

function* membershipErrors({ run }: BundleFile, entries: readonly Entry[]): Generator<string> {
  const calls = new Set(entries.flatMap((entry) => (entry.run === run ? [entry.call] : [])));
  for (const { kind, run: own, call } of entries) {
    if (own !== run && kind !== 'erasure' && !(call !== undefined && calls.has(call))) {
      yield `An entry of kind ${kind} does not belong to run ${run}.`;
    }
  }
}

function* payloadErrors({ payloads }: BundleFile, entries: readonly Entry[]): Generator<string> {
  const erasures = new Set(entries.flatMap(({ kind, at }) => (kind === 'erasure' ? [at] : [])));
  const stored = new Map(
    payloads.map((payload) => [`${payload.call} ${payload.kind} ${payload.hash}`, payload]),
  );
  for (const { call, args, result } of entries) {
    for (const [kind, hash] of [
      ['args', args],
      ['result', result],
    ] as const) {
      if (hash === undefined) continue;
      const key = `${call} ${kind} ${hash}`;
      const payload = stored.get(key);
      stored.delete(key);
      const fault = payload ? payloadError(payload, erasures) : 'is missing or has a different hash';
      if (fault) yield `The ${kind} payload of call ${call} ${fault}.`;
    }
  }
  for (const { call, kind } of stored.values())
    yield `No entry refers to the ${kind} payload of call ${call}.`;
}

function payloadError(
  { hash, salt, body, erasedAt }: BundleFile['payloads'][number],
  erasures: ReadonlySet<string>,
): string | undefined {
  if (body !== null)
    return payloadHash(salt + body) === hash ? undefined : 'does not match the hash in the entry';
  if (erasedAt !== null)
    return erasures.has(erasedAt) ? undefined : 'is missing, but no entry records an erasure at that time';
  if (wasKept(hash)) return 'is missing without an erasure';
  return fitsUnkept(hash, salt) ? undefined : 'has a different salt from the one used for the entry';
}

function* artifactErrors({ artifacts }: BundleFile, entries: readonly Entry[]): Generator<string> {
  const erased = new Set(
    entries.flatMap(({ kind, extra }) =>
      kind === 'erasure' && Array.isArray(extra?.artifacts) ? extra.artifacts : [],
    ),
  );
  const named = new Set(entries.flatMap((entry) => (entry.artifacts ?? []).map(artifactId)));
  for (const { id, content } of artifacts) {
    if (!named.delete(id)) yield `No entry refers to artifact ${id}.`;
    if (content === null) {
      if (!erased.has(id)) yield `Artifact ${id} is missing, and no entry records its erasure.`;
    } else if (`sha256:${createHash('sha256').update(content, 'base64').digest('hex')}` !== id) {
      yield `Artifact ${id} was changed.`;
    }
  }
  for (const id of named) yield `Artifact ${id} is missing.`;
}

function* statementErrors(
  { run, statements }: BundleFile,
  key: NoteKey | null,
  { checkpoint, entries }: { readonly checkpoint: Checkpoint } & Pick<CheckReport, 'entries'>,
  { publicKeys = [] }: CheckOptions,
): Generator<string> {
  if (key === null) {
    if (statements.length > 0) yield 'The statements name no key that signed them.';
    return;
  }
  if (publicKeys.length > 0 && !publicKeys.some((given) => given.trim() === key.text)) {
    yield 'The statements are not signed by any of the given keys.';
    return;
  }
  const expected = runStatements(run, checkpoint, entries);
  for (const [index, text] of expected.entries()) {
    const envelope = statements[index];
    const opened = envelope?.payloadType === STATEMENT_TYPE ? openEnvelope(envelope, key) : undefined;
    if (opened === undefined) yield `Statement ${index + 1} is missing or not signed by ${key.id}.`;
    else if (opened !== text) yield `Statement ${index + 1} does not match the entries.`;
  }
  if (statements.length > expected.length) yield 'There are statements that the entries do not support.';
}

function readKey(text: string): NoteKey | undefined {
  try {
    return parseNoteKey(text);
  } catch {
    return undefined;
  }
}
