import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { openSession } from '../lib/session.ts';
import { codeShape, showCodes } from '../lib/shapes.ts';
import { defineResearchTool } from '../services.ts';

export const listCodes = defineResearchTool({
  name: 'list_codes',
  title: 'List codes',
  summary: 'Get all codes in the codebook.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  faults: ['no_project'],
  input: z.object({}),
  output: z.array(codeShape),

  async run(_, context) {
    const { lens } = await openSession(context);
    return showCodes(lens, lens.reader.codes());
  },
});
