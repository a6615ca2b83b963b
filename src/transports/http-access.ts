import { validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
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
  readonly headers: HeaderSource;
}

export interface Door {
  /** A refusal when the request was sent to or from a foreign name (DNS rebinding); undefined when it is fine. */
  checkAddress(request: Addressed): Response | undefined;
  /** Who is calling, or the refusal. */
  identify(request: Addressed): Promise<Principal | Response>;
}

const LOCAL_NAMES = ['localhost', 'countersign.localhost', '127.0.0.1', '[::1]', '::1'];

export function openDoor(
  served: Served,
  { host, allowedHosts = [] }: { host: string; allowedHosts?: readonly string[] },
): Door {
  const names = [...LOCAL_NAMES, ...(isLoopback(host) ? [] : [host]), ...allowedHosts];
  const isOpen = !isLoopback(host);
  const isOurs = hostCheck(names);
  const isLocal = hostCheck(LOCAL_NAMES);
  return {
    checkAddress({ headers }) {
      if (!isOurs(headers.get('host'))) return refuse(403, 'FORBIDDEN', 'Host not allowed.');
      const origin = headers.get('origin');
      if (origin !== null && !validateOriginHeader(origin, names).ok) {
        return refuse(403, 'FORBIDDEN', 'Origin not allowed.');
      }
      return undefined;
    },
    async identify({ headers }) {
      const header = headers.get('authorization');
      // A header of another scheme is no token of ours, and no reason to serve its sender as `local`.
      const token = header === null ? undefined : (/^Bearer (\S+)$/i.exec(header)?.[1] ?? '');
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
