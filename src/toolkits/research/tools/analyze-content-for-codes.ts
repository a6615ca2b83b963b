import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { excerpt } from '../lib/excerpt.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';

const EXCERPT = 200;

export const analyzeContentForCodes = defineResearchTool({
  name: 'analyze_content_for_codes',
  title: 'Analyze uncoded content',
  summary:
    'Analyze uncoded content to identify patterns: words and phrases that recur and that no code is named after.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  faults: ['no_project', 'source_not_found', 'invalid_position', 'not_allowed'],
  deadlineMs: 120_000,
  input: z.object({ source_id: id('Source to analyze') }),
  output: z.object({
    source_id: z.int(),
    segment_count: z.int(),
    analysis: z.string(),
    uncoded_segments: z.array(
      z.object({ start_pos: z.int(), end_pos: z.int(), length: z.int(), text_excerpt: z.string() }),
    ),
    patterns: z.array(
      z.object({
        phrase: z.string(),
        occurrences: z.int(),
        speakers: z.array(z.string()),
        examples: z.array(z.object({ start_pos: z.int(), end_pos: z.int(), text: z.string() })),
      }),
    ),
  }),

  async run({ source_id }, context) {
    const { project, lens } = await openSession(context);
    lens.source(source_id);
    const analysis = await context.services.analysis.of(project);
    const uncoded = analysis.uncodedText(source_id, lens.reader);
    const patterns = await analysis.contentPatterns(source_id, { view: lens.reader, signal: context.signal });
    const segments = lens.reader.codings({ sourceId: source_id }).length;
    const found = patterns
      .slice(0, 3)
      .map(({ phrase, occurrences }) => `“${lens.mask(phrase)}” (${occurrences})`);
    return {
      source_id,
      segment_count: segments,
      analysis: `${uncoded.uncodedPercentage}% uncoded, ${uncoded.ranges.length} uncoded region(s) found, ${segments} existing segment(s)${found.length ? `; recurring without a code: ${found.join(', ')}` : ''}`,
      uncoded_segments: uncoded.ranges.map(({ start, end }) => ({
        start_pos: start,
        end_pos: end,
        length: end - start,
        text_excerpt: excerpt(
          lens.passage(source_id, start, Math.min(end, start + 2 * EXCERPT)).content,
          EXCERPT,
        ),
      })),
      patterns: patterns.map(({ phrase, occurrences, speakers, examples }) => ({
        phrase: lens.mask(phrase),
        occurrences,
        speakers: speakers.map((name) => lens.mask(name)),
        examples: examples.map(({ start, end }) => ({
          start_pos: start,
          end_pos: end,
          text: lens.passage(source_id, start, end).content,
        })),
      })),
    };
  },
});
