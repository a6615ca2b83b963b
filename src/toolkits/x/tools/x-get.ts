import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import type { RawRequest } from '../client/api.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import {
  describeReply,
  endpoint,
  guardRequest,
  headers,
  host,
  nextPage,
  query,
  rawShape,
  requestFrom,
  sendRaw,
} from '../lib/universal.ts';
import { defineXTool, type XServices } from '../services.ts';

const input = z.object({
  endpoint,
  query_params: z.record(z.string(), z.string()).optional(),
  host,
  query,
  headers,
  auto_paginate: z.boolean().default(false).describe('Follow meta.next_token (ads: next_cursor).'),
  max_pages: z.number().int().min(1).max(10).default(10),
});

export const xGet = defineXTool({
  name: 'x_get',
  title: 'Send GET to the X API',
  summary: 'Sends a GET request to any X API endpoint.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['admin'],
  faults: [...X_FAULTS, 'invalid_input'],
  requires: { xClient: true, userAuth: true, elevatedAccess: true },
  input,
  output: rawShape.extend({
    pages: z.array(z.unknown()).optional(),
    incomplete: z.object({ code: z.string(), message: z.string() }).optional(),
  }),
  check: (args, services) => guardRequest(services, requestOf(args)),
  async run(args, context) {
    const request = requestOf(args);
    const first = await sendRaw(context, request);
    const reply = describeReply(first, context.now());
    if (!args.auto_paginate) return reply;
    return { ...reply, ...(await furtherPages(context, request, first.json, args.max_pages)) };
  },
});

const requestOf = ({ query_params = {}, query: pairs = [], ...args }: z.output<typeof input>): RawRequest => {
  const given = Object.entries(query_params).map(([key, value]) => ({ key, value }));
  const { endpoint: to, host: at, headers: extra } = args;
  return requestFrom('GET', { endpoint: to, host: at, headers: extra, query: [...given, ...pairs] });
};

/** Pages already read are never lost to one that fails: the reply then says it is incomplete, and why. */
async function furtherPages(
  context: ToolContext<XServices>,
  request: RawRequest,
  first: RawRequest['body'],
  maxPages: number,
) {
  const pages: unknown[] = [first ?? null];
  let next = nextPage(first);
  while (next !== undefined && pages.length < maxPages) {
    const { key } = next;
    const rest = (request.query ?? []).filter((pair) => pair.key !== key);
    try {
      const { json } = await sendRaw(context, { ...request, query: [...rest, next] });
      pages.push(json ?? null);
      next = nextPage(json);
    } catch (error) {
      if (!(error instanceof ToolFault)) throw error;
      return { pages, incomplete: { code: error.code, message: error.message } };
    }
  }
  return { pages };
}
