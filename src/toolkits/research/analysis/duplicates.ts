import type { Twins } from '../suggest/protocol.ts';
import { areRelated, isMisspelling, rootOf } from './likeness.ts';
import { contrast } from './opposites.ts';
import { Pace } from './pace.ts';
import { embedIfPossible, type Provenance } from './provenance.ts';
import { themeOf } from './theme.ts';
import { cosine, type Vectors } from './vectors.ts';
import { contentStems, normalize, wordsOf } from './words.ts';

type Twin = Twins['pairs'][number];

export interface CodeName {
  readonly id: number;
  readonly name: string;
  /** Only the part of the memo that may be shown. */
  readonly memo: string;
}

export interface DuplicateCandidate {
  readonly a: CodeName;
  readonly b: CodeName;
  /** 0 to 1. */
  readonly similarity: number;
  readonly rationale: string;
}

export interface DuplicateOptions {
  /** Pairs at least this similar, 0 to 1. */
  readonly threshold: number;
  /** Also pairs that are similar but contrary ("trust" and "distrust"), with the contrast named. */
  readonly includeOpposites?: boolean;
  readonly vectors?: Vectors;
  /** Codes whose segments use the same words, as the suggestion model found them. */
  readonly twins?: readonly Twin[];
  readonly signal?: AbortSignal;
}

/** Codes whose names say the same: by spelling, by word family, by meaning, or by how they are used. Most similar first. */
export async function detectDuplicateCodes(
  codes: readonly CodeName[],
  options: DuplicateOptions,
): Promise<{ readonly candidates: DuplicateCandidate[]; readonly provenance: Provenance }> {
  const names = codes.map(({ name }) => name);
  const { vectors, provenance } = await embedIfPossible(options.vectors, names, options);
  const forms = codes.map(({ name }) => formsOf(name));
  const twins = new Map(options.twins?.map((twin) => [`${twin.a} ${twin.b}`, twin]));
  const candidates: DuplicateCandidate[] = [];
  const pace = new Pace(options.signal);
  for (const [i, a] of codes.entries()) {
    if (pace.isDue) await pace.rest();
    for (const [j, b] of codes.entries()) {
      const [formA, formB, vectorA, vectorB] = [forms[i], forms[j], vectors?.[i], vectors?.[j]];
      if (j <= i || !formA || !formB) continue;
      const meaning = vectorA && vectorB ? Math.max(0, cosine(vectorA, vectorB)) : undefined;
      const used = twins.get(`${a.id} ${b.id}`) ?? twins.get(`${b.id} ${a.id}`);
      const found = byUse(compare(formA, formB, meaning), used);
      if (found.similarity < options.threshold) continue;
      const opposed = contrast(a.name, b.name);
      if (opposed && !options.includeOpposites) continue;
      const rationale = opposed
        ? `${found.rationale} But ${opposed}: probably not a duplicate.`
        : found.rationale;
      candidates.push({ a, b, similarity: found.similarity, rationale });
    }
  }
  candidates.sort((x, y) => y.similarity - x.similarity || x.a.id - y.a.id || x.b.id - y.b.id);
  return { candidates, provenance };
}

function byUse(names: { similarity: number; rationale: string }, used: Twin | undefined) {
  if (!used) return names;
  const ratio = used.similarity / Math.max(0.01, used.within);
  const similarity = Math.min(0.95, 0.8 + 0.5 * Math.max(0, ratio - 0.9));
  const rationale = `Their segments are as alike as those of one code (cosine ${used.similarity.toFixed(2)}, within one code ${used.within.toFixed(2)}).`;
  if (similarity > names.similarity) return { similarity, rationale };
  return { ...names, rationale: `${names.rationale} ${rationale}` };
}

interface Forms {
  /** "Work" in "Work: trust"; compared apart from the rest of the name. */
  readonly theme: string | undefined;
  readonly plain: string;
  readonly stems: readonly string[];
  readonly roots: readonly string[];
}

