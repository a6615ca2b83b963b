import { z } from 'zod';
import type { Effect } from '../../../contract/effect.ts';
import { isChange } from '../../../contract/effect.ts';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { describeMutation, mutation, resultOf } from '../lib/mutation-view.ts';
import { isShownTo } from '../lib/shown-to.ts';
import { defineXTool } from '../services.ts';

export const getMutationDetail = defineXTool({
  name: 'get_mutation_detail',
  title: 'Get one change',
  summary: 'One change with its parameters, result, evidence and how to undo it.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error', 'invalid_input'],
  requires: { db: true },
  input: z.object({ correlation_id: z.string().min(1).describe('From get_recent_mutations.') }),
  output: mutation.extend({
    category: z.string(),
    decision: z.string(),
    matched_rule_id: z.string().nullable(),
    evidence_hash: z.string().nullable(),
    duplicate_of: z.string().nullable(),
    params: z.unknown(),
    result: z.unknown(),
  }),
  async run({ correlation_id }, { services, principal }) {
    const call = await services.kernel.telemetry.call(correlation_id);
    const shown = call?.toolkit === 'x' && isChange(call.effect as Effect) && isShownTo(principal, call);
    // Another agent's change is answered like one that never was.
    if (!shown) {
      throw new ToolFault('invalid_input', `No change has the correlation id ${correlation_id}.`, {
        detail: { correlation_id },
      });
    }
    return {
      ...describeMutation(call, services),
      category: call.category,
      decision: call.decision,
      matched_rule_id: call.rule ?? null,
      evidence_hash: call.evidenceHash ?? null,
      duplicate_of: call.replayOf ?? null,
      params: call.args ?? null,
      result: resultOf(call) ?? null,
    };
  },
});
