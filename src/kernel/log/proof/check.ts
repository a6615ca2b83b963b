import { z } from 'zod';
import { canonicalJson } from '../../../lib/canonical.ts';
import { leafHash, verifyInclusion } from '../../../lib/merkle.ts';
import type { Entry } from '../entry.ts';
import { type Checkpoint, parseCheckpoint } from '../signing/checkpoint.ts';
import { type NoteKey, openNote, parseNoteKey } from '../signing/note.ts';
import { checkSignatures, type Signer } from './signatures.ts';

const provenEntries = z.array(
  z.object({ seq: z.int().nonnegative(), body: z.string(), path: z.array(z.string()) }),
);

const proofFile = z.object({
  format: z.enum(['countersign-proof/1', 'countersign-proof/2']),
  call: z.string(),
  entries: provenEntries.min(1),
  support: provenEntries.default([]),
  size: z.int().positive(),
  checkpoint: z.string(),
  publicKey: z.string(),
});

export interface CheckReport {
  readonly ok: boolean;
  /** False when only the file itself vouches for the key: then it only shows that the file is consistent. */
  readonly trusted: boolean;
  readonly key: string | undefined;
  readonly checkpoint: Checkpoint | undefined;
  readonly entries: readonly { readonly seq: number; readonly hash: string; readonly entry: Entry }[];
  /** Who signed the approvals, as far as the file proves it. */
  readonly signers: readonly Signer[];
  readonly problems: readonly string[];
}

export interface CheckOptions {
  /** Keys the caller vouches for, as `name+hash+base64`. */
  readonly publicKeys?: readonly string[];
  /** Fingerprints of passkeys the caller vouches for. */
  readonly signers?: readonly string[];
}

/** Checks a proof file with nothing but the file and, if given, the public keys one trusts. */
export function checkProof(file: unknown, options: CheckOptions = {}): CheckReport {
  const parsed = proofFile.safeParse(file);
  if (!parsed.success) return failed([`Not a proof file: ${z.prettifyError(parsed.error)}`]);
  const { call, entries, support, size, checkpoint, publicKey } = parsed.data;
  const report = checkEntries({ entries, support, checkpoint, publicKey }, options);
  const problems = [...report.problems];
  if (report.checkpoint && report.checkpoint.size !== size) {
    problems.push(
      `The file says that the audit log had ${size} entries; its checkpoint says ${report.checkpoint.size}.`,
    );
  }
  const supporting = new Set(support.map(({ seq }) => seq));
  for (const { seq, entry } of report.entries) {
    if (!supporting.has(seq) && entry.call !== call)
      problems.push(`Entry ${seq} is about call ${entry.call}, not ${call}.`);
  }
  return { ...report, problems, ok: problems.length === 0 };
}

export interface Evidence {
  readonly entries: z.infer<typeof provenEntries>;
  readonly support: z.infer<typeof provenEntries>;
  readonly checkpoint: string;
  readonly publicKey: string;
}

export const evidenceShape = {
  entries: provenEntries,
  support: provenEntries.default([]),
  checkpoint: z.string(),
  publicKey: z.string(),
};

/** The part that proof files and bundles have in common: entries, each with its path to one signed root. */
export function checkEntries(
  { entries, support, checkpoint, publicKey }: Evidence,
  options: CheckOptions,
): Omit<CheckReport, 'ok'> {
  let own: NoteKey;
  let given: NoteKey[];
  try {
    own = parseNoteKey(publicKey);
    given = (options.publicKeys ?? []).map(parseNoteKey);
  } catch (error) {
    return failed([error instanceof Error ? error.message : String(error)]);
  }
  const opened = openNote(checkpoint, given.length > 0 ? given : [own]);
  if (!opened.ok) return failed([`The checkpoint ${opened.problem}.`]);
  const head = parseCheckpoint(opened.text);
  if (!head || head.origin !== opened.key.name)
    return failed(['The signed note is not a checkpoint of this log.']);

  const problems: string[] = [];
  if (opened.key.text !== own.text)
    problems.push('The file names a different key from the one that signed it.');
  const found = [...entries, ...support].flatMap(({ seq, body, path }) => {
    const hash = leafHash(body);
    if (!verifyInclusion(hash, seq, head.size, path, head.root)) {
      problems.push(`Entry ${seq} is not in the signed log: its body, position or path was changed.`);
    }
    const entry = readEntry(body);
    if (!entry) problems.push(`Entry ${seq} is unreadable.`);
    return entry ? [{ seq, hash, entry }] : [];
  });
  const trusted = given.length > 0;
  const checked = checkSignatures(found, options.signers ?? []);
  problems.push(...checked.problems);
  return {
    signers: checked.signers,
    trusted,
    key: opened.key.text,
    checkpoint: head,
    entries: found,
    problems,
  };
}

export const failed = (problems: readonly string[]): CheckReport => ({
  ok: false,
  trusted: false,
  key: undefined,
  checkpoint: undefined,
  entries: [],
  signers: [],
  problems,
});

function readEntry(body: string): Entry | undefined {
  try {
    const entry = JSON.parse(body) as Entry;
    // Signatures are over the canonical form; what has none would end the check with an error instead of a report.
    canonicalJson(entry);
    return entry;
  } catch {
    return undefined;
  }
}
