import { ToolError } from '../../../contract/errors.ts';
import { leafHash, verifyInclusion } from '../../../lib/merkle.ts';
import { type Entry, readBody } from '../entry.ts';
import { type Checkpoint, checkpointIn } from '../signing/checkpoint.ts';

interface LogRow {
  readonly seq: number;
  readonly body: string;
}

/** Before anything is read from the entries: each is what its hash is over. */
export function requireIntact(rows: readonly (LogRow & { readonly hash: string })[]): void {
  for (const { seq, hash, body } of rows) {
    if (leafHash(body) !== hash)
      throw invalid(seq, 'does not match its hash: its body or its hash was changed');
    requireEntry({ seq, body });
  }
}

export function requireEntry({ seq, body }: LogRow): Entry {
  const entry = readBody(body);
  if (!entry) throw invalid(seq, 'cannot be read');
  return entry;
}

/** The checkpoint, to whose root each path leads. */
export function requireProven(
  entries: readonly (LogRow & { readonly path: readonly string[] })[],
  note: string,
): Checkpoint {
  const head = checkpointIn(note);
  if (!head) throw new Error('The last checkpoint is unreadable. Run `countersign audit verify`.');
  for (const { seq, body, path } of entries)
    if (!verifyInclusion(leafHash(body), seq, head.size, path, head.root))
      throw invalid(
        seq,
        'is not in the tree that the last checkpoint signed: an entry or a node was changed',
      );
  return head;
}

const invalid = (seq: number, why: string): ToolError =>
  new ToolError(
    'db_error',
    `Entry ${seq} of the audit log ${why}. Nothing can be proven with it. Run \`countersign audit verify\`.`,
    { retryable: false, hint: 'Restore a backup from before the change.' },
  );
