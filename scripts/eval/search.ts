import { ProjectAnalysis } from '../../src/toolkits/research/analysis/service.ts';
import type { SuggestionEngine } from '../../src/toolkits/research/suggest/engine.ts';
import type { Evaluated, Item } from './project.ts';

const DEPTH = 10;
/** Enough matches that the first ten coded passages are among them. */
const MATCHES = 400;

/**
 * find_similar_content with a code as context: the code's segments are known in half of the documents, and the passages found in the
 * other half count as right when they have the code. Passages without a coding are skipped.
 */
export async function searchFromExamples(evaluated: Evaluated, engine: SuggestionEngine): Promise<string> {
  const { sourceIds, items, without, project } = evaluated;
  const shares: number[] = [];
  let found = 0;
  for (const half of [0, 1]) {
    const answering = new Set(sourceIds.filter((_, at) => at % 2 === half));
    const pool = items.filter(({ sourceId }) => answering.has(sourceId));
    const hidden = without([...answering]);
    const analysis = new ProjectAnalysis({ project: hidden.project, folder: hidden.folder, engine });
    for (const { id, name } of project.codes()) {
      const relevant = pool.filter(({ codeIds }) => codeIds.has(id)).length;
      if (relevant === 0) continue;
      const { matches } = await analysis.findSimilarContent(name, id, { limit: MATCHES });
      const passages = firstPassages(matches, pool);
      found += passages.length;
      shares.push(passages.filter(({ codeIds }) => codeIds.has(id)).length / DEPTH);
    }
    analysis.close();
    hidden.project.close();
  }
  const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  return `P@${DEPTH} ${(100 * mean).toFixed(1)} (${shares.length} searches, ${(found / Math.max(1, shares.length)).toFixed(1)} passages each)`;
}

/** The first coded passages that matches lie in; each is counted once, by the match that shares most with it. */
function firstPassages(
  matches: readonly { readonly sourceId: number; readonly start: number; readonly end: number }[],
  pool: readonly Item[],
): Item[] {
  const found: Item[] = [];
  for (const match of matches) {
    if (found.length >= DEPTH) break;
    const shared = (item: Item) => Math.min(item.end, match.end) - Math.max(item.start, match.start);
    const [best] = pool
      .filter((item) => item.sourceId === match.sourceId && shared(item) > 0 && !found.includes(item))
      .sort((a, b) => shared(b) - shared(a));
    if (best) found.push(best);
  }
  return found;
}
