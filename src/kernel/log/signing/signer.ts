import { randomBytes, sign } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type Database, readSetting } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { prepareEntry } from '../entry.ts';
import { appendEntries, lockHead } from '../log.ts';
import { type LogSigner, signHead } from './checkpoint.ts';
import { KeyFile, type KeyPair } from './key-file.ts';
import { type NoteKey, noteKey, parseNoteKey } from './note.ts';

export const ORIGIN = 'audit.origin';
/** Followed by the id of a key. */
export const KEY_SETTING = 'audit.key.';
const keySetting = (key: NoteKey): string => `${KEY_SETTING}${key.id}`;

/**
 * Signs for one log. Every key that signs is first named in the log itself, so that a checkpoint by any other key is
 * noticed; nodes that share a PostgreSQL store each have a key of their own.
 */
export class Signer implements LogSigner {
  readonly #file: KeyFile;
  readonly #database: Database;
  #pair: KeyPair;
  #key: NoteKey;

  private constructor(database: Database, file: KeyFile, pair: KeyPair, origin: string) {
    this.#database = database;
    this.#file = file;
    this.#pair = pair;
    this.#key = noteKey(origin, pair.publicKey);
  }

  /** `name` is what a log that has no name yet is called; one of its own is made for it otherwise. */
  static async open(
    database: Database,
    dataDir: string,
    name?: string,
    now: () => Date = () => new Date(),
  ): Promise<Signer> {
    const origin = await originOf(database, name ?? `countersign/${randomBytes(8).toString('hex')}`);
    const file = new KeyFile(dataDir);
    const isNew = file.read() === undefined;
    const signer = new Signer(database, file, file.readOrCreate(), origin);
    await signer.#adopt();
    if (isNew) await signer.#join(now());
    return signer;
  }

  get key(): NoteKey {
    return this.#key;
  }

  sign(message: Uint8Array): Uint8Array {
    return sign(null, message, this.#pair.privateKey);
  }

  /** Before a signature, with the head locked: leaves a retired key behind, and names a new one in the log. */
  async prepare(trx: Transaction<Tables>, now: Date): Promise<boolean> {
    await this.#adoptSuccessor(trx);
    const known = await readSetting(trx, keySetting(this.#key));
    if (known?.startsWith('active')) return false;
    if (known?.startsWith('retired')) {
      throw new Error(
        `The signing key ${this.#key.id} was retired and no newer one is in the data directory. Restore audit-key.pem from a backup, or move it elsewhere to start with a new key.`,
      );
    }
    await this.#record(trx, now, { action: 'add', key: this.#key.text });
    await trx
      .insertInto('settings')
      .values({ key: keySetting(this.#key), value: `active ${this.#key.text}` })
      .execute();
    return true;
  }

  /** Makes a new key, lets the old one vouch for it in the log, and signs a last checkpoint with the old one. */
  async rotate(now: Date): Promise<{ readonly retired: NoteKey; readonly key: NoteKey }> {
    const retired = this.#key;
    await this.#database.write(async (trx) => {
      await lockHead(trx, this.#database.engine);
      // An announced key signs immediately: verify expects a checkpoint over every announcement.
      if (await this.prepare(trx, now)) await signHead(trx, this.#database.engine, this, now);
      const next = noteKey(this.#key.name, this.#file.createNext().publicKey);
      const endorsement = Buffer.from(this.sign(Buffer.from(endorsementText(next)))).toString('base64');
      await this.#record(trx, now, {
        action: 'rotate',
        key: next.text,
        retires: this.#key.text,
        endorsement,
      });
      await signHead(trx, this.#database.engine, this, now);
      await trx
        .updateTable('settings')
        .set({ value: `retired ${this.#key.text}` })
        .where('key', '=', keySetting(this.#key))
        .execute();
      await trx
        .insertInto('settings')
        .values({ key: keySetting(next), value: `active ${next.text}` })
        .execute();
    });
    // A crash before this line is repaired by the next signer: the log says that the successor is in force.
    await this.#adopt();
    return { retired, key: this.#key };
  }

  async #record(trx: Transaction<Tables>, now: Date, extra: Record<string, string>): Promise<void> {
    const entry = prepareEntry({ kind: 'checkpoint-key', at: now.toISOString(), extra });
    await appendEntries(trx, this.#database.engine, [entry]);
  }

  /** Next to other keys, one that the log does not name would look like that of another log after a crash. */
  async #join(now: Date): Promise<void> {
    if ((await signingKeys(this.#database)).length === 0) return;
    await this.#database.write(async (trx) => {
      await lockHead(trx, this.#database.engine);
      if (await this.prepare(trx, now)) await signHead(trx, this.#database.engine, this, now);
    });
  }

  async #adopt(): Promise<void> {
    await this.#database.write(async (trx) => {
      // The head lock keeps this apart from a rotation that has its successor on disk but not yet in the log.
      await lockHead(trx, this.#database.engine);
      await this.#adoptSuccessor(trx);
    });
  }

  /** Another process may have rotated the key, or a rotation may have been cut short on either side of its commit. */
  async #adoptSuccessor(trx: Transaction<Tables>): Promise<void> {
    const next = this.#file.readNext();
    if (next) {
      const recorded = await readSetting(trx, keySetting(noteKey(this.#key.name, next.publicKey)));
      if (recorded?.startsWith('active')) this.#file.promoteNext();
      else this.#file.dropNext();
    }
    const current = this.#file.readOrCreate();
    if (!current.publicKey.equals(this.#pair.publicKey)) {
      this.#pair = current;
      this.#key = noteKey(this.#key.name, current.publicKey);
    }
  }
}

/** What the old key signs to vouch for the new one; no checkpoint can look like this. */
export const endorsementText = (next: NoteKey): string => `countersign audit key successor\n${next.text}\n`;

/** Every key that ever signed for this log, as the store remembers them; the log itself is the proof. */
export async function signingKeys(database: Database): Promise<NoteKey[]> {
  const rows = await database.db
    .selectFrom('settings')
    .select('value')
    .where('key', 'like', `${KEY_SETTING}%`)
    .execute();
  return rows.map(({ value }) => parseNoteKey(value.replace(/^(active|retired) /, '')));
}

/** The log's own name, made once. It is also the name of every key that signs for it. */
async function originOf(database: Database, name: string): Promise<string> {
  const read = () => readSetting(database.db, ORIGIN);
  const known = await read();
  if (known !== undefined) return known;
  await database.db
    .insertInto('settings')
    .values({ key: ORIGIN, value: name })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  const made = await read();
  if (made === undefined) throw new Error('The name of the audit log could not be stored.');
  return made;
}
