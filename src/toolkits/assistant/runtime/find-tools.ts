import type { JsonObject } from '../../../contract/json.ts';

interface Findable {
  readonly name: string;
  readonly summary: string;
  readonly effect: string;
  readonly toolkit: string;
  readonly inputJson: JsonObject;
}

const SHOWN = 8;

/** The tools that share most words with the query; a word in the name counts more than one in the summary. */
export function findTools(tools: readonly Findable[], query: string): JsonObject[] {
  const wanted = [...new Set(words(query))];
  return tools
    .map((tool) => ({ tool, score: score(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.tool.name.localeCompare(b.tool.name))
    .slice(0, SHOWN)
    .map(({ tool }) => ({
      name: tool.name,
      summary: tool.summary,
      effect: tool.effect,
      input: tool.inputJson,
    }));
}

function score(tool: Findable, wanted: readonly string[]): number {
  const inName = new Set(words(`${tool.toolkit} ${tool.name}`));
  const inSummary = new Set(words(tool.summary));
  return wanted.reduce((sum, word) => sum + (inName.has(word) ? 3 : 0) + (inSummary.has(word) ? 1 : 0), 0);
}

/** Folded so that "posts" finds "post". */
function words(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 3 ? word.replace(/(ies|es|s)$/, '') : word,
  );
}
