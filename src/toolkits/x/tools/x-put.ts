import { z } from 'zod';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
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
import { defineXTool } from '../services.ts';

export const xPut = defineXTool({
  name: 'x_put',
  title: 'Send PUT to the X API',
  summary: 'Sends a PUT request to any X API endpoint.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: ['admin'],
  faults: [...ENGAGE_FAULTS, 'invalid_input'],
  requires: { xClient: true, db: true, userAuth: true, elevatedAccess: true },
  input: z.object({ endpoint, body, host, query, headers }),
  output: rawShape,
  describeApproval: ({ endpoint: to, body: sent }) => `Send PUT ${to}${sent ? ` with ${sent}` : ''}?`,
  risks: () => ['reaches X below the typed tools'],
  check: (args, services) => guardRequest(services, requestFrom('PUT', args)),
  async run(args, context) {
    return describeReply(await sendRaw(context, requestFrom('PUT', args)), context.now());
  },
});
