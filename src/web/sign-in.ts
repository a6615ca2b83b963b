import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Principal } from '../contract/principal.ts';
import type { Database } from '../kernel/store/database.ts';
import { addWebSession, personOfSession, removeWebSession, spendLink } from '../kernel/views/sign-in.ts';
import { internalPath } from '../lib/internal-path.ts';

const COOKIE = 'countersign_session';
/** Followed by 128 random bits. */
export const SESSION_PATH = '/api/s';
/** The path as the server log may have it: without what only the session's own page knows. */
export const withoutPlace = (path: string): string => path.replace(/^\/api\/s\/[^/]+/u, `${SESSION_PATH}/…`);

const LINK_MS = 10 * 60 * 1000;
const SESSION_MS = 30 * 24 * 60 * 60 * 1000;
const CSRF_HEADER = 'x-csrf-token';

export interface WebSession {
  readonly person: Principal;
  readonly csrf: string;
  /** Names the session without giving it away. */
  readonly id: string;
}

export type WebEnv = {
  /** Of the server that this application is part of: counts a request as being served, or refuses it. */
  Bindings: { serve?: (owner: string) => Response | undefined };
  Variables: { session: WebSession };
};

const hash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
/** Bound to the session and useless without its cookie. */
const csrfOf = (session: string): string => createHmac('sha256', session).update('csrf').digest('base64url');

/** A link that works once, within ten minutes, and then leads to a page; `countersign open` prints it. */
export async function createSignInLink(
  database: Database,
  person: Principal,
  origin: string,
  now: Date,
  page = '/',
): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await addWebSession(database, { idHash: hash(secret), kind: 'link', person: person.id, now, ms: LINK_MS });
  return `${origin}/sign-in?token=${secret}${page === '/' ? '' : `&to=${encodeURIComponent(page)}`}`;
}

/** Spends a link and starts a session; undefined when it was used, is too old or never existed. */
async function startSession(database: Database, token: string, now: Date): Promise<string | undefined> {
  const person = await spendLink(database, hash(token), now);
  if (person === undefined) return undefined;
  const secret = randomBytes(32).toString('base64url');
  await addWebSession(database, { idHash: hash(secret), kind: 'session', person, now, ms: SESSION_MS });
  return secret;
}

/** A look at the link by a mail program, or by a browser before the person opens it, must leave it unspent. */
const isOnlyLooking = ({ req }: Context): boolean =>
  req.method === 'HEAD' ||
  ['sec-purpose', 'purpose', 'x-moz'].some((name) => req.header(name)?.includes('prefetch'));

export async function handleSignIn(context: Context, database: Database, now: Date): Promise<Response> {
  // Browsers discard what they fetched ahead if it failed, and ask again.
  if (isOnlyLooking(context))
    return context.text('Open this link to sign in.', 503, { 'cache-control': 'no-store' });
  const secret = await startSession(database, context.req.query('token') ?? '', now);
  if (!secret) {
    return context.text(
      'This link has already been used or has expired. Run `countersign open` for a new one.',
      403,
    );
  }
  const place = randomBytes(16).toString('base64url');
  setCookie(context, COOKIE, secret, {
    httpOnly: true,
    // Behind a proxy with TLS; here itself it is plain HTTP, and the cookie would not come back.
    secure: context.req.header('x-forwarded-proto') === 'https',
    sameSite: 'Strict',
    // A cookie reaches every port of its host. Only this page, which keeps the place per port, knows the path.
    path: `${SESSION_PATH}/${place}`,
    maxAge: SESSION_MS / 1000,
  });
  // Only to a page of this app: a link that signs in must not lead elsewhere.
  const page = internalPath(context.req.query('to') ?? '/') ?? '/';
  return context.redirect(`${page}#s=${place}`, 303);
}

export async function handleSignOut(
  context: Context,
  database: Database,
): Promise<{ readonly signed_out: true }> {
  const secret = getCookie(context, COOKIE);
  if (secret) await removeWebSession(database, hash(secret));
  const place = context.req.param('place');
  deleteCookie(context, COOKIE, { path: place ? `${SESSION_PATH}/${place}` : '/' });
  return { signed_out: true };
}

/** Only a signed-in person passes, and a change only with the page's own token. Agents' tokens mean nothing here. */
export const requirePerson =
  (database: Database, now: () => Date): MiddlewareHandler<WebEnv> =>
  async (context, next) => {
    const secret = getCookie(context, COOKIE);
    const person = secret ? await personOfSession(database, hash(secret), now()) : undefined;
    if (!secret || person === undefined)
      return context.json(
        { error: 'Sign in with the link that `countersign open` prints.', code: 'signed_out' },
        401,
      );
    const csrf = csrfOf(secret);
    if (context.req.method !== 'GET' && !equal(context.req.header(CSRF_HEADER) ?? '', csrf)) {
      return context.json({ error: 'The page is out of date. Reload it.', code: 'csrf' }, 403);
    }
    const refusal = context.env?.serve?.(`person:${person}`);
    if (refusal) return refusal;
    context.set('session', { person: { kind: 'person', id: person }, csrf, id: hash(secret) });
    return next();
  };

/** A signed-in person, or a monitor with the configured token. */
export const requireScraper =
  ({ database, scrapeToken, now }: ScraperPorts): MiddlewareHandler =>
  async (context, next) => {
    const shown = /^Bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    if (shown !== undefined && scrapeToken !== undefined && equal(shown, scrapeToken)) return next();
    const secret = getCookie(context, COOKIE);
    if (secret && (await personOfSession(database, hash(secret), now())) !== undefined) return next();
    return context.text(
      'Sign in with the link that `countersign open` prints, or send the token of telemetry.scrape_token.\n',
      401,
      { 'www-authenticate': 'Bearer' },
    );
  };

interface ScraperPorts {
  readonly database: Database;
  readonly scrapeToken: string | undefined;
  now(): Date;
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
