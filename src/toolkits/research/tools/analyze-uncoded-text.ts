import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { totalLength, uncovered } from '../lib/uncoded.ts';
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
    const { length } = lens.text(source_id);
    const codings = lens.reader.codings({ sourceId: source_id });
    const gaps = uncovered(length, codings);
    const uncoded = totalLength(gaps);
    return {
      source_id,
      total_length: length,
      coded_length: length - uncoded,
      uncoded_percentage: length === 0 ? 0 : Math.floor((uncoded * 100) / length),
      segment_count: codings.length,
      uncoded_ranges: gaps.map(({ start, end }) => ({ start_pos: start, end_pos: end, length: end - start })),
    };
  },
});
