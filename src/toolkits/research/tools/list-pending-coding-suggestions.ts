import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';
import { listSuggestions } from '../suggestions/memory.ts';
import { argNumber, pendingShape, tellPending } from '../suggestions/show.ts';

export const listPendingCodingSuggestions = defineResearchTool({
  name: 'list_pending_coding_suggestions',
  title: 'List pending coding suggestions',
  summary: 'List pending coding suggestions.',
  effect: 'read',
  reach: 'local',
  category: 'suggestions',
  profiles: READ_PROFILES,
  faults: ['no_project'],
  input: z.object({ source_id: id('Filter by source (optional)').optional() }),
  output: z.object({
    count: z.int(),
    suggestions: z.array(
      pendingShape.extend({
        source_id: z.int(),
        code_id: z.int(),
        code_name: z.string(),
        start_pos: z.int(),
        end_pos: z.int(),
      }),
    ),
  }),

  async run({ source_id }, context) {
    const { project, lens } = await openSession(context);
    const names = new Map(lens.reader.codes().map((code) => [code.id, code.name]));
    const waiting = await listSuggestions(
      context.services.approvals,
      project.id,
      ['apply_code'],
      ['pending'],
    );
    const suggestions = waiting.flatMap((item) => {
      const source = argNumber(item.args, 'source_id');
      const code = argNumber(item.args, 'code_id');
      if ((source_id !== undefined && source !== source_id) || !lens.reader.source(source)) return [];
      return [
        {
          ...tellPending(item, lens),
          source_id: source,
          code_id: code,
          code_name: lens.mask(names.get(code) ?? ''),
          start_pos: argNumber(item.args, 'start_pos'),
          end_pos: argNumber(item.args, 'end_pos'),
        },
      ];
    });
    return { count: suggestions.length, suggestions };
  },
});
