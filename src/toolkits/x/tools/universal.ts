import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { PresentationDraft } from '../../../contract/presentation.ts';
import type { PresentContext, ToolContext } from '../../../contract/tool.ts';
import type { RawRequest } from '../client/api.ts';
import {
  body,
  checkPostInside,
  describeReply,
  endpoint,
  guardRequest,
  headers,
  host,
  nextPage,
  postInside,
  query,
  queryValue,
  rawShape,
  requestFrom,
  sendRaw,
  sendRawPost,
} from '../client/universal.ts';
import { ENGAGE_ERRORS, POST_ERRORS, X_ERRORS } from '../errors.ts';
import { reconcilePost } from '../posting/post.ts';
import { accountOf } from '../present.ts';
import { defineXTool, type XServices } from '../services.ts';

const input = z.object({
  endpoint,
  query_params: z.record(z.string(), queryValue).optional(),
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
  errors: [...X_ERRORS, 'invalid_input'],
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
      if (!(error instanceof ToolError)) throw error;
      return { pages, incomplete: { code: error.code, message: error.message } };
    }
  }
  return { pages };
}

/** Nothing is known of what such a request does, and the page says so. */
async function presentRaw(
  method: string,
  to: string,
  context: PresentContext<XServices>,
): Promise<PresentationDraft> {
  const { target } = await accountOf(context);
  // IDs inside of a path say nothing to a person; the exact arguments have them.
  const path = to.replace(/^https?:\/\/[^/]+/u, '').replace(/\d{6,}/gu, '…');
  return {
    title: `Send ${method} ${path} to the X API`,
    done: `Sent ${method} ${path} to the X API`,
    act: 'send',
    target,
    effect: { text: 'Unknown', detail: 'Raw request to the X API' },
    undo: { possible: null, text: 'Unknown' },
  };
}

export const xPost = defineXTool({
  name: 'x_post',
  title: 'Send POST to the X API',
  summary: 'Sends a POST request to any X API endpoint.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: ['admin'],
  errors: [...POST_ERRORS, 'invalid_input'],
  requires: { xClient: true, db: true, userAuth: true, elevatedAccess: true },
  input: z.object({ endpoint, body, host, query, headers }),
  output: rawShape,
  present: (args, context) => presentRaw('POST', args.endpoint, context),
  risks: () => ['Raw X API request, not a typed tool'],
  async limits(args, services) {
    const wanted = await postInside(services, requestFrom('POST', args));
    return wanted ? services.safety.presentLimits(wanted) : [];
  },
  async check(args, services) {
    const request = requestFrom('POST', args);
    await guardRequest(services, request);
    await checkPostInside(services, request);
  },
  async run(args, context) {
    const request = requestFrom('POST', args);
    const wanted = await postInside(context.services, request);
    const reply = wanted ? await sendRawPost(context, request, wanted) : await sendRaw(context, request);
    return describeReply(reply, context.now());
  },
  /** Only a post can be looked for; anything else a person must settle. */
  async reconcile(args, context) {
    const wanted = await postInside(context.services, requestFrom('POST', args));
    if (!wanted) return { settled: 'unknown', why: 'The effect of this endpoint cannot be checked.' };
    const settlement = await reconcilePost(context, wanted);
    if (settlement.settled !== 'done') return settlement;
    const json = { data: settlement.data };
    return { settled: 'done', data: { status: 201, headers: {}, json, body_text: null, rate_limit: null } };
  },
});

export const xPut = defineXTool({
  name: 'x_put',
  title: 'Send PUT to the X API',
  summary: 'Sends a PUT request to any X API endpoint.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: ['admin'],
  errors: [...ENGAGE_ERRORS, 'invalid_input'],
  requires: { xClient: true, db: true, userAuth: true, elevatedAccess: true },
  input: z.object({ endpoint, body, host, query, headers }),
  output: rawShape,
  present: (args, context) => presentRaw('PUT', args.endpoint, context),
  risks: () => ['Raw X API request, not a typed tool'],
  check: (args, services) => guardRequest(services, requestFrom('PUT', args)),
  async run(args, context) {
    return describeReply(await sendRaw(context, requestFrom('PUT', args)), context.now());
  },
});

export const xDelete = defineXTool({
  name: 'x_delete',
  title: 'Send DELETE to the X API',
  summary: 'Sends a DELETE request to any X API endpoint.',
  effect: 'destroy',
  reach: 'network',
  category: 'write',
  profiles: ['admin'],
  errors: [...ENGAGE_ERRORS, 'invalid_input'],
  requires: { xClient: true, db: true, userAuth: true, elevatedAccess: true },
  input: z.object({ endpoint, host, query, headers }),
  output: rawShape,
  present: (args, context) => presentRaw('DELETE', args.endpoint, context),
  risks: () => ['Cannot be undone', 'Raw X API request, not a typed tool'],
  check: (args, services) => guardRequest(services, requestFrom('DELETE', args)),
  async run(args, context) {
    return describeReply(await sendRaw(context, requestFrom('DELETE', args)), context.now());
  },
});
