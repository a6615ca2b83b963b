import { randomBytes } from 'node:crypto';
import { ToolError } from '../../contract/errors.ts';
import { type Frontier, rootOf } from '../../lib/merkle.ts';
import { prepareEntry } from '../log/entry.ts';
import { appendEntries } from '../log/log.ts';
import { readFirstHash } from '../log/passkeys/read.ts';
import { challengeOf, type Statement } from '../log/passkeys/statement.ts';
import type { EvidenceWrite } from '../log/write.ts';
import type { Database } from '../store/database.ts';

/** What every statement begins with: which log, how far it goes, and for how long a signature is accepted. */
export interface Preamble {
  readonly log: string;
  readonly head: { readonly size: number; readonly root: string };
  readonly issued: string;
  readonly until: string;
  readonly nonce: string;
}

export async function preambleFor(database: Database, now: Date, validMs: number): Promise<Preamble> {
  const { log, size, root } = await witnessed(database, now);
  return {
    log,
    head: { size, root },
    issued: now.toISOString(),
    until: new Date(now.getTime() + validMs).toISOString(),
    nonce: randomBytes(16).toString('base64url'),
  };
}

async function witnessed(
  database: Database,
  now: Date,
): Promise<{ log: string; size: number; root: string }> {
  const { db, engine } = database;
  const log = await readFirstHash(db);
  if (log === undefined) {
    // A signature witnesses the history before it, so there must be some.
    const entry = prepareEntry({
      kind: 'config',
      at: now.toISOString(),
      principal: 'system:kernel',
      extra: { log: 'begun' },
    });
    await database.write((trx) => appendEntries(trx, engine, [entry]));
    return witnessed(database, now);
  }
  const { size, frontier } = await db
    .selectFrom('audit_head')
    .select(['size', 'frontier'])
    .where('id', '=', 1)
    .executeTakeFirstOrThrow();
  return { log, size, root: rootOf(JSON.parse(frontier) as Frontier) };
}

/** Something to be signed: the browser gets the challenge, the server keeps the statement. */
export interface Opened {
  readonly nonce: string;
  /** base64url */
  readonly challenge: string;
  readonly statement: Statement;
}

/** Keeps a statement until it is signed. `more` is what belongs to it and is not signed itself. */
export async function openRequest(
  { db }: Database,
  session: string,
  statement: Statement,
  more: unknown,
  now: Date,
): Promise<Opened> {
  await db.deleteFrom('passkey_requests').where('until', '<', now.toISOString()).execute();
  const { nonce, until } = statement;
  await db
    .insertInto('passkey_requests')
    .values({ nonce, session, statement: JSON.stringify(statement), more: JSON.stringify(more), until })
    .execute();
  return { nonce, challenge: challengeOf(statement).toString('base64url'), statement };
}

export interface OpenRequest {
  readonly statement: unknown;
  readonly more: unknown;
}

/** Takes a statement out for good: of two tabs that sign it, one finds it. */
export async function takeRequest(
  { trx }: Pick<EvidenceWrite, 'trx'>,
  session: string,
  nonce: string,
  now: Date,
): Promise<OpenRequest> {
  const row = await trx
    .deleteFrom('passkey_requests')
    .where('nonce', '=', nonce)
    .where('session', '=', session)
    .returningAll()
    .executeTakeFirst();
  if (!row || row.until < now.toISOString()) {
    throw new ToolError(
      'approval_state',
      row
        ? 'The time to sign has passed. Nothing was done; start again.'
        : 'This was already signed or cancelled, perhaps in another tab. Nothing was done; review it again.',
    );
  }
  return { statement: JSON.parse(row.statement), more: JSON.parse(row.more) };
}
