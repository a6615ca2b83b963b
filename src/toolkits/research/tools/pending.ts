import { z } from 'zod';
import { describeAsked } from '../../../contract/ports.ts';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { argNumber, argText, batchItemsFor, batchStatus, tellPending } from '../suggestions/decide.ts';
import { listSuggestions } from '../suggestions/propose.ts';
import { pendingShape } from '../views.ts';
import { id } from './shapes.ts';

export const listPendingSuggestions = defineResearchTool({
  name: 'list_pending_suggestions',
  title: 'List pending suggestions',
  summary: 'List pending code, merge, theme and metadata suggestions.',
  effect: 'read',
  reach: 'local',
  category: 'suggestions',
  profiles: READ_PROFILES,
  errors: ['no_project'],
  input: z.object({}),
  output: z.object({
    count: z.int(),
    suggestions: z.array(
      pendingShape.extend({ name: z.string(), color: z.string(), description: z.string() }),
    ),
    merge_suggestions: z.array(pendingShape.extend({ merge_source_id: z.int(), merge_target_id: z.int() })),
    theme_suggestions: z.array(pendingShape.extend({ name: z.string(), code_ids: z.array(z.int()) })),
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
      theme_suggestions: (await find('create_category')).map((item) => ({
        ...tellPending(item, lens),
        name: lens.tell(argText(item.args, 'name')),
        code_ids: (Array.isArray(item.args.code_ids) ? item.args.code_ids : []).map(Number),
      })),
      metadata_suggestions: metadata.map((item) => ({
        ...tellPending(item, lens),
        source_id: argNumber(item.args, 'source_id'),
        summary: lens.tell(describeAsked(item)),
      })),
    };
  },
});

export const listPendingCodingSuggestions = defineResearchTool({
  name: 'list_pending_coding_suggestions',
  title: 'List pending coding suggestions',
  summary: 'List pending coding suggestions.',
  effect: 'read',
  reach: 'local',
  category: 'suggestions',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found'],
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
    if (source_id !== undefined) lens.source(source_id);
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

export const getSuggestionBatchStatus = defineResearchTool({
  name: 'get_suggestion_batch_status',
  title: 'Get the status of a batch',
  summary: 'Get status of a suggestion batch.',
  effect: 'read',
  reach: 'local',
  category: 'suggestions',
  profiles: READ_PROFILES,
  errors: ['not_found'],
  input: z.object({ batch_id: z.string() }),
  output: z.object({
    batch_id: z.string(),
    status: z.enum(['pending_review', 'reviewed', 'applied']),
    total_count: z.int(),
    pending_count: z.int(),
    reviewed_count: z.int(),
    applied_count: z.int(),
    rejected_count: z.int(),
    failed_count: z.int(),
  }),

  async run({ batch_id }, { services, principal }) {
    const status = batchStatus(await batchItemsFor(principal, services, batch_id));
    return { batch_id, ...status, status: status.status as 'pending_review' | 'reviewed' | 'applied' };
  },
});
