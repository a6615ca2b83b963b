import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import type { RawReply, RawRequest } from '../client/api.ts';
import { faultOf } from '../client/faults.ts';
import { reachX, type XServices } from '../services.ts';

const pair = z.object({ key: z.string(), value: z.string() });

/** Shared by the four universal tools; what may be sent is judged by the client's guards. */
export const endpoint = z
  .string()
  .min(1)
  .max(2048)
  .describe('Path like /2/users/me, or a full URL on an allowed host.');
export const host = z
  .enum(['api.x.com', 'upload.x.com', 'upload.twitter.com', 'ads-api.x.com'])
  .optional()
  .describe('With a path; api.x.com unless told.');
export const query = z.array(pair).max(100).optional();
export const headers = z.array(pair).max(20).optional();
export const body = z.string().max(1_048_576).optional().describe('JSON text.');

export const rawShape = z.object({
  status: z.number(),
  headers: z.record(z.string(), z.string()),
  json: z.unknown(),
  body_text: z.string().nullable(),
  rate_limit: z
    .object({ remaining: z.number(), reset_at: z.string(), recommended_wait_ms: z.number() })
    .nullable(),
});

/** For the tools' `check`: a request that would leave the allowed hosts is refused before policy sees it. */
export async function guardRequest(services: XServices, request: RawRequest): Promise<void> {
  const x = await services.x();
  x.checkRaw(request);
}

export async function sendRaw(context: ToolContext<XServices>, request: RawRequest): Promise<RawReply> {
  const x = await reachX(context);
  const reply = await x.raw(request, { signal: context.signal, callId: context.callId });
  if (reply.retries > 0) context.note({ retry_count: reply.retries });
  if (reply.status >= 400) {
    throw faultOf(
      { status: reply.status, json: reply.json, headers: reply.headers },
      { change: request.method !== 'GET', now: context.now() },
    );
  }
  return reply;
}

export function describeReply(reply: RawReply, now: Date): z.input<typeof rawShape> {
  const { rateLimit } = reply;
  const wait = rateLimit && rateLimit.remaining === 0 ? rateLimit.resetAt.getTime() - now.getTime() : 0;
  return {
    status: reply.status,
    headers: { ...reply.headers },
    json: reply.json ?? null,
    // The text is repeated only where it is all there is.
    body_text: reply.json === undefined ? reply.bodyText : null,
    rate_limit: rateLimit
      ? {
          remaining: rateLimit.remaining,
          reset_at: rateLimit.resetAt.toISOString(),
          recommended_wait_ms: Math.max(0, wait),
        }
      : null,
  };
}

/** The fields a tool was not given are left out, so that the guards see what the caller wrote. */
export const requestFrom = (
  method: RawRequest['method'],
  args: Pick<RawRequest, 'endpoint' | 'host' | 'query' | 'headers'> & { readonly body?: JsonValue },
): RawRequest => ({ method, ...args });

/** Where the next page begins, in the words of the API that answered: the Ads API has its own. */
export function nextPage(json: JsonValue | undefined): { key: string; value: string } | undefined {
  if (!isObject(json)) return undefined;
  const token = isObject(json.meta) ? json.meta.next_token : undefined;
  if (typeof token === 'string' && token !== '') return { key: 'pagination_token', value: token };
  const cursor = json.next_cursor;
  return typeof cursor === 'string' && cursor !== '' ? { key: 'cursor', value: cursor } : undefined;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