function formsOf(full: string): Forms {
  const { theme, name } = themeOf(full);
  const stems = contentStems(name);
  const telling = wordsOf(name).filter((word) => stems.includes(word.stem));
  return {
    theme,
    plain: wordsOf(name)
      .map((word) => normalize(word.text))
      .join(' '),
    stems: [...stems].sort(),
    roots: telling.map((word) => rootOf(normalize(word.text))).sort(),
  };
}

/** Names alike under different themes ("Work: trust", "Family: trust") are often meant. */
const OTHER_THEME = 0.78;

function compare(a: Forms, b: Forms, meaning: number | undefined): { similarity: number; rationale: string } {
  const found = compareNames(a, b, meaning);
  if (a.theme === b.theme) return found;
  const themes = [a.theme, b.theme].map((theme) => (theme ? `“${theme}”` : 'no theme')).join(' and ');
  return {
    similarity: Math.min(OTHER_THEME, found.similarity),
    rationale: `${found.rationale} Their themes differ (${themes}), which is often deliberate.`,
  };
}

function compareNames(
  a: Forms,
  b: Forms,
  meaning: number | undefined,
): { similarity: number; rationale: string } {
  const letters = byLetters(a, b, meaning);
  const narrower = isNarrower(a.stems, b.stems) || isNarrower(b.stems, a.stems);
  // "Anxiety" and "Exam anxiety" embed alike, but a narrower code is not a duplicate of the wider one.
  const semantic = narrower ? Math.min(meaning ?? 0, 0.75) : (meaning ?? 0);
  if (semantic > letters.similarity) {
    const note = narrower ? ' One name narrows the other.' : '';
    return {
      similarity: semantic,
      rationale: `The names are close in meaning (${semantic.toFixed(2)}).${note}`,
    };
  }
  return letters;
}

function byLetters(
  a: Forms,
  b: Forms,
  meaning: number | undefined,
): { similarity: number; rationale: string } {
  if (a.plain === b.plain)
    return { similarity: 1, rationale: 'The names differ only in capitals, accents or punctuation.' };
  if (same(a.stems, b.stems))
    return { similarity: 0.97, rationale: 'The names contain the same words in other forms or order.' };
  if (isMisspelling(a.plain, b.plain) && !same(a.roots, b.roots)) {
    return {
      similarity: 0.9,
      rationale: 'The names differ in a letter or two, as in a typing error.',
    };
  }
  if (same(a.roots, b.roots)) {
    // Word families mislead (organ, organization): the meaning or the endings must speak for it.
    const related = areRelated(a.plain, b.plain) ? 0.85 : 0.7;
    const sure = meaning === undefined ? related : meaning >= 0.5 ? Math.max(0.9, meaning) : meaning;
    return { similarity: sure, rationale: `The names are of one word family (“${a.roots.join(' ')}…”).` };
  }
  const shared = 0.9 * overlap(a, b);
  return {
    similarity: shared,
    rationale: `The names share ${shared > 0 ? 'some of their words' : 'no words'}.`,
  };
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length > 0 && a.join(' ') === b.join(' ');

const isNarrower = (narrow: readonly string[], wide: readonly string[]): boolean =>
  narrow.length > wide.length && wide.every((stem) => narrow.includes(stem));

/** Share of words that have a partner in the other name (Dice), a word of the same family counting nearly full. */
function overlap(a: Forms, b: Forms): number {
  const partner = (stem: string, at: number, own: Forms, other: Forms): number => {
    if (other.stems.includes(stem)) return 1;
    return other.roots.includes(own.roots[at] ?? '') ? 0.9 : 0;
  };
  const sum =
    a.stems.reduce((total, stem, at) => total + partner(stem, at, a, b), 0) +
    b.stems.reduce((total, stem, at) => total + partner(stem, at, b, a), 0);
  const size = a.stems.length + b.stems.length;
  return size ? sum / size : 0;
}
