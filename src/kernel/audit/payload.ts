import { hash } from 'node:crypto';
import type { JsonValue } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { newSalt } from '../../lib/salt.ts';
import type { PreparedEntry } from './entry.ts';

export type PayloadKind = 'args' | 'result';

export interface SealedPayload {
  /** What the entry holds: `sha256:<hex>`, or `unkept:…:sha256:<hex>` when the body was never stored. */
  readonly hash: string;
  readonly salt: string;
  readonly body: string | null;
}

/**
 * Commits to a value without showing it: the salt keeps short values from being guessed, and without it and the body,
 * which can be erased, the hash says nothing. Whether the body was kept is part of what the entry says, so that a body
 * somebody removes later is missed.
 */
export function sealPayload(
  value: JsonValue,
  options: { readonly keep?: boolean; readonly maxKept?: number } = {},
): SealedPayload {
  const { keep = true, maxKept = Number.POSITIVE_INFINITY } = options;
  const body = canonicalJson(value);
  const salt = newSalt();
  const digest = payloadHash(salt + body);
  if (keep && body.length <= maxKept) return { hash: digest, salt, body };
  return { hash: unkeptPrefix(salt) + digest, salt, body: null };
}

/** Over salt and body together. */
export const payloadHash = (salted: string): string => `sha256:${hash('sha256', salted)}`;

export const wasKept = (payloadHash: string): boolean => payloadHash.startsWith('sha256:');

/** Without a body only this shows that the salt is still the one that belongs to the hash. */
export const fitsUnkept = (payloadHash: string, salt: string): boolean =>
  payloadHash.startsWith(unkeptPrefix(salt));

const unkeptPrefix = (salt: string): string => `unkept:${hash('sha256', salt).slice(0, 16)}:`;

/** A payload's row carries the time of its entry: verify compares the two. */
export const payloadRow = (entry: PreparedEntry, kind: PayloadKind, sealed: SealedPayload) => ({
  call_id: entry.call ?? '',
  kind,
  ...sealed,
  at: entry.at,
  erased_at: null,
});
