import { validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { LOCAL_AGENT, type Principal } from '../contract/principal.ts';
import { isLoopback } from '../lib/loopback.ts';
import type { Served } from './served.ts';

export interface Door {
  /** A refusal when the request was sent to or from a foreign name (DNS rebinding); undefined when it is fine. */
  checkAddress(request: Request): Response | undefined;
  /** Who is calling, or the refusal. */
  identify(request: Request): Promise<Principal | Response>;
}

const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]', '::1'];

export function openDoor(
  served: Served,
  { host, allowedHosts = [] }: { host: string; allowedHosts?: readonly string[] },
): Door {
  const names = [...LOCAL_NAMES, ...(isLoopback(host) ? [] : [host]), ...allowedHosts];
  const isOpen = !isLoopback(host);
  return {
    checkAddress(request) {
      const { headers } = request;
      const called = validateHostHeader(headers.get('host'), names);
      if (!called.ok) return refuse(403, 'FORBIDDEN', 'This server does not answer to that host name.');
      const origin = headers.get('origin');
      if (origin !== null && !validateOriginHeader(origin, names).ok) {
        return refuse(403, 'FORBIDDEN', 'Requests from that web page are not allowed.');
      }
      return undefined;
    },
    async identify(request) {
      const header = request.headers.get('authorization');
      if (header === null) {
        return isOpen || cameThrough(request)
          ? refuse(401, 'UNAUTHORIZED', 'An agent token is required: Authorization: Bearer …')
          : LOCAL_AGENT;
      }
      const token = /^Bearer (\S+)$/i.exec(header)?.[1];
      const known = token === undefined ? undefined : await served.authenticate(token);
      return known ?? refuse(401, 'UNAUTHORIZED', 'The token is not known or was revoked.');
    },
  };
}

/** A proxy on this machine speaks from loopback too; whom it lets in is not on this machine. */
function cameThrough({ headers }: Request): boolean {
  if ([...headers.keys()].some((name) => FORWARDED.test(name))) return true;
  return !validateHostHeader(headers.get('host'), LOCAL_NAMES).ok;
}

const FORWARDED = /^(forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

function refuse(status: 401 | 403, code: string, message: string): Response {
  const headers = status === 401 ? { 'www-authenticate': 'Bearer' } : undefined;
  return Response.json({ success: false, error: message, error_code: code }, { status, headers });
}
