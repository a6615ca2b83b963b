import type { ProjectReader } from '../project/types.ts';
import { searchByExamples } from '../suggest/search.ts';
import { isMisspelling } from './likeness.ts';
import { Pace } from './pace.ts';
import { embedIfPossible, type Provenance } from './provenance.ts';
import { type Segment, segmentsNear } from './segments.ts';
import type { SemanticIndex } from './semantic-index.ts';
import type { PassageIndex } from './text-index.ts';
import type { Vectors } from './vectors.ts';
import { contentStems, stemsOf, wordsOf } from './words.ts';

export interface SimilarMatch {
  readonly sourceId: number;
  readonly sourceName: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** 0 to 100. */
  readonly similarity: number;
  /** `examples`: by words that stand for a code, not by those asked for. */
  readonly kind: 'phrase' | 'words' | 'examples' | 'meaning';
  /** Words of the text that made it a match. */
  readonly matched: readonly string[];
}

export interface SimilarOptions {
  readonly limit?: number;
  /** Sources that may be shown; left out: all. */
  readonly sourceIds?: readonly number[];
  /** Words that stand for a code, with their weight (0 to 1): its passages are found too, also without the words asked for. */
  readonly context?: ReadonlyMap<string, number>;
  /** Stems of names that the caller may not see: no other word is taken for one of them misspelt. */
  readonly hidden?: ReadonlySet<string>;
  readonly vectors?: Vectors;
  readonly semantic?: SemanticIndex;
  readonly signal?: AbortSignal;
}

export interface SimilarContent {
  readonly matches: SimilarMatch[];
  readonly provenance: Provenance;
  /** How many of the sources could be searched by meaning, and how many by words only. */
  readonly searchedByMeaning: number;
  readonly notSearchedByMeaning: number;
}

const LIMIT = 20;
const CANDIDATES = 100;
/** Of a long text the longest words say most; more of them only take time. */
const MOST_WORDS = 12;
/** A whole paragraph is not looked for word by word. */
const LONGEST_PHRASE = 40;
/** Below this cosine two sentences have little to do with each other. */
const NEAR = 0.45;

/** Passages like a text: the phrase itself, its words in other forms or misspelt, and sentences of near meaning. */
export async function findSimilarContent(
  project: Pick<ProjectReader, 'sources' | 'text' | 'loadText'>,
  index: PassageIndex,
  searchText: string,
  options: SimilarOptions = {},
): Promise<SimilarContent> {
  const limit = options.limit ?? LIMIT;
  const names = new Map(project.sources().map(({ id, name }) => [id, name]));
  const query = await lexicalQuery(index, searchText, options);
  const found = new Map<string, SimilarMatch>();
  const keep = (match: SimilarMatch) => {
    const key = `${match.sourceId} ${match.start}`;
    if ((found.get(key)?.similarity ?? 0) < match.similarity) found.set(key, match);
  };
  const pace = new Pace(options.signal);
  await pace.rest();
  for (const id of new Set(query.hits.map(({ sourceId }) => sourceId))) await project.loadText(id);
  for (const hit of await bestPassages(project, query, Math.ceil(limit * 1.25), pace)) {
    if (pace.isDue) await pace.rest();
    const text = project.text(hit.sourceId);
    for (const segment of text ? segmentsNear(text, hit) : []) {
      const judged = judge(segment.text, query);
      if (judged) keep({ ...place(hit.sourceId, names, segment), ...judged });
    }
  }
  for (const match of await byContext(project, index, searchText, limit, options)) {
    // One scale for all: the words asked for weigh most in it, so a whole phrase stays above.
    const known = found.get(`${match.sourceId} ${match.start}`);
    if (known?.kind !== 'phrase') found.set(`${match.sourceId} ${match.start}`, match);
  }
  const { provenance, hits, searched, unread } = await byMeaning(project, searchText, options);
  for (const hit of hits) {
    const text = project.text(hit.sourceId);
    if (!text || hit.end > text.length) continue;
    const segment = { start: hit.start, end: hit.end, text: text.slice(hit.start, hit.end) };
    const known = found.get(`${hit.sourceId} ${hit.start}`);
    const similarity = Math.round(Math.max(known?.similarity ?? 0, meaningScore(hit.similarity)));
    keep({
      ...place(hit.sourceId, names, segment),
      similarity,
      kind: 'meaning',
      matched: known?.matched ?? [],
    });
  }
  const matches = [...found.values()].sort(
    (a, b) => b.similarity - a.similarity || a.sourceId - b.sourceId || a.start - b.start,
  );
  return {
    matches: matches.slice(0, limit),
    provenance,
    searchedByMeaning: searched,
    notSearchedByMeaning: unread,
  };
}

