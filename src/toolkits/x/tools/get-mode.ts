import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineXTool } from '../services.ts';

const MEANING = {
  autopilot: 'The growth loops act on their own, within the limits and the policy.',
  composer: 'You write, the assistant helps; every change waits for approval.',
} as const;

export const getMode = defineXTool({
  name: 'get_mode',
  title: 'Get operating mode',
  summary: 'Operating mode (autopilot or composer) and whether changes ask first.',
  effect: 'read',
  reach: 'local',
  category: 'meta',
  profiles: READ_PROFILES,
  faults: [],
  input: z.object({}),
  output: z.object({
    mode: z.enum(['autopilot', 'composer']),
    approval_mode: z.boolean(),
    description: z.string(),
  }),
  async run(_args, { services }) {
    const { mode, approvalMode } = services.stance();
    return { mode, approval_mode: approvalMode, description: MEANING[mode] };
  },
});
