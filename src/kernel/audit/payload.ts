import { hash, randomBytes } from 'node:crypto';
import type { JsonValue } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import type { PreparedEntry } from './entry.ts';

export type PayloadKind = 'args' | 'result';

export interface SealedPayload {
  /** What the entry holds: `sha256:<hex>`, or `unkept:sha256:<hex>` when the body was never stored. */
  readonly hash: string;
  readonly salt: string;
  readonly body: string | null;
}

const UNKEPT = 'unkept:';

/**
 * Commits to a value without showing it: the salt keeps short values from being guessed, and without it and the body,
 * which can be erased, the hash says nothing. The mark of an unkept body is in the entry, so that a body somebody
 * removes later is missed.
 */
export function sealPayload(
  value: JsonValue,
  options: { readonly keep?: boolean; readonly maxKept?: number } = {},
): SealedPayload {
  const { keep = true, maxKept = Number.POSITIVE_INFINITY } = options;
  const body = canonicalJson(value);
  const salt = randomBytes(16).toString('hex');
  const digest = payloadHash(salt, body);
  if (keep && body.length <= maxKept) return { hash: digest, salt, body };
  return { hash: UNKEPT + digest, salt, body: null };
}

export const payloadHash = (salt: string, body: string): string => `sha256:${hash('sha256', salt + body)}`;

export const wasKept = (payloadHash: string): boolean => !payloadHash.startsWith(UNKEPT);

/** A payload's row carries the time of its entry: verify compares the two. */
export const payloadRow = (entry: PreparedEntry, kind: PayloadKind, sealed: SealedPayload) => ({
  call_id: entry.call ?? '',
  kind,
  ...sealed,
  at: entry.at,
  erased_at: null,
});