async function byContext(
  project: Pick<ProjectReader, 'sources' | 'text'>,
  index: PassageIndex,
  searchText: string,
  limit: number,
  { context, hidden, sourceIds, signal }: SimilarOptions,
): Promise<SimilarMatch[]> {
  if (!context?.size) return [];
  const asked = new Set(contentStems(searchText).slice(0, MOST_WORDS));
  const terms = new Map([...context].filter(([stem]) => !hidden?.has(stem)));
  for (const stem of asked) terms.set(stem, 1);
  return searchByExamples(project, index, { terms, asked, limit, ...pick({ sourceIds, signal }) });
}

interface Query {
  readonly phrase: readonly string[];
  /** Words of the query that say little alone ("not", "enough"); a sentence without them answers less of it. */
  readonly small: readonly string[];
  /** Weight of each stem: rare words say more. Misspelt ones map to what the texts hold. */
  readonly weights: ReadonlyMap<string, number>;
  readonly hits: readonly { readonly sourceId: number; readonly start: number; readonly end: number }[];
}

async function lexicalQuery(
  index: PassageIndex,
  searchText: string,
  options: SimilarOptions,
): Promise<Query> {
  const stems = [...new Set(contentStems(searchText))]
    .sort((a, b) => b.length - a.length)
    .slice(0, MOST_WORDS);
  const search = { limit: CANDIDATES, ...pick(options) };
  // The first search brings the index up to date; only then do frequencies mean anything.
  const phrase = stemsOf(searchText);
  const isPhrase = phrase.length <= LONGEST_PHRASE;
  const whole = await index.search(isPhrase ? [searchText] : stems, { ...search, phrase: isPhrase });
  const { passages, found } = index.frequencies(stems);
  const weights = new Map<string, number>();
  for (const stem of stems) {
    const count = found.get(stem) ?? 0;
    const forms = count > 0 ? [stem] : misspellings(index, stem, options.hidden);
    for (const form of forms.length ? forms : [stem]) weights.set(form, Math.log(1 + passages / (1 + count)));
  }
  const scattered = await index.search([...weights.keys()], search);
  return {
    phrase: isPhrase ? phrase : [],
    small: isPhrase ? phrase.filter((stem) => !stems.includes(stem)) : [],
    weights,
    hits: [...whole, ...scattered],
  };
}

function misspellings(index: PassageIndex, stem: string, hidden?: ReadonlySet<string>): string[] {
  if (stem.length < 5) return [];
  return index
    .vocabulary(stem.slice(0, 1), { min: stem.length - 2, max: stem.length + 2 })
    .filter((word) => isMisspelling(stem, word) && !hidden?.has(word))
    .slice(0, 5);
}

const pick = ({ sourceIds, signal }: Pick<SimilarOptions, 'sourceIds' | 'signal'>) => ({
  ...(sourceIds ? { sourceIds } : {}),
  ...(signal ? { signal } : {}),
});

/** Weight of a small word next to a meaningful one. */
const SMALL = 0.25;

