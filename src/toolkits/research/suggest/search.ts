import { segmentsNear } from '../analysis/segments.ts';
import type { SimilarMatch } from '../analysis/similar-content.ts';
import type { PassageIndex } from '../analysis/text-index.ts';
import { wordsOf } from '../analysis/words.ts';
import type { ProjectReader, SourceText } from '../project/types.ts';
import type { Span } from '../statistics/frequencies.ts';

/** The usual settings of BM25. */
const K1 = 1.2;
const B = 0.75;
/** Words of a usual segment; lengths are compared with it. */
const USUAL_LENGTH = 25;
/** A score of this size is shown as half of the scale. */
const HALF = 12;
const CANDIDATES = 300;
/** Sentences are joined until there is something to compare. */
const ENOUGH = 90;

export interface ExampleSearch {
  /** Stems with their weight: what was asked for, and what stands for the code. */
  readonly terms: ReadonlyMap<string, number>;
  /** Stems that were asked for; the others are context. */
  readonly asked: ReadonlySet<string>;
  readonly limit: number;
  readonly sourceIds?: readonly number[];
  readonly signal?: AbortSignal;
}

/** Passages like the segments of a code, best first: BM25 with the words that stand for it. */
export async function searchByExamples(
  project: Pick<ProjectReader, 'sources' | 'text'>,
  index: PassageIndex,
  search: ExampleSearch,
): Promise<SimilarMatch[]> {
  const names = new Map(project.sources().map(({ id, name }) => [id, name]));
  const stems = [...search.terms.keys()];
  const hits = await index.search(stems, {
    limit: Math.max(CANDIDATES, 3 * search.limit),
    ...(search.sourceIds ? { sourceIds: search.sourceIds } : {}),
    ...(search.signal ? { signal: search.signal } : {}),
  });
  const { passages, found } = index.frequencies(stems);
  const rarity = (stem: string) =>
    Math.log(1 + (passages - (found.get(stem) ?? 0) + 0.5) / ((found.get(stem) ?? 0) + 0.5));
  const matches = new Map<string, SimilarMatch & { readonly score: number }>();
  for (const hit of hits) {
    const text = project.text(hit.sourceId);
    for (const piece of text ? piecesNear(text, hit) : []) {
      const key = `${hit.sourceId} ${piece.start}`;
      if (!text || matches.has(key)) continue;
      const value = text.slice(piece.start, piece.end);
      const { score, matched, isAsked } = judge(value, search, rarity);
      if (score <= 0) continue;
      matches.set(key, {
        sourceId: hit.sourceId,
        sourceName: names.get(hit.sourceId) ?? '',
        start: piece.start,
        end: piece.end,
        text: value,
        similarity: Math.min(95, Math.round((100 * score) / (score + HALF))),
        kind: isAsked ? 'words' : 'examples',
        matched,
        score,
      });
    }
  }
  return [...matches.values()]
    .sort((a, b) => b.score - a.score || a.sourceId - b.sourceId || a.start - b.start)
    .slice(0, search.limit)
    .map(({ score: _score, ...match }) => match);
}

function judge(value: string, { terms, asked }: ExampleSearch, rarity: (stem: string) => number) {
  const words = wordsOf(value);
  const counts = new Map<string, number>();
  const matched = new Set<string>();
  let isAsked = false;
  for (const { stem, text } of words) {
    if (!terms.has(stem)) continue;
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
    matched.add(text);
    if (asked.has(stem)) isAsked = true;
  }
  let score = 0;
  for (const [stem, count] of counts) {
    const saturated = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * words.length) / USUAL_LENGTH));
    score += (terms.get(stem) ?? 0) * rarity(stem) * saturated;
  }
  return { score, matched: [...matched], isAsked };
}

/** Neighbouring sentences of a paragraph and speaker, joined to something that can be compared with a coded segment. */
function piecesNear(text: SourceText, hit: Span): Span[] {
  const pieces: { start: number; end: number; speaker: string | undefined }[] = [];
  for (const { start, end, speaker } of segmentsNear(text, hit)) {
    const last = pieces.at(-1);
    const joins =
      last &&
      last.end - last.start < ENOUGH &&
      last.speaker === speaker &&
      !/[\n\r\u2028\u2029]/u.test(text.slice(last.end, start));
    if (joins) last.end = end;
    else pieces.push({ start, end, speaker });
  }
  return pieces;
}
