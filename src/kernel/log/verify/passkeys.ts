import type { JsonObject } from '../../../contract/json.ts';
import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import { fingerprintOf, verifyAssertion } from '../passkeys/assertion.ts';
import { type EnrolledKey, EnrolledKeys, PasskeyProblem } from '../passkeys/enrolled.ts';
import { itemOfDecision, signatureEntry, signedDecision } from '../passkeys/entries.ts';
import { readFirstHash, readHeads } from '../passkeys/read.ts';
import {
  challengeOf,
  type DecisionStatement,
  itemHash,
  type SignedItem,
  signersOf,
} from '../passkeys/statement.ts';
import type { KeyTrust, Problems } from './report.ts';

export interface SignerSummary {
  readonly fingerprint: string;
  readonly person: string;
  readonly name: string;
  readonly trust: KeyTrust;
}

interface LiveDecision {
  required: number;
  /** Who signed it; empty for a decision without signatures. */
  people: ReadonlySet<string>;
  /** Until when the signed call may begin. */
  expires?: string | null;
}

/**
 * Checks what the log says about passkeys: each key signed its own enrolment and an earlier key countersigned it; each
 * signature was made by an enrolled key, on the history that precedes it; each decision that had to be signed was signed
 * by enough people.
 */
export class PasskeyCheck {
  readonly #problems: Problems;
  readonly #given: ReadonlySet<string>;
  readonly #keys = new EnrolledKeys();
  /** Every key that ever was, for the report and for receipts. */
  readonly #seen = new Map<string, SignerSummary>();
  readonly #ever = new Map<string, EnrolledKey>();
  readonly #signatures = new Map<string, { statement: DecisionStatement; key: string }>();
  readonly #live = new Map<string, LiveDecision>();
  readonly #receipts: readonly JsonObject[];
  #log = '';
  #heads: number[] = [];
  #next = 0;
  readonly #roots = new Map<number, string | undefined>();
  signatures = 0;

  constructor(problems: Problems, given: readonly string[], receipts: readonly JsonObject[]) {
    this.#problems = problems;
    this.#given = new Set(given.map((one) => one.replaceAll(/[^0-9a-f]/gi, '').toLowerCase()));
    this.#receipts = receipts;
  }

