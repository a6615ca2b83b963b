import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { newSalt } from '../../lib/salt.ts';

/**
 * The arguments as evidence may keep them: marked-private ones and whatever is named like a secret, at any depth, are
 * replaced by a salted hash. Whoever knows the value can still show that it was this one. Nothing to hide, nothing copied.
 */
export function redactPrivate(
  args: JsonObject,
  privateArgs: readonly string[] = [],
  isSecret: (name: string) => boolean = isSecretName,
): JsonObject {
  let shown: JsonObject | undefined;
  for (const name of Object.keys(args)) {
    const value = args[name] as JsonValue;
    const hidden = privateArgs.includes(name) || isSecret(name);
    const told = hidden ? hide(value) : redactSecrets(value, isSecret);
    if (told === value) continue;
    shown ??= { ...args };
    setOwn(shown, name, told);
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
    const told = value.map((item) => redactSecrets(item, isSecret));
    return told.some((item, index) => item !== value[index]) ? told : value;
  }
  return redactPrivate(value, [], isSecret);
}

const SECRET =
  /(^|_)(token|api_?key|apikey|password|passwd|passphrase|passcode|pin_code|authorization|secret|secret_?key|private_?key|access_?key|credentials?|cookies?|bearer|session_?id|otp|jwt|signature_key)$/;
const SECRET_START = /^(authorization|password|secret|bearer|private_key|api_key|client_secret)(_|$)/;
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

/** A plain assignment to `__proto__` would change the object instead of adding a field. */
function setOwn(target: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
