import { z } from 'zod';
import { POST_FAULTS } from '../lib/fault-codes.ts';
import { reconcilePost } from '../lib/post-x.ts';
import {
  body,
  describeReply,
  endpoint,
  guardRequest,
  headers,
  host,
  query,
  rawShape,
  requestFrom,
  sendRaw,
} from '../lib/universal.ts';
import { checkPostInside, postInside, sendRawPost } from '../lib/universal-post.ts';
import { defineXTool } from '../services.ts';

export const xPost = defineXTool({
  name: 'x_post',
  title: 'Send POST to the X API',
  summary: 'Sends a POST request to any X API endpoint.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: ['admin'],
  faults: [...POST_FAULTS, 'invalid_input'],
  requires: { xClient: true, db: true, userAuth: true, elevatedAccess: true },
  input: z.object({ endpoint, body, host, query, headers }),
  output: rawShape,
  describeApproval: ({ endpoint: to, body: sent }) => `Send POST ${to}${sent ? ` with ${sent}` : ''}?`,
  risks: () => ['reaches X below the typed tools'],
  async check(args, services) {
    const request = requestFrom('POST', args);
    await guardRequest(services, request);
    await checkPostInside(services, request);
  },
  async run(args, context) {
    const request = requestFrom('POST', args);
    const wish = await postInside(context.services, request);
    const reply = wish ? await sendRawPost(context, request, wish) : await sendRaw(context, request);
    return describeReply(reply, context.now());
  },
  /** Only a post can be looked for; anything else a person must settle. */
  async reconcile(args, context) {
    const wish = await postInside(context.services, requestFrom('POST', args));
    if (!wish) return { settled: 'unknown', why: 'Nothing is known about what this endpoint leaves behind.' };
    const settlement = await reconcilePost(context, wish);
    if (settlement.settled !== 'done') return settlement;
    const json = { data: settlement.data };
    return { settled: 'done', data: { status: 201, headers: {}, json, body_text: null, rate_limit: null } };
  },
});
