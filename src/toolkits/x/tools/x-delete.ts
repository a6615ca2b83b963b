import { z } from 'zod';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import {
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

export const xDelete = defineXTool({
  name: 'x_delete',
  title: 'Send DELETE to the X API',
  summary: 'Sends a DELETE request to any X API endpoint.',
  effect: 'destroy',
  reach: 'network',
  category: 'write',
  profiles: ['admin'],
  faults: [...ENGAGE_FAULTS, 'invalid_input'],
  requires: { xClient: true, db: true, userAuth: true, elevatedAccess: true },
  input: z.object({ endpoint, host, query, headers }),
  output: rawShape,
  describeApproval: ({ endpoint: to }) => `Send DELETE ${to}?`,
  risks: () => ['cannot be undone', 'reaches X below the typed tools'],
  check: (args, services) => guardRequest(services, requestFrom('DELETE', args)),
  async run(args, context) {
    return describeReply(await sendRaw(context, requestFrom('DELETE', args)), context.now());
  },
});
