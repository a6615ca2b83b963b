import { z } from 'zod';
import type { CallDetail } from '../../../contract/ports.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import {
  CALL_STATUSES,
  describeMutation,
  MUTATION_STATUSES,
  mutation,
  statusOf,
} from '../lib/mutation-view.ts';
import { callsFor } from '../lib/shown-to.ts';
import { defineXTool } from '../services.ts';

const ALL = [...new Set(Object.values(CALL_STATUSES).flat())];

export const getRecentMutations = defineXTool({
  name: 'get_recent_mutations',
  title: 'List recent changes',
  summary: 'Recent changes with status and how to undo each, newest first.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(100).default(20),
    tool_name: z.string().optional(),
    status: z.enum(MUTATION_STATUSES).optional(),
  }),
  output: z.object({ count: z.number(), mutations: z.array(mutation) }),
  async run({ limit, tool_name, status }, context) {
    const { services } = context;
    const { telemetry } = services.kernel;
    const calls = await callsFor(context, {
      toolkit: 'x',
      effects: ['change', 'destroy'],
      statuses: status ? CALL_STATUSES[status] : ALL,
      tool: tool_name,
      // Replays are marked on the row, not in its status, so they are told apart here.
      limit: status === 'success' || status === 'duplicate' ? limit * 5 : limit,
    });
    const wanted = calls.filter((call) => !status || statusOf(call) === status).slice(0, limit);
    const details = await Promise.all(wanted.map((call) => telemetry.call(call.callId)));
    const mutations = details
      .filter((detail): detail is CallDetail => detail !== undefined)
      .map((detail) => describeMutation(detail, services));
    return { count: mutations.length, mutations };
  },
});
