import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Principal } from '../contract/principal.ts';
import type { Database } from '../kernel/database.ts';

const COOKIE = 'countersign_session';
const LINK_MS = 10 * 60 * 1000;
const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
const CSRF_HEADER = 'x-csrf-token';

export interface WebSession {
  readonly person: Principal;
  readonly csrf: string;
}

export type WebEnv = { Variables: { session: WebSession } };

const hash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
/** Bound to the session and useless without its cookie. */
const csrfOf = (session: string): string => createHmac('sha256', session).update('csrf').digest('base64url');

/** A link that works once, within ten minutes; `countersign open` prints it. */
export async function createSignInLink(
  { db }: Database,
  person: Principal,
  origin: string,
  now: Date,
): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await insert(db, secret, 'link', person.id, now, LINK_MS);
  return `${origin}/sign-in?token=${secret}`;
}

/** Spends a link and starts a session; undefined when it was used, is too old or never existed. */
async function startSession({ db }: Database, token: string, now: Date): Promise<string | undefined> {
  const link = await db
    .deleteFrom('web_sessions')
    .where('id_hash', '=', hash(token))
    .where('kind', '=', 'link')
    .returningAll()
    .executeTakeFirst();
  if (!link || link.expires_at < now.toISOString()) return undefined;
  const secret = randomBytes(32).toString('base64url');
  await insert(db, secret, 'session', link.person, now, SESSION_MS);
  return secret;
}

async function insert(
  db: Database['db'],
  secret: string,
  kind: string,
  person: string,
  now: Date,
  ms: number,
): Promise<void> {
  const expires_at = new Date(now.getTime() + ms).toISOString();
  await db
    .insertInto('web_sessions')
    .values({ id_hash: hash(secret), kind, person, created_at: now.toISOString(), expires_at })
    .execute();
}

export async function handleSignIn(context: Context, database: Database, now: Date): Promise<Response> {
  const secret = await startSession(database, context.req.query('token') ?? '', now);
  if (!secret) {
    return context.text(
      'This link was used already or is too old. Run `countersign open` for a new one.',
      403,
    );
  }
  setCookie(context, COOKIE, secret, {
    httpOnly: true,
    // Behind a proxy with TLS; here itself it is plain HTTP, and the cookie would not come back.
    secure: context.req.header('x-forwarded-proto') === 'https',
    sameSite: 'Strict',
    path: '/',
    maxAge: SESSION_MS / 1000,
  });
  return context.redirect('/', 303);
}

export async function handleSignOut(context: Context, { db }: Database): Promise<Response> {
  const secret = getCookie(context, COOKIE);
  if (secret) await db.deleteFrom('web_sessions').where('id_hash', '=', hash(secret)).execute();
  deleteCookie(context, COOKIE, { path: '/' });
  return context.json({ signed_out: true });
}

/** Only a signed-in person passes, and a change only with the page's own token. Agents' tokens mean nothing here. */
export const requirePerson =
  ({ db }: Database, now: () => Date): MiddlewareHandler<WebEnv> =>
  async (context, next) => {
    const secret = getCookie(context, COOKIE);
    const row = secret
      ? await db
          .selectFrom('web_sessions')
          .select('person')
          .where('id_hash', '=', hash(secret))
          .where('kind', '=', 'session')
          .where('expires_at', '>', now().toISOString())
          .executeTakeFirst()
      : undefined;
    if (!secret || !row)
      return context.json(
        { error: 'Sign in with the link that `countersign open` prints.', code: 'signed_out' },
        401,
      );
    const csrf = csrfOf(secret);
    if (context.req.method !== 'GET' && !equal(context.req.header(CSRF_HEADER) ?? '', csrf)) {
      return context.json({ error: 'The page is out of date; reload it.', code: 'csrf' }, 403);
    }
    context.set('session', { person: { kind: 'person', id: row.person }, csrf });
    return next();
  };

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
