import { verify } from 'node:crypto';
import type { Entry } from '../entry.ts';
import { type NoteKey, parseNoteKey } from '../signing/note.ts';
import { endorsementText } from '../signing/signer.ts';
import type { KeyTrust, Problems } from './report.ts';

interface KnownKey {
  readonly key: NoteKey;
  readonly trust: KeyTrust;
  /** The entry that names it; -1 for a key that only the caller gave. */
  readonly since: number;
  /** The largest checkpoint it may still sign. */
  until: number;
}

/** Which keys may sign a checkpoint of which size, as the log itself and the caller say. */
export class KeyCheck {
  readonly #problems: Problems;
  readonly #given: ReadonlyMap<string, NoteKey>;
  readonly #known = new Map<string, KnownKey>();

  constructor(given: readonly string[], problems: Problems) {
    this.#problems = problems;
    this.#given = new Map(given.map((text) => [text.trim(), parseNoteKey(text)]));
    for (const [text, key] of this.#given) {
      this.#known.set(text, { key, trust: 'given', since: -1, until: Number.POSITIVE_INFINITY });
    }
  }

  /** Takes in an entry of kind `checkpoint-key`. */
  record(seq: number, { extra = {} }: Entry): void {
    const key = typeof extra.key === 'string' ? readKey(extra.key) : undefined;
    if (!key) {
      this.#problems.add('key', seq, `Entry ${seq} announces an unreadable signing key.`);
      return;
    }
    const announced = (trust: KeyTrust) => {
      const known = this.#given.has(key.text) ? 'given' : trust;
      this.#known.set(key.text, { key, trust: known, since: seq, until: Number.POSITIVE_INFINITY });
    };
    if (extra.action !== 'rotate') {
      announced('recorded');
      return;
    }
    const old = typeof extra.retires === 'string' ? this.#known.get(extra.retires) : undefined;
    const endorsement = Buffer.from(typeof extra.endorsement === 'string' ? extra.endorsement : '', 'base64');
    if (!old || !verify(null, Buffer.from(endorsementText(key)), old.key.publicKey, endorsement)) {
      const message = `Entry ${seq} announces the signing key ${key.id}, but the key it replaces did not vouch for it.`;
      this.#problems.add('key', seq, message);
      return;
    }
    // The old key signs the checkpoint that contains its own retirement, and nothing after it.
    old.until = seq + 1;
    announced(old.trust === 'recorded' ? 'recorded' : 'endorsed');
  }

  /** Keys that may sign a checkpoint of this size. */
  validAt(size: number): NoteKey[] {
    return [...this.#known.values()]
      .filter((one) => one.since < size && size <= one.until)
      .map(({ key }) => key);
  }

  /** Without given keys the log is taken at its word. */
  isTrusted(key: NoteKey): boolean {
    return this.#given.size === 0 || this.#known.get(key.text)?.trust !== 'recorded';
  }

  summary(): { key: string; trust: KeyTrust; retired: boolean }[] {
    return [...this.#known.values()].map(({ key, trust, until }) => ({
      key: key.text,
      trust,
      retired: Number.isFinite(until),
    }));
  }
}

function readKey(text: string): NoteKey | undefined {
  try {
    return parseNoteKey(text);
  } catch {
    return undefined;
  }
}