/** How well a sentence answers the words of the query, or undefined when it holds none of them. */
function judge(
  text: string,
  query: Query,
): Pick<SimilarMatch, 'similarity' | 'kind' | 'matched'> | undefined {
  const words = wordsOf(text);
  const matched = words.filter((word) => query.weights.has(word.stem));
  const all = [...query.weights.values()].reduce((sum, weight) => sum + weight, 0);
  const hit = new Set(matched.map((word) => word.stem));
  const covered = [...hit].reduce((sum, stem) => sum + (query.weights.get(stem) ?? 0), 0);
  const names = [...new Set(matched.map((word) => word.text))];
  if (
    isRun(
      words.map((word) => word.stem),
      query.phrase,
    )
  )
    return { similarity: 100, kind: 'phrase', matched: names };
  if (matched.length === 0 || all === 0) return undefined;
  const first = matched[0]?.start ?? 0;
  const spread = ((matched.at(-1)?.end ?? 0) - first) / Math.max(1, text.length);
  const there = query.small.filter((stem) => words.some((word) => word.stem === stem)).length;
  const answered = (query.weights.size + SMALL * there) / (query.weights.size + SMALL * query.small.length);
  const score = 88 * (covered / all) * answered + 4 * (1 - spread);
  return { similarity: Math.min(95, Math.round(score)), kind: 'words', matched: names };
}

function isRun(stems: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false;
  return stems.some((_, at) => phrase.every((stem, i) => stems[at + i] === stem));
}

/** Cutting sentences is the slow part, so passages are judged whole first. */
async function bestPassages(
  project: Pick<ProjectReader, 'text'>,
  query: Query,
  limit: number,
  pace: Pace,
): Promise<Query['hits']> {
  const judged: { hit: Query['hits'][number]; similarity: number }[] = [];
  for (const hit of query.hits) {
    if (pace.isDue) await pace.rest();
    const text = project.text(hit.sourceId)?.slice(hit.start, hit.end) ?? '';
    judged.push({ hit, similarity: judge(text, query)?.similarity ?? 0 });
  }
  return judged
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, limit)
    .map(({ hit }) => hit);
}

async function byMeaning(
  project: Pick<ProjectReader, 'sources'>,
  searchText: string,
  { semantic, sourceIds, signal, vectors }: SimilarOptions,
) {
  const allowed = sourceIds && new Set(sourceIds);
  const texts = project.sources().filter(({ id, hasText }) => hasText && (allowed?.has(id) ?? true));
  const ready = semantic?.prepared(texts) ?? new Set<number>();
  // Starting the model takes seconds; with nothing read yet its answer would be empty.
  const usable = ready.size ? vectors : undefined;
  const made = await embedIfPossible(usable, [searchText], signal ? { signal } : {});
  const query = made.vectors?.[0];
  const searched = query && semantic ? ready.size : 0;
  const unread = texts.length - searched;
  const notes = [made.provenance.note, vectors && unread > 0 ? unreadNote(unread, texts.length) : undefined];
  const note = notes.filter(Boolean).join(' ');
  const hits =
    query && semantic
      ? await semantic.search(query, ready, { limit: CANDIDATES, ...(signal ? { signal } : {}) })
      : [];
  return {
    provenance: { ...made.provenance, ...(note ? { note } : {}) },
    hits: hits.filter(({ similarity }) => similarity >= NEAR),
    searched,
    unread,
  };
}

const unreadNote = (unread: number, all: number): string =>
  `${unread} of ${all} sources were searched by words only: the embedding model has not read them yet.`;

/** 0.45 is a hint, 0.8 nearly the same sentence in other words. */
const meaningScore = (cosine: number): number => Math.min(97, 40 + ((cosine - NEAR) / (0.8 - NEAR)) * 50);

const place = (sourceId: number, names: ReadonlyMap<number, string>, { start, end, text }: Segment) => ({
  sourceId,
  sourceName: names.get(sourceId) ?? '',
  start,
  end,
  text,
});
