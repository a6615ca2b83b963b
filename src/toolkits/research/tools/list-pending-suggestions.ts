import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';
import { listSuggestions } from '../suggestions/memory.ts';
import { argNumber, argText, pendingShape, tellPending } from '../suggestions/show.ts';

export const listPendingSuggestions = defineResearchTool({
  name: 'list_pending_suggestions',
  title: 'List pending suggestions',
  summary: 'List pending code suggestions, and the merges and metadata that wait beside them.',
  effect: 'read',
  reach: 'local',
  category: 'suggestions',
  profiles: READ_PROFILES,
  faults: ['no_project'],
  input: z.object({}),
  output: z.object({
    count: z.int(),
    suggestions: z.array(
      pendingShape.extend({ name: z.string(), color: z.string(), description: z.string() }),
    ),
    merge_suggestions: z.array(pendingShape.extend({ merge_source_id: z.int(), merge_target_id: z.int() })),
    metadata_suggestions: z.array(pendingShape.extend({ source_id: z.int(), summary: z.string() })),
  }),

  async run(_, context) {
    const { project, lens } = await openSession(context);
    const find = (tool: string) =>
      listSuggestions(context.services.approvals, project.id, [tool], ['pending']);
    const codes = await find('create_code');
    const merges = await find('merge_codes');
    // A source may have been put off limits since.
    const metadata = (await find('update_source_metadata')).filter(({ args }) =>
      lens.reader.source(argNumber(args, 'source_id')),
    );
    return {
      count: codes.length,
      suggestions: codes.map((item) => ({
        ...tellPending(item, lens),
        name: lens.tell(argText(item.args, 'name')),
        color: argText(item.args, 'color'),
        description: lens.tell(argText(item.args, 'memo')),
      })),
      merge_suggestions: merges.map((item) => ({
        ...tellPending(item, lens),
        merge_source_id: argNumber(item.args, 'source_code_id'),
        merge_target_id: argNumber(item.args, 'target_code_id'),
      })),
      metadata_suggestions: metadata.map((item) => ({
        ...tellPending(item, lens),
        source_id: argNumber(item.args, 'source_id'),
        summary: lens.tell(item.summary),
      })),
    };
  },
});
