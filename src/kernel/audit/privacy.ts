import { hash, randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { canonicalJson } from '../../lib/canonical.ts';

/**
 * The arguments as evidence may keep them: marked-private ones and whatever is named like a secret, at any depth, are
 * replaced by a salted hash. Whoever knows the value can still show that it was this one.
 */
export function redactPrivate(
  args: JsonObject,
  privateArgs: readonly string[] = [],
  isSecret: (name: string) => boolean = isSecretName,
): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    const hidden = privateArgs.includes(name) || isSecret(name);
    setOwn(shown, name, hidden ? hide(value) : redactSecrets(value, isSecret));
  }
  return shown;
}

/** For results, which have no marked fields. */
export function redactSecrets(
  value: JsonValue,
  isSecret: (name: string) => boolean = isSecretName,
): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => redactSecrets(item, isSecret));
  return redactPrivate(value, [], isSecret);
}

const SECRET =
  /(^|_)(token|api_?key|apikey|password|passwd|passphrase|passcode|pin_code|authorization|secret|secret_?key|private_?key|access_?key|credentials?|cookies?|bearer|session_?id|otp|jwt|signature_key)$/;
const SECRET_START = /^(authorization|password|secret|bearer|private_key|api_key|client_secret)(_|$)/;
/** Cursors and counters are called tokens too, and are worth keeping. */
const HARMLESS =
  /^(pagination|next|previous|prev|page|continuation|sync|cursor|max|min|total|input|output)_token$/;

/** `apiKey`, `X-Api-Key` and `api_key` are the same name. */
export function isSecretName(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return !HARMLESS.test(plain) && (SECRET.test(plain) || SECRET_START.test(plain));
}

function hide(value: JsonValue): JsonValue {
  if (value === null) return null;
  const salt = randomBytes(16).toString('hex');
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
