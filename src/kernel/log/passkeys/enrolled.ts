import type { JsonObject } from '../../../contract/json.ts';
import type { PasskeyMode } from '../../../contract/passkeys.ts';
import type { Entry } from '../entry.ts';
import { type Assertion, fingerprintOf, fitsAlgorithm, readKey, verifyAssertion } from './assertion.ts';
import { type PasskeyEntry, passkeyEntry, type SignatureEntry, signatureEntry } from './entries.ts';
import { challengeOf, type KeyShape, type Statement } from './statement.ts';

export interface EnrolledKey extends KeyShape {
  readonly fingerprint: string;
  readonly person: string;
  readonly enrolledAt: string;
  /** The key that vouched for it; undefined for a first key, which only the log itself vouches for. */
  readonly endorsedBy: string | undefined;
}

/** All keys were removed without a signature; trust restarts each time. */
export interface PasskeyReset {
  readonly at: string;
  /** Who ran the command, as the log has it; no key vouches for it. */
  readonly by: string;
  readonly removed: number;
}

/** An invalid entry about passkeys; the message continues “Entry N”. */
export class PasskeyProblem extends Error {}

/**
 * The keys and the mode as the log has them, entry after entry. The database has no other copy: a row that anyone can
 * edit must not decide whose signature counts.
 */
export class EnrolledKeys {
  readonly #keys = new Map<string, EnrolledKey>();
  readonly #removed = new Set<string>();
  readonly #nonces = new Set<string>();
  readonly #resets: PasskeyReset[] = [];
  mode: PasskeyMode = 'off';

  get list(): readonly EnrolledKey[] {
    return [...this.#keys.values()];
  }

  /** Oldest first. They stay for as long as the log does. */
  get resets(): readonly PasskeyReset[] {
    return this.#resets;
  }

  find(fingerprint: string): EnrolledKey | undefined {
    return this.#keys.get(fingerprint);
  }

  /** False while no one can sign. */
  get any(): boolean {
    return this.#keys.size > 0;
  }

  /** Applies an entry of kind `passkey`, or throws what is wrong with it. */
  take(log: string, { at, extra, principal }: Pick<Entry, 'at' | 'extra' | 'principal'>): PasskeyEntry {
    const read = passkeyEntry.safeParse(extra);
    if (!read.success) throw new PasskeyProblem('changes passkeys in a way that cannot be read');
    const entry = read.data;
    if (entry.action === 'reset') {
      this.#resets.push({ at, by: principal ?? 'unknown', removed: this.#keys.size });
      this.#keys.clear();
      this.mode = 'off';
      return entry;
    }
    this.#requireFresh(log, at, entry.statement);
    if (entry.action === 'enrol') this.#enrol(at, entry);
    else {
      const { order } = entry.statement;
      if (order.action !== entry.action) throw new PasskeyProblem('differs from what was signed');
      this.#requireSigned(entry.by.key, entry.statement, entry.by);
      if (order.action === 'mode') this.mode = order.mode;
      else this.#remove(order.key);
    }
    this.#nonces.add(entry.statement.nonce);
    return entry;
  }

  /** Applies an entry of kind `signature`. */
  takeSignature(log: string, at: string, extra: JsonObject | undefined): SignatureEntry {
    const entry = this.checkSignature(log, at, extra);
    if (this.#nonces.has(entry.statement.nonce)) throw new PasskeyProblem('repeats a signature used before');
    this.#nonces.add(entry.statement.nonce);
    return entry;
  }

  /** The same for one entry alone, without remembering its nonce. */
  checkSignature(log: string, at: string, extra: JsonObject | undefined): SignatureEntry {
    const read = signatureEntry.safeParse(extra);
    if (!read.success) throw new PasskeyProblem('has an unreadable signature');
    const { statement, by } = read.data;
    if (statement.items.length !== statement.of)
      throw new PasskeyProblem('signs a different number of approvals');
    this.#requireTime(log, at, statement);
    const key = this.#requireSigned(by.key, statement, by);
    if (key.person !== statement.person)
      throw new PasskeyProblem(`names ${statement.person}, but the key belongs to ${key.person}`);
    return read.data;
  }

  #enrol(at: string, { statement, possession, countersigned }: PasskeyEntry & { action: 'enrol' }): void {
    const { key, person } = statement;
    const fingerprint = fingerprintOf(key.spki);
    const object = readKey(key.spki);
    if (!object || !fitsAlgorithm(object, key.alg))
      throw new PasskeyProblem('enrols a key that does not match its algorithm');
    if (this.#keys.has(fingerprint) || this.#removed.has(fingerprint))
      throw new PasskeyProblem(`enrols key ${fingerprint} a second time`);
    const verified = verifyAssertion(key, challengeOf(statement), possession);
    if (!verified.ok)
      throw new PasskeyProblem(`enrols key ${fingerprint}, which did not sign: ${verified.why}`);
    if (this.any && !countersigned)
      throw new PasskeyProblem(`enrols key ${fingerprint}, which no enrolled key countersigned`);
    if (countersigned) this.#requireSigned(countersigned.key, statement, countersigned);
    const endorsedBy = countersigned?.key;
    this.#keys.set(fingerprint, { ...key, fingerprint, person, enrolledAt: at, endorsedBy });
  }

  #remove(fingerprint: string): void {
    if (!this.#keys.has(fingerprint))
      throw new PasskeyProblem(`removes key ${fingerprint}, which is not enrolled`);
    if (this.#keys.size === 1) throw new PasskeyProblem('removes the last key; only a reset may do that');
    this.#keys.delete(fingerprint);
    this.#removed.add(fingerprint);
  }

  #requireFresh(log: string, at: string, statement: Statement): void {
    if (this.#nonces.has(statement.nonce)) throw new PasskeyProblem('repeats a signature used before');
    this.#requireTime(log, at, statement);
  }

  #requireTime(log: string, at: string, statement: Statement): void {
    if (statement.log !== log) throw new PasskeyProblem('was signed for another log');
    // An entry of the log can lack a time, or have one that is not text: neither compares as before or after anything.
    const isInTime = at >= statement.issued && at <= statement.until;
    if (!isInTime)
      throw new PasskeyProblem(`was signed for ${statement.issued} to ${statement.until}, not for ${at}`);
  }

  #requireSigned(fingerprint: string, statement: Statement, assertion: Assertion): EnrolledKey {
    const key = this.#keys.get(fingerprint);
    if (!key) {
      const was = this.#removed.has(fingerprint) ? 'was removed' : 'was never enrolled';
      throw new PasskeyProblem(`is signed by key ${fingerprint}, which ${was}`);
    }
    const verified = verifyAssertion(key, challengeOf(statement), assertion);
    if (!verified.ok) throw new PasskeyProblem(`is not signed by key ${fingerprint}: ${verified.why}`);
    return key;
  }
}
