import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineGovernanceTool } from '../services.ts';

export const auditGet = defineGovernanceTool({
  name: 'audit_get',
  title: 'Get the evidence of a call',
  summary:
    'The log entries a call left, each with a proof that it is in the signed log. `countersign audit check` verifies it offline.',
  effect: 'read',
  reach: 'local',
  category: 'governance',
  profiles: READ_PROFILES,
  faults: ['not_found'],
  input: z.object({
    call_id: z.string().min(1).describe('Call id from a reply (tool_call_id, correlation_id or _meta).'),
  }),
  output: z.record(z.string(), z.unknown()),
  async run({ call_id: callId }, { services }) {
    const proof = await services.audit.proof(callId);
    if (!proof) throw new ToolFault('not_found', `The log has no call ${callId}.`);
    return proof;
  },
});
