import type { Database } from '../store/database.ts';

// Sign-in links and sessions of people. Only hashes of their secrets are stored.

interface NewSession {
  readonly idHash: string;
  readonly kind: 'link' | 'session';
  readonly person: string;
  readonly now: Date;
  /** For how long it is valid. */
  readonly ms: number;
}

export async function addWebSession(
  { db }: Database,
  { idHash, kind, person, now, ms }: NewSession,
): Promise<void> {
  const expires_at = new Date(now.getTime() + ms).toISOString();
  await db
    .insertInto('web_sessions')
    .values({ id_hash: idHash, kind, person, created_at: now.toISOString(), expires_at })
    .execute();
}

/** Spends a link: the person it was made for, or undefined when it was used, is too old or never existed. */
export async function spendLink({ db }: Database, idHash: string, now: Date): Promise<string | undefined> {
  const link = await db
    .deleteFrom('web_sessions')
    .where('id_hash', '=', idHash)
    .where('kind', '=', 'link')
    .returningAll()
    .executeTakeFirst();
  return link && link.expires_at >= now.toISOString() ? link.person : undefined;
}

/** The person of a session that is still valid. */
export async function personOfSession(
  { db }: Database,
  idHash: string,
  now: Date,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('web_sessions')
    .select('person')
    .where('id_hash', '=', idHash)
    .where('kind', '=', 'session')
    .where('expires_at', '>', now.toISOString())
    .executeTakeFirst();
  return row?.person;
}

export async function removeWebSession({ db }: Database, idHash: string): Promise<void> {
  await db.deleteFrom('web_sessions').where('id_hash', '=', idHash).execute();
}
