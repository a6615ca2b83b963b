import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { stemsOf, wordsOf } from '../analysis/words.ts';
import { id } from '../lib/ids.ts';
import { methodName } from '../lib/method.ts';
import { openSession } from '../lib/session.ts';
import type { Lens } from '../privacy/lens.ts';
import { NOWHERE, type Replacement } from '../privacy/pseudonyms.ts';
import { defineResearchTool } from '../services.ts';
import type { Span } from '../statistics/spans.ts';

export const findSimilarContent = defineResearchTool({
  name: 'find_similar_content',
  title: 'Find similar content',
  summary:
    'Find similar content across sources: the phrase, its words in other forms or misspelt, and sentences of near meaning.',
  effect: 'read',
  reach: 'local',
  category: 'analysis',
  profiles: READ_PROFILES,
  faults: ['no_project', 'code_not_found', 'validation_error', 'not_allowed'],
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
    if (!search_text.trim()) throw new ToolFault('validation_error', 'search_text is empty.');
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
  lens: Lens,
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
