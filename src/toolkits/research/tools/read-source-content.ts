import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';

export const readSourceContent = defineResearchTool({
  name: 'read_source_content',
  title: 'Read a source',
  summary:
    'Read document text with pagination. Positions are Unicode code points of the original text; where names were replaced, `replacements` maps the shown text to them. The next page starts at end_pos.',
  effect: 'read',
  reach: 'local',
  category: 'project',
  profiles: READ_PROFILES,
  faults: ['no_project', 'source_not_found', 'invalid_position'],
  input: z.object({
    source_id: id('Source ID'),
    start_pos: z.int().default(0),
    end_pos: z.int().optional(),
    max_length: z.int().default(50000),
  }),
  output: z.object({
    source_id: z.int(),
    source_name: z.string(),
    content: z.string(),
    start_pos: z.int(),
    end_pos: z.int(),
    total_length: z.int(),
    has_more: z.boolean(),
    replacements: z
      .array(
        z.object({
          content_start: z.int(),
          content_end: z.int(),
          start_pos: z.int(),
          end_pos: z.int(),
        }),
      )
      .optional(),
  }),

  async run({ source_id, start_pos, end_pos, max_length }, context) {
    const { lens } = await openSession(context);
    const source = lens.source(source_id);
    const { length } = lens.text(source_id);
    if (max_length < 1) throw new ToolFault('validation_error', 'max_length must be 1 or more.');
    if (start_pos < 0 || start_pos > length || (end_pos !== undefined && end_pos < start_pos)) {
      throw new ToolFault(
        'invalid_position',
        `Source ${source_id} has ${length} characters; start_pos ${start_pos} and end_pos ${end_pos ?? length} do not lie in it in this order.`,
        { detail: { source_id, total_length: length } },
      );
    }
    const end = Math.min(end_pos ?? length, start_pos + max_length, length);
    const { content, replacements } = lens.passage(source_id, start_pos, end);
    return {
      source_id,
      source_name: lens.mask(source.name),
      content,
      start_pos,
      end_pos: end,
      total_length: length,
      has_more: end < length,
      ...(lens.masked ? { replacements: [...replacements] } : {}),
    };
  },
});
