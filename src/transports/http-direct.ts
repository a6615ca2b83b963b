import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isJsonContentType,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { Log } from '../contract/ports.ts';
import { type Principal, principalName } from '../contract/principal.ts';
import { isObject } from '../lib/is-object.ts';
import { hasPrototypeKey } from '../lib/json-shape.ts';
import type { Door, HeaderSource } from './http-access.ts';
import type { Intake } from './http-intake.ts';
import type { SessionTransport } from './http-session.ts';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export interface DirectOptions {
  readonly door: Door;
  readonly log: Log;
  readonly intake: Intake;
  /** The open session of this ID, if it is the principal's. */
  sessionOf(id: string, principal: Principal): SessionTransport | undefined;
  /** The way that every other request takes, and that words all refusals. */
  readonly otherwise: Listener;
}

/**
 * A plain request within a session goes from the connection to its server without the objects of the web platform.
 * Only what is certain to be one does: the same checks of address and principal, and nothing to be refused.
 */
export function createDirectListener({ door, log, intake, sessionOf, otherwise }: DirectOptions): Listener {
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const headers = new IncomingHeaders(incoming);
    const id = headers.get('mcp-session-id');
    if (id === null || !isPlain(headers) || door.checkAddress({ method: 'POST', headers }))
      return otherwise(incoming, outgoing);
    // A database that does not answer is for the other way to report.
    const who = await door.identify({ headers }).catch(() => undefined);
    if (!who || !('kind' in who)) return otherwise(incoming, outgoing);
    const session = sessionOf(id, who);
    if (!session) return otherwise(incoming, outgoing);
    const owner = principalName(who);
    const body = await intake.receive(incoming, outgoing, owner);
    // A client that left.
    if (outgoing.destroyed) return;
    if (!Buffer.isBuffer(body) || intake.begin(incoming, outgoing, owner))
      return otherwise(incoming, outgoing);
    const message = toPlainRequest(body.toString('utf8'));
    if (message && !session.isAnswering(message.id)) return session.answer(message, incoming, outgoing);
    otherwise(incoming, outgoing);
  };
  return (incoming, outgoing) => {
    if (incoming.method !== 'POST' || incoming.url !== '/mcp') otherwise(incoming, outgoing);
    else
      serve(incoming, outgoing).catch((error) => {
        log.error('HTTP request failed', { error, path: incoming.url });
        outgoing.destroy();
      });
  };
}

/** By its headers: of a known protocol version of 2025, with a JSON body, and an answer in either form. */
function isPlain(headers: HeaderSource): boolean {
  const version = headers.get('mcp-protocol-version');
  const accept = headers.get('accept') ?? '';
  return (
    (version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) &&
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    isJsonContentType(headers.get('content-type'))
  );
}

const FIELDS = new Set(['jsonrpc', 'id', 'method', 'params']);

/** Undefined for everything that is not just one request of a 2025 client. */
function toPlainRequest(text: string): JSONRPCRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.jsonrpc !== '2.0' || hasPrototypeKey(text, value)) return undefined;
  const { id, method, params } = value;
  if (typeof method !== 'string' || method === 'initialize') return undefined;
  if (typeof id !== 'string' && !Number.isInteger(id)) return undefined;
  if (params !== undefined && !isObject(params)) return undefined;
  const meta = params?._meta;
  if (meta !== undefined && (!isObject(meta) || Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)))
    return undefined;
  return Object.keys(value).every((key) => FIELDS.has(key))
    ? (value as unknown as JSONRPCRequest)
    : undefined;
}

/** Names and values as the web platform has them: a name that was sent twice has both values. */
class IncomingHeaders implements HeaderSource {
  readonly #values = new Map<string, string>();

  constructor({ rawHeaders }: IncomingMessage) {
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = (rawHeaders[index] ?? '').toLowerCase();
      const value = rawHeaders[index + 1] ?? '';
      const before = this.#values.get(name);
      this.#values.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  keys(): Iterable<string> {
    return this.#values.keys();
  }
}
