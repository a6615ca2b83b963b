import type { Transaction } from 'kysely';
import { rootOf } from '../../../lib/merkle.ts';
import type { Database, Engine } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { lockHead } from '../log.ts';
import { type NoteSigner, signNote } from './note.ts';

/** What a checkpoint states: this log had so many entries with this root at that time. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  /** Hex, as everywhere but in the note itself. */
  readonly root: string;
  readonly at: string;
}

export interface StoredCheckpoint extends Checkpoint {
  readonly note: string;
}

/** Signs for one log; `prepare` makes sure the log names the key that is about to sign, and says whether it had to. */
export interface LogSigner extends NoteSigner {
  prepare(trx: Transaction<Tables>, now: Date): Promise<boolean>;
}

/** C2SP tlog-checkpoint; the time is an extension line, so that it is signed too. */
const formatCheckpoint = ({ origin, size, root, at }: Checkpoint): string =>
  `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\ntime ${at}\n`;

/** Undefined when the text is no checkpoint of ours, or not written in the one way it can be. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', root = '', time = ''] = text.split('\n');
  const checkpoint: Checkpoint = {
    origin,
    size: Number(size),
    root: Buffer.from(root, 'base64').toString('hex'),
    at: time.slice('time '.length),
  };
  return formatCheckpoint(checkpoint) === text && checkpoint.root.length === 64 ? checkpoint : undefined;
}

/** What a signed note states, regardless of its signer. */
export const checkpointIn = (note: string): Checkpoint | undefined =>
  parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));

/** Signs the log as it stands. Undefined while the log is empty; the existing one when nothing was added since. */
export async function writeCheckpoint(
  database: Database,
  signer: LogSigner,
  now: () => Date = () => new Date(),
): Promise<StoredCheckpoint | undefined> {
  return database.write(async (trx) => {
    const { size } = await lockHead(trx, database.engine);
    if (size === 0) return undefined;
    const existing = await checkpointAt(trx, size);
    if (existing) return existing;
    await signer.prepare(trx, now());
    return signHead(trx, database.engine, signer, now());
  });
}

/** Signs and stores within the caller's transaction. */
export async function signHead(
  trx: Transaction<Tables>,
  engine: Engine,
  signer: NoteSigner,
  now: Date,
): Promise<StoredCheckpoint> {
  const head = await lockHead(trx, engine);
  const at = now.toISOString();
  const checkpoint = { origin: signer.key.name, size: head.size, root: rootOf(head.frontier), at };
  const note = signNote(formatCheckpoint(checkpoint), signer);
  await trx
    .insertInto('audit_checkpoints')
    .values({ size: head.size, root: checkpoint.root, note, at })
    .execute();
  return { ...checkpoint, note };
}

async function checkpointAt(trx: Transaction<Tables>, size: number): Promise<StoredCheckpoint | undefined> {
  const row = await trx
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('size', '=', size)
    .executeTakeFirst();
  return row && { origin: row.note.split('\n', 1)[0] ?? '', ...row };
}

export async function latestCheckpoint(database: Database): Promise<StoredCheckpoint | undefined> {
  const row = await database.db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { origin: row.note.split('\n', 1)[0] ?? '', ...row };
}
