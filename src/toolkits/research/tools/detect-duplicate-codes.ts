import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { methodName } from '../lib/method.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';

export const detectDuplicateCodes = defineResearchTool({
  name: 'detect_duplicate_codes',
  title: 'Detect duplicate codes',
  summary:
    'Detect semantically similar codes. Opposites are left out. Merging them needs the researcher: suggest_merge_codes.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  faults: ['no_project', 'not_allowed'],
  deadlineMs: 120_000,
  input: z.object({
    threshold: z.number().min(0).max(1).default(0.8),
    include_usage_analysis: z.boolean().default(false),
  }),
  output: z.object({
    requires_approval: z.boolean(),
    codes_analyzed: z.int(),
    candidates: z.array(
      z.object({
        code_a_id: z.int(),
        code_a_name: z.string(),
        code_b_id: z.int(),
        code_b_name: z.string(),
        similarity: z.int(),
        rationale: z.string(),
        code_a_segments: z.int(),
        code_b_segments: z.int(),
        usage: z
          .object({
            same_segments: z.int().describe('Coded with both, exactly.'),
            overlap: z.number().describe('Share of their text under both, 0 to 1.'),
            shared_sources: z.int(),
          })
          .optional(),
      }),
    ),
    method: z.string(),
    note: z.string().optional(),
  }),

  async run({ threshold, include_usage_analysis }, context) {
    const { project, lens } = await openSession(context);
    const analysis = await context.services.analysis.of(project);
    const { candidates, provenance } = await analysis.detectDuplicateCodes(threshold, {
      view: lens.reader,
      withUsage: include_usage_analysis,
      signal: context.signal,
    });
    const counts = lens.reader.codingCounts();
    return {
      requires_approval: true,
      codes_analyzed: lens.reader.codes().length,
      candidates: candidates.map(({ a, b, similarity, rationale, usage }) => ({
        code_a_id: a.id,
        code_a_name: lens.mask(a.name),
        code_b_id: b.id,
        code_b_name: lens.mask(b.name),
        similarity: Math.round(similarity * 100),
        rationale: lens.mask(rationale),
        code_a_segments: counts.get(a.id) ?? 0,
        code_b_segments: counts.get(b.id) ?? 0,
        ...(usage
          ? {
              usage: {
                same_segments: usage.sameSegments,
                overlap: Math.round(usage.overlap * 1000) / 1000,
                shared_sources: usage.sources,
              },
            }
          : {}),
      })),
      method: methodName(provenance),
      ...(provenance.note ? { note: provenance.note } : {}),
    };
  },
});
