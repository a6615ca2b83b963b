import type { JsonValue } from '../../../contract/json.ts';
import { put } from '../../../lib/lookup.ts';
import { timeLimit } from '../../../lib/time-limit.ts';
import type { WireRequest } from '../endpoints/build.ts';
import { percent } from '../endpoints/oauth1.ts';

/** An answer of X with any status. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  readonly json: JsonValue | undefined;
}

/** No answer came. `sent` is false only when the request certainly never left. */
export class NoResponseError extends Error {
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(sent ? 'no answer' : 'not sent', { cause });
    this.name = 'NoResponseError';
    this.sent = sent;
  }
}

export interface SendOptions {
  /** `https://api.x.com`, or where the sandbox listens. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const MAX_BODY_BYTES = 20 * 1024 * 1024;

/** Header names a caller may see; cookies and the like stay here. */
const VISIBLE =
  /^(content-type|date|retry-after|location|x-(access-level|transaction-id|response-time|rate-limit-.+|app-limit-.+|user-limit-.+|account-rate-limit-.+))$/;

/** Failures of name lookup, connection and TLS: no byte of the request was written. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** One HTTP exchange: never redirected, never repeated. */
export async function send(request: WireRequest, options: SendOptions): Promise<Answer> {
  if (options.signal?.aborted) throw new NoResponseError(false, options.signal.reason);
  const url = urlOf(request, options.origin);
  const limit = timeLimit(options.timeoutMs, options.signal);
  try {
    return await exchange(request, url, options.headers, limit.signal);
  } finally {
    limit.clear();
  }
}

async function exchange(
  request: WireRequest,
  url: string,
  ownHeaders: SendOptions['headers'],
  signal: AbortSignal,
): Promise<Answer> {
  const { body, headers } = encode(request.body);
  let response: Response;
  try {
    response = await fetch(url, {
      method: request.method,
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json', ...headers, ...ownHeaders },
      ...(body === undefined ? {} : { body }),
    });
  } catch (error) {
    throw new NoResponseError(!neverLeft(error), error);
  }
  try {
    const bodyText = await readText(response);
    return {
      status: response.status,
      headers: visibleHeaders(response.headers),
      bodyText,
      json: parseJson(bodyText),
    };
  } catch (error) {
    throw new NoResponseError(true, error);
  }
}

function urlOf(request: Pick<WireRequest, 'path' | 'query'>, origin: string): string {
  const query = request.query.map(([key, value]) => `${percent(key)}=${percent(value)}`).join('&');
  return `${origin.replace(/\/$/, '')}${request.path}${query ? `?${query}` : ''}`;
}

function encode(body: WireRequest['body']): { body?: string | FormData; headers: Record<string, string> } {
  switch (body.type) {
    case 'none':
      return { headers: {} };
    case 'json':
      return { body: JSON.stringify(body.value), headers: { 'content-type': 'application/json' } };
    case 'form': {
      const text = body.pairs.map(([key, value]) => `${percent(key)}=${percent(value)}`).join('&');
      return { body: text, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    }
    case 'multipart': {
      const form = new FormData();
      for (const [name, value] of body.parts) {
        if (typeof value === 'string') form.append(name, value);
        else form.append(name, new Blob([new Uint8Array(value)]), name);
      }
      return { body: form, headers: {} };
    }
  }
}

function neverLeft(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && BEFORE_SENDING.has(at.code)) return true;
    // Happy Eyeballs reports one error per address it tried.
    if (at instanceof AggregateError && at.errors.length > 0 && at.errors.every(neverLeft)) return true;
  }
  return false;
}

async function readText(response: Response): Promise<string> {
  if (!response.body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw new Error(`the answer is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function visibleHeaders(headers: Headers): Record<string, string> {
  const visible: Record<string, string> = {};
  for (const [name, value] of headers) if (VISIBLE.test(name)) put(visible, name, value);
  return visible;
}

function parseJson(text: string): JsonValue | undefined {
  if (text === '') return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
