import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { uncodedText } from '../analysis/uncoded.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';

export const analyzeUncodedText = defineResearchTool({
  name: 'analyze_uncoded_text',
  title: 'Find uncoded text',
  summary: 'Analyze a source to find uncoded text ranges.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  faults: ['no_project', 'source_not_found', 'invalid_position'],
  input: z.object({ source_id: id() }),
  output: z.object({
    source_id: z.int(),
    total_length: z.int(),
    coded_length: z.int(),
    uncoded_percentage: z.int(),
    segment_count: z.int(),
    uncoded_ranges: z.array(z.object({ start_pos: z.int(), end_pos: z.int(), length: z.int() })),
  }),

  async run({ source_id }, context) {
    const { lens } = await openSession(context);
    const codings = lens.reader.codings({ sourceId: source_id });
    const found = uncodedText(lens.text(source_id), codings);
    return {
      source_id,
      total_length: found.totalLength,
      coded_length: found.codedLength,
      uncoded_percentage: found.uncodedPercentage,
      segment_count: codings.length,
      uncoded_ranges: found.gaps.map(({ start, end }) => ({
        start_pos: start,
        end_pos: end,
        length: end - start,
      })),
    };
  },
});
