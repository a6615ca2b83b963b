import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { codeShape, showCodes } from '../lib/shapes.ts';
import { noCode } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

export const getCode = defineResearchTool({
  name: 'get_code',
  title: 'Get a code',
  summary: 'Get details for a specific code.',
  effect: 'read',
  reach: 'local',
  category: 'coding',
  profiles: READ_PROFILES,
  faults: ['no_project', 'code_not_found'],
  input: z.object({ code_id: id() }),
  output: codeShape,

  async run({ code_id }, context) {
    const { lens } = await openSession(context);
    const code = lens.reader.code(code_id);
    const [shown] = code ? showCodes(lens, [code]) : [];
    if (!shown) throw noCode(code_id);
    return shown;
  },
});
