import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { uncodedText } from '../analysis/uncoded.ts';
import { stemsOf, wordsOf } from '../analysis/words.ts';
import type { PrivacyView } from '../privacy/privacy-view.ts';
import { NOWHERE, type Replacement } from '../privacy/pseudonyms.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import type { Span } from '../statistics/frequencies.ts';
import { methodName } from '../suggestions/automatic.ts';
import { excerpt, id } from './shapes.ts';

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
  errors: ['no_project', 'source_not_found', 'invalid_position', 'not_allowed'],
  deadlineMs: 600_000,
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
    const { project, lens } = await openSession(context, source_id);
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

export const analyzeUncodedText = defineResearchTool({
  name: 'analyze_uncoded_text',
  title: 'Find uncoded text',
  summary: 'Analyze a source to find uncoded text ranges.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  errors: ['no_project', 'source_not_found', 'invalid_position'],
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
    const { lens } = await openSession(context, source_id);
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

export const detectDuplicateCodes = defineResearchTool({
  name: 'detect_duplicate_codes',
  title: 'Detect duplicate codes',
  summary:
    'Detect semantically similar codes. Opposites are left out. Merging them needs the researcher: suggest_merge_codes.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  errors: ['no_project', 'not_allowed'],
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

export const findSimilarContent = defineResearchTool({
  name: 'find_similar_content',
  title: 'Find similar content',
  summary:
    'Find similar content across sources: the phrase, its words in other forms or misspelt, and sentences of near meaning.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  errors: ['no_project', 'code_not_found', 'validation_error', 'not_allowed'],
  deadlineMs: 120_000,
  input: z.object({ search_text: z.string(), code_id: id('Optional context').optional() }),
  output: z.object({
    search_text: z.string(),
    matches: z.array(
      z.object({
        source_id: z.int(),
        source_name: z.string(),
        start_pos: z.int(),
        end_pos: z.int(),
        text: z.string(),
        similarity: z.int(),
        match_type: z.string(),
      }),
    ),
    match_count: z.int(),
    method: z.string(),
    note: z.string().optional(),
    sources_searched_by_meaning: z.int(),
    sources_not_searched_by_meaning: z.int(),
  }),

  async run({ search_text, code_id }, context) {
    if (!search_text.trim()) throw new ToolError('validation_error', 'search_text is empty.');
    const { project, lens } = await openSession(context);
    const analysis = await context.services.analysis.of(project);
    const options = { view: lens.reader, signal: context.signal };
    const hidden = new Set(lens.hidden.flatMap(stemsOf));
    const untold = await stemsUntold(
      stemsOf(search_text).filter((stem) => hidden.has(stem)),
      lens,
      (stem) => analysis.placesOf(stem, options),
    );
    const query = lens.unmask(search_text, (words) => without(words, untold));
    const found = await analysis.findSimilarContent(query, code_id, { ...options, hidden });
    const { provenance } = found;
    const matches = found.matches.flatMap((match) => {
      const { content, replacements } = lens.passage(match.sourceId, match.start, match.end);
      const shown = {
        source_id: match.sourceId,
        source_name: lens.mask(match.sourceName),
        start_pos: match.start,
        end_pos: match.end,
        text: content,
        similarity: Math.round(match.similarity),
        match_type: match.kind,
      };
      // Found by a name behind a pseudonym that was not asked for: telling so would tell whose it is.
      const asked = ({ content_start, content_end }: Replacement) =>
        search_text
          .toLowerCase()
          .includes([...content].slice(content_start, content_end).join('').toLowerCase());
      const isGiveaway =
        match.kind !== 'meaning' &&
        replacements.length > 0 &&
        match.matched.some((word) => !content.includes(word)) &&
        !replacements.some(asked);
      return isGiveaway ? [] : [shown];
    });
    return {
      search_text,
      matches,
      match_count: matches.length,
      method: methodName(provenance),
      ...(provenance.note ? { note: provenance.note } : {}),
      sources_searched_by_meaning: found.searchedByMeaning,
      sources_not_searched_by_meaning: found.notSearchedByMeaning,
    };
  },
});

/** Of stems that names have, those that stand in nothing the caller is shown: to them they are made up. */
async function stemsUntold(
  stems: readonly string[],
  lens: PrivacyView,
  placesOf: (stem: string) => Promise<readonly (Span & { readonly sourceId: number })[]>,
): Promise<ReadonlySet<string>> {
  const untold = new Set<string>();
  for (const stem of new Set(stems)) {
    const shown = (await placesOf(stem)).some(({ sourceId, start, end }) =>
      stemsOf(lens.passage(sourceId, start, end).content).includes(stem),
    );
    if (!shown) untold.add(stem);
  }
  return untold;
}

function without(text: string, untold: ReadonlySet<string>): string {
  const cut = wordsOf(text).filter(({ stem }) => untold.has(stem));
  return cut.reduceRight((rest, { start, end }) => rest.slice(0, start) + NOWHERE + rest.slice(end), text);
}
