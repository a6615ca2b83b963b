import { validateHostHeader } from '@modelcontextprotocol/server';
import type { Principal } from '../contract/principal.ts';
import { isLoopback } from '../lib/loopback.ts';
import { resolvePrincipal } from './identity.ts';
import type { Served } from './served.ts';

/** What is asked of a request's headers, whatever has them. */
export interface HeaderSource {
  get(name: string): string | null;
  keys(): Iterable<string>;
}

interface Addressed {
  readonly method?: string;
  readonly headers: HeaderSource;
}

export interface Door {
  /** A refusal when the request was sent to a foreign name (DNS rebinding) or by a foreign page; undefined when it is fine. */
  checkAddress(request: Addressed): Response | undefined;
  /** Who is calling, or the refusal. */
  identify(request: Addressed): Promise<Principal | Response>;
}

export interface Addresses {
  readonly host: string;
  /** More names this server may be called by (a reverse proxy). */
  readonly allowedHosts?: readonly string[];
  /** Where people reach it from outside. */
  readonly publicUrl?: string | undefined;
}

const LOCAL_NAMES = ['localhost', 'countersign.localhost', '127.0.0.1', '[::1]', '::1'];

export function openDoor(served: Served, { host, allowedHosts = [], publicUrl }: Addresses): Door {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);
  const names = [
    ...LOCAL_NAMES,
    ...(isLoopback(host) ? [] : [host]),
    ...allowedHosts,
    ...(own ? [own.hostname] : []),
  ];
  const isOpen = !isLoopback(host);
  const isOurs = hostCheck(names);
  /** Scheme, name and port: another port of this machine is another page. */
  const isOwnOrigin = (origin: string, called: string): boolean => {
    const page = URL.canParse(origin) ? new URL(origin) : undefined;
    if (page?.origin !== origin) return false;
    // What has a public address has one scheme: a page over plain HTTP is not the one behind TLS.
    if (own && page.host === own.host) return origin === own.origin;
    if (page.port === '' && allowedHosts.includes(page.hostname)) return true;
    // Browsers say in Host which address a page speaks to: its own, if it came from there.
    return (
      URL.canParse(`${page.protocol}//${called}`) && new URL(`${page.protocol}//${called}`).host === page.host
    );
  };
  const isLocal = hostCheck(LOCAL_NAMES);
  return {
    checkAddress({ method, headers }) {
      const called = headers.get('host');
      if (called === null || !isOurs(called)) return refuse(403, 'FORBIDDEN', 'Host not allowed.');
      const origin = headers.get('origin');
      const isOwn = origin === null ? !isForeignPage(method, headers) : isOwnOrigin(origin, called);
      return isOwn ? undefined : refuse(403, 'FORBIDDEN', 'Origin not allowed.');
    },
    async identify({ headers }) {
      const token = tokenOf(headers);
      // A proxy on this machine speaks from loopback too; whom it lets in is not on this machine.
      const needsToken = isOpen || wasForwarded(headers) || !isLocal(headers.get('host'));
      const who = await resolvePrincipal(served, { token, needsToken });
      if (who.principal) return who.principal;
      const text =
        who.refused === 'missing'
          ? 'An agent token is required: Authorization: Bearer …'
          : 'The token is invalid or revoked.';
      return refuse(401, 'UNAUTHORIZED', text);
    },
  };
}

/**
 * For what browsers send without an Origin, such as images and frames. A link that a person follows may be on any page: it
 * opens in a window of its own, which that page cannot read.
 */
function isForeignPage(method: string | undefined, headers: HeaderSource): boolean {
  const site = headers.get('sec-fetch-site');
  if (site === null || site === 'same-origin' || site === 'none') return false;
  return !(
    (method === 'GET' || method === 'HEAD') &&
    headers.get('sec-fetch-mode') === 'navigate' &&
    headers.get('sec-fetch-dest') === 'document'
  );
}

/** A header of another scheme is no token of ours, and no reason to serve its sender as `local`. */
export function tokenOf(headers: HeaderSource): string | undefined {
  const header = headers.get('authorization');
  return header === null ? undefined : (/^Bearer (\S+)$/i.exec(header)?.[1] ?? '');
}

/** A client sends the same name with every request; the last that was allowed is not parsed again. */
function hostCheck(names: string[]): (host: string | null) => boolean {
  let allowed: string | null = null;
  return (host) => {
    if (host !== null && host === allowed) return true;
    if (!validateHostHeader(host, names).ok) return false;
    allowed = host;
    return true;
  };
}

function wasForwarded(headers: HeaderSource): boolean {
  for (const name of headers.keys()) if (FORWARDED.test(name)) return true;
  return false;
}

const FORWARDED = /^(forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

function refuse(status: 401 | 403, code: string, message: string): Response {
  const headers = status === 401 ? { 'www-authenticate': 'Bearer' } : undefined;
  return Response.json({ success: false, error: message, error_code: code }, { status, headers });
}
