import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { lookup, put } from '../../lib/lookup.ts';
import { newSalt } from '../../lib/random.ts';

/**
 * The arguments as evidence may keep them: marked-private ones and anything named like a secret, at any depth, are
 * replaced by a salted hash. Anyone who knows the value can still show that it was this one. Nothing to hide, nothing copied.
 */
export function redactPrivate(
  args: JsonObject,
  privateArgs: readonly string[] = [],
  isSecret: (name: string) => boolean = isSecretName,
): JsonObject {
  let shown: JsonObject | undefined;
  for (const name of Object.keys(args)) {
    const value = lookup(args, name) as JsonValue;
    const hidden = privateArgs.includes(name) || isSecret(name);
    const redacted = hidden ? hide(value) : redactSecrets(value, isSecret);
    if (redacted === value) continue;
    shown ??= { ...args };
    // The copy has the field as its own by now, also one named `__proto__`.
    put(shown, name, redacted);
  }
  return shown ?? args;
}

/** For results, which have no marked fields. */
export function redactSecrets(
  value: JsonValue,
  isSecret: (name: string) => boolean = isSecretName,
): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const redacted = value.map((item) => redactSecrets(item, isSecret));
    return redacted.some((item, index) => item !== value[index]) ? redacted : value;
  }
  return redactPrivate(value, [], isSecret);
}

const SECRET =
  /(^|_)(token|api_?key|password|passwd|passphrase|passcode|pin_code|authorization|secret|secret_?key|private_?key|access_?key|credentials?|cookies?|bearer|session_?id|otp|jwt|signature_key)$/;
const SECRET_START = /^(authorization|password|secret|bearer|private_key|api_key|client_secret)_/;
/** Cursors and counters are called tokens too, and are worth keeping. */
const HARMLESS =
  /^(pagination|next|previous|prev|page|continuation|sync|cursor|max|min|total|input|output)_token$/;

/** The same few names come with every call. */
const judged = new Map<string, boolean>();
const MAX_JUDGED = 2000;

/** `apiKey`, `X-Api-Key` and `api_key` are the same name. */
export function isSecretName(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const secret = readsLikeSecret(name);
  // Names of maps are data: without a bound they would pile up here.
  if (judged.size < MAX_JUDGED && name.length <= 64) judged.set(name, secret);
  return secret;
}

function readsLikeSecret(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return !HARMLESS.test(plain) && (SECRET.test(plain) || SECRET_START.test(plain));
}

function hide(value: JsonValue): JsonValue {
  if (value === null) return null;
  const salt = newSalt();
  return { $hash: `sha256:${hash('sha256', salt + canonicalJson(value))}`, $salt: salt };
}
