import type { JsonValue } from '../contract/json.ts';
import type { Tool } from '../contract/tool.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { isObject } from '../lib/is-object.ts';

/** The usual constants of BM25: how soon repetition stops to count, and how much a long text is discounted. */
const K1 = 1.2;
const B = 0.75;
/** Names are short and chosen; a description of one parameter says little about the tool. */
const WEIGHTS = { name: 4, title: 2, summary: 1, group: 0.5, parameter: 1, parameterText: 0.3 };
/** Deeper objects are details of an argument, not what the tool is for. */
const MAX_DEPTH = 3;

interface Doc {
  /** Weighted count of each word. */
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
}

const docs = new WeakMap<Tool, Doc>();

/** Words of a request that say nothing about what the tool does. */
const FILLERS = new Set(
  'a an and are as at be by can do for from have how i in into is it its me my of on or our please some that the their them then these this to us use using want we what when which with you your'.split(
    ' ',
  ),
);

/**
 * Tools by BM25 over their names, descriptions and parameters, best first. A match has half of what the request says,
 * where a word says the more the fewer tools have it; a word that no tool has (a name, a topic) rules nothing out.
 */
export function searchTools(tools: readonly BoundTool[], query: string): BoundTool[] {
  const known = tools.map((owned) => ({ owned, doc: docOf(owned) }));
  const average = known.reduce((sum, { doc }) => sum + doc.length, 0) / Math.max(1, known.length);
  const scores = new Map<BoundTool, number>();
  const shares = new Map<BoundTool, number>();
  let said = 0;
  for (const stem of new Set(
    wordsOf(query)
      .filter((word) => !FILLERS.has(word))
      .map(stemOf),
  )) {
    const hits = known.flatMap(({ owned, doc }) => {
      const count = countOf(doc, stem);
      return count > 0 ? [{ owned, doc, count }] : [];
    });
    const rarity = Math.log(1 + (known.length - hits.length + 0.5) / (hits.length + 0.5));
    if (hits.length > 0) said += rarity;
    for (const { owned, doc, count } of hits) {
      shares.set(owned, (shares.get(owned) ?? 0) + rarity);
      const discount = K1 * (1 - B + (B * doc.length) / average);
      scores.set(owned, (scores.get(owned) ?? 0) + (rarity * count * (K1 + 1)) / (count + discount));
    }
  }
  const exact = query.trim().toLowerCase();
  const score = (owned: BoundTool): number =>
    (scores.get(owned) ?? 0) + (owned.tool.name.toLowerCase() === exact ? 1000 : 0);
  const matches = [...scores.keys()].filter((owned) => (shares.get(owned) ?? 0) >= said / 2);
  return matches.sort((a, b) => score(b) - score(a) || (a.tool.name < b.tool.name ? -1 : 1));
}

/** A word counts for those that begin like it: `post` for `posts`, `schedul` for `scheduled`. */
function countOf({ words }: Doc, stem: string): number {
  let count = 0;
  for (const [word, weight] of words) if (word.startsWith(stem)) count += weight;
  return count;
}

function docOf({ tool, toolkit }: BoundTool): Doc {
  const known = docs.get(tool);
  if (known) return known;
  const words = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) {
      words.set(word, (words.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  add(tool.name, WEIGHTS.name);
  add(tool.title, WEIGHTS.title);
  add(tool.summary, WEIGHTS.summary);
  add(`${tool.category} ${toolkit.id} ${tool.effect}`, WEIGHTS.group);
  addParameters(tool.input.json as JsonValue, add);
  const doc = { words, length };
  docs.set(tool, doc);
  return doc;
}

function addParameters(
  schema: JsonValue | undefined,
  add: (text: string, weight: number) => void,
  depth = 0,
): void {
  if (!isObject<JsonValue>(schema) || depth === MAX_DEPTH) return;
  if (isObject<JsonValue>(schema.items)) addParameters(schema.items, add, depth + 1);
  if (!isObject<JsonValue>(schema.properties)) return;
  for (const [name, property] of Object.entries(schema.properties)) {
    add(name, WEIGHTS.parameter);
    if (!isObject<JsonValue>(property)) continue;
    for (const text of [property.title, property.description])
      if (typeof text === 'string') add(text, WEIGHTS.parameterText);
    addParameters(property, add, depth + 1);
  }
}

/** `readFile`, `read_file` and `read-file` are the same two words. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

const stemOf = (word: string): string => (word.length > 4 ? word.replace(/(ies|es|s|ing|ed)$/, '') : word);