  /** The heads that signatures name are compared when the log has been read that far, so they are read first. */
  async begin(database: Database): Promise<void> {
    const kept = this.#receipts.flatMap(
      (one) => signatureEntry.safeParse(one).data?.statement.head.size ?? [],
    );
    this.#log = (await readFirstHash(database.db)) ?? '';
    const sizes = new Set([...(await readHeads(database.db, database.engine)), ...kept]);
    this.#heads = [...sizes].sort((a, b) => a - b);
  }

  /** The next size at which a root is needed. */
  get awaited(): number {
    return this.#heads[this.#next] ?? Number.POSITIVE_INFINITY;
  }

  root(size: number, root: string | undefined): void {
    this.#roots.set(size, root);
    this.#next += 1;
  }

  get resets(): number {
    return this.#keys.resets.length;
  }

  get mode(): string {
    return this.#keys.mode;
  }

  get summary(): readonly SignerSummary[] {
    return [...this.#seen.values()];
  }

  take(seq: number, leaf: string, entry: Entry): void {
    switch (entry.kind) {
      case 'passkey':
        this.#named(seq, () => this.#passkey(seq, entry));
        break;
      case 'signature':
        this.#named(seq, () => this.#signature(seq, leaf, entry));
        break;
      case 'approval':
        this.#decision(seq, entry);
        break;
      case 'intent':
      case 'read':
      case 'call':
        this.#use(seq, entry);
        break;
      default:
    }
  }

  /** A key that is given must be there, and a signature that a person stored proves the history that they signed. */
  finish(size: number): void {
    for (const fingerprint of this.#given)
      if (!this.#seen.has(fingerprint))
        this.#wrong(undefined, `The log has no key ${fingerprint}, which was given as a signer.`);
    for (const receipt of this.#receipts) {
      const read = signatureEntry.safeParse(receipt).data;
      if (!read) {
        this.#wrong(undefined, 'A receipt cannot be read.');
        continue;
      }
      const { head, issued } = read.statement;
      // Also a key that was removed since then: its signature was valid when it was made.
      const key = this.#ever.get(read.by.key);
      if (!key)
        this.#wrong(
          undefined,
          `The receipt of ${issued} was signed by key ${read.by.key}, which this log does not have.`,
        );
      else if (!verifyAssertion(key, challengeOf(read.statement), read.by).ok)
        this.#wrong(undefined, `The receipt of ${issued} does not carry a valid signature.`);
      else if (head.size > size || this.#roots.get(head.size) !== head.root)
        this.#wrong(
          head.size > size ? size : undefined,
          `The log is not the one that was signed on ${issued}: its first ${head.size} entries differ or are missing.`,
        );
    }
  }

  #passkey(seq: number, entry: Entry): void {
    const read = this.#keys.take(this.#log, entry);
    if (read.action === 'reset') {
      this.#live.clear();
      return;
    }
    this.#checkHead(seq, read.statement.head);
    if (read.action !== 'enrol') return;
    // Not by its credential, which is only a name: two keys may have the same.
    const key = this.#keys.find(fingerprintOf(read.statement.key.spki));
    if (!key) return;
    const { fingerprint, person, name, endorsedBy } = key;
    const endorsed = this.#isVouchedFor(endorsedBy) ? 'endorsed' : 'recorded';
    const trust = this.#given.has(fingerprint) ? 'given' : endorsed;
    this.#ever.set(fingerprint, key);
    this.#seen.set(fingerprint, { fingerprint, person, name, trust });
  }

  #signature(seq: number, leaf: string, entry: Entry): void {
    const { statement, by } = this.#keys.takeSignature(this.#log, entry.at, entry.extra);
    this.signatures += 1;
    this.#checkHead(seq, statement.head);
    if (entry.principal !== statement.person)
      this.#wrong(seq, `Entry ${seq} names ${entry.principal}, but ${statement.person} signed.`);
    if (this.#given.size > 0 && !this.#isVouchedFor(by.key))
      this.#wrong(
        seq,
        `Entry ${seq} is signed by key ${by.key}, for which none of the given signers vouches.`,
      );
    this.#signatures.set(leaf, { statement, key: by.key });
  }

  /** By a given signer; not by the log alone, and not where the log does not say who the key is. */
  #isVouchedFor(fingerprint: string | undefined): boolean {
    const trust = this.#seen.get(fingerprint ?? '')?.trust;
    return trust === 'given' || trust === 'endorsed';
  }

  #checkHead(seq: number, { size, root }: { size: number; root: string }): void {
    if (size > seq) this.#wrong(seq, `Entry ${seq} claims to follow ${size} entries.`);
    else if (this.#roots.get(size) !== root)
      this.#wrong(
        seq,
        `Entry ${seq} was signed for a different history: the first ${size} entries are not those signed.`,
      );
  }

  #decision(seq: number, entry: Entry): void {
    const { approval, status, extra } = entry;
    if (!approval) return;
    const { uuid } = approval;
    const live = this.#live.get(uuid) ?? { required: 0, people: new Set<string>() };
    if (status === 'pending' && typeof extra?.sign === 'number')
      this.#live.set(uuid, { ...live, required: Math.max(live.required, extra.sign) });
    if (status !== 'approved') return;
    const signed = extra?.signed === undefined ? undefined : signedDecision.safeParse(extra.signed);
    if (signed && !signed.success) {
      this.#wrong(seq, `Entry ${seq} approves ${uuid} with signatures that cannot be read.`);
      return;
    }
    const people = new Set<string>();
    const item = signed && itemOfDecision(entry, signed.data.item);
    for (const { entry: hash, salt } of signed?.data.by ?? []) {
      const found = this.#signatures.get(hash);
      if (!found || !item) {
        this.#wrong(seq, `Entry ${seq} approves ${uuid} by a signature that is not in the log.`);
        continue;
      }
      if (found.statement.items.includes(itemHash(item, salt))) people.add(found.statement.person);
      else this.#wrong(seq, `Entry ${seq} approves ${uuid}, which its signature does not cover.`);
      // Each covers up to 25 items, and each item counts once.
      this.#spend(seq, hash, item, salt);
    }
    this.#live.set(uuid, { ...live, people, expires: signed?.data.item.expires });
  }

  readonly #spent = new Set<string>();

  #spend(seq: number, hash: string, item: SignedItem, salt: string): void {
    const once = `${hash} ${itemHash(item, salt)}`;
    if (this.#spent.has(once)) this.#wrong(seq, `Entry ${seq} uses a signature a second time.`);
    this.#spent.add(once);
  }

  /** Where a call begins under an approval, enough people must have signed it. */
  #use(seq: number, { kind, at, approval, decision, effect = '', call, parent, extra }: Entry): void {
    const byMode = signersOf(this.#keys.mode, effect);
    if (kind === 'intent' && typeof extra?.standing === 'string' && byMode > 0)
      this.#wrong(
        seq,
        `Entry ${seq} begins call ${call} under standing approval ${extra.standing}, although the call had to be signed.`,
      );
    if (!approval) return;
    // A part that required approval runs under that of the whole, which must then be signed for the part as well.
    if (parent !== undefined && (kind !== 'intent' || decision !== 'ask')) return;
    const live = this.#live.get(approval.uuid);
    const needed = Math.max(live?.required ?? 0, byMode);
    const have = live?.people.size ?? 0;
    if (have < needed)
      this.#wrong(
        seq,
        `Entry ${seq} begins call ${call} under approval ${approval.uuid}, which requires ${counted(needed)}; it has ${have === 0 ? 'none' : have}.`,
      );
    if (kind === 'intent' && live?.expires && at > live.expires)
      this.#wrong(
        seq,
        `Entry ${seq} begins call ${call} under approval ${approval.uuid}, which was signed until ${live.expires}.`,
      );
  }

  #named(seq: number, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof PasskeyProblem)) throw error;
      this.#wrong(seq, `Entry ${seq} ${error.message}.`);
    }
  }

  #wrong(seq: number | undefined, message: string): void {
    this.#problems.add('signature', seq, message);
  }
}

const counted = (signatures: number): string =>
  signatures === 1 ? 'a signature' : `the signatures of ${signatures} people`;
