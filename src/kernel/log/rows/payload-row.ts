import type { AuditPayloadsTable } from '../../store/tables.ts';
import { fitsUnkept, type PayloadKind, payloadHash, wasKept } from '../log.ts';
import type { CallEntry } from './call-row.ts';

export type StoredPayload = Pick<AuditPayloadsTable, 'hash' | 'salt' | 'body' | 'at' | 'erased_at'>;

/** How a payload is stored, or what is wrong with it. */
export type PayloadVerdict =
  | { readonly state: 'verified' | 'unkept' | 'erased' }
  | { readonly state: 'wrong'; readonly why: string };

const wrong = (why: string): PayloadVerdict => ({ state: 'wrong', why });

/** Compares a stored payload with the hash and the time of the entry that commits to it. */
export function checkPayload(
  { hash, at }: { readonly hash: string; readonly at: string },
  row: StoredPayload | undefined,
): PayloadVerdict {
  if (!row) return wrong('is not stored');
  if (row.hash !== hash) return wrong('is stored with a different hash from the one in the entry');
  if (row.at !== at) return wrong(`is stored with the time ${row.at}, but the entry has ${at}`);
  if (row.body !== null) {
    if (row.erased_at !== null) return wrong('is marked erased, but the body is still there');
    if (payloadHash(row.salt + row.body) !== hash)
      return wrong('does not match the hash in the entry: body or salt was changed');
    return { state: 'verified' };
  }
  if (row.erased_at !== null)
    return row.salt === '' ? { state: 'erased' } : wrong('is marked erased, but the salt is still there');
  if (wasKept(hash)) return wrong('was stored, but is missing without an erasure');
  if (!fitsUnkept(hash, row.salt)) return wrong('has a different salt from the one used for the entry');
  return { state: 'unkept' };
}

const SHOWN: Readonly<Record<PayloadKind, string>> = {
  args: 'an arguments payload',
  result: 'a result payload',
};

/** Where the stored payloads of a call differ from its entries, one sentence part each; empty when they agree. */
export function payloadDifferences(
  entries: readonly CallEntry[],
  stored: ReadonlyMap<PayloadKind, StoredPayload | undefined>,
): string[] {
  return [...stored].flatMap(([kind, row]) => {
    const owner = entries.find(({ entry }) => entry[kind] !== undefined)?.entry;
    const hash = owner?.[kind];
    if (!owner || hash === undefined) return row ? [`has ${SHOWN[kind]} that no entry mentions`] : [];
    const verdict = checkPayload({ hash, at: owner.at }, row);
    return verdict.state === 'wrong' ? [`has ${SHOWN[kind]} that ${verdict.why}`] : [];
  });
}
