import type { Context } from 'hono';
import { Problem } from './problems.ts';

export interface Incoming {
  readonly authorization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Query and form pairs, which OAuth 1.0a signs. */
  readonly params: readonly (readonly [string, string])[];
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The request in parts, its body by content type. */
export async function readIncoming(context: Context): Promise<Incoming> {
  const url = new URL(context.req.url);
  const query = [...url.searchParams];
  const { body, pairs } = await readBody(context);
  return {
    authorization: context.req.header('authorization'),
    method: context.req.method,
    path: url.pathname,
    query: new Map(query),
    body,
    params: [...query, ...pairs],
  };
}

async function readBody(
  context: Context,
): Promise<{ body: Record<string, unknown> | undefined; pairs: [string, string][] }> {
  if (Number(context.req.header('content-length') ?? 0) > MAX_BYTES) {
    throw new Problem(413, {
      title: 'Payload Too Large',
      detail: 'Payload Too Large',
      type: 'about:blank',
      status: 413,
    });
  }
  const type = context.req.header('content-type') ?? '';
  if (type.startsWith('application/json')) return { body: parseJson(await context.req.text()), pairs: [] };
  if (type.startsWith('application/x-www-form-urlencoded')) {
    const pairs = [...new URLSearchParams(await context.req.text())];
    return { body: Object.fromEntries(pairs), pairs };
  }
  if (type.startsWith('multipart/form-data')) {
    const body: Record<string, unknown> = {};
    for (const [name, value] of await context.req.formData()) {
      body[name] = typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer());
    }
    return { body, pairs: [] };
  }
  return { body: undefined, pairs: [] };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Told below, like any other body that is not an object.
  }
  throw new Problem(400, {
    title: 'Invalid Request',
    detail: 'Requests with bodies must have content-type of application/json and a JSON object.',
    type: 'https://api.x.com/2/problems/invalid-request',
  });
}
