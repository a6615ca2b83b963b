// Measures the suggestions on a coded project: `npm run eval:suggestions -- FILE`, where FILE is a Taguette .sqlite3 or a QualCoder
// .qda. Each document in turn is hidden from the model and then suggested for, through the function that the tools call. With --mcp
// the passages are asked for once more through the built server (`npm run build` first) and a real client.
import { performance } from 'node:perf_hooks';
import { ProjectAnalysis } from '../../src/toolkits/research/analysis/service.ts';
import { SuggestionEngine } from '../../src/toolkits/research/suggest/engine.ts';
import { majority, tfIdf } from './baselines.ts';
import { DocumentMeasures, RANKING_HEAD, RankingMeasures, RELIABILITY_HEAD, table } from './measures.ts';
import { buildWorker, type Evaluated, openForEvaluation } from './project.ts';
import { searchFromExamples } from './search.ts';
import { throughMcp } from './through-mcp.ts';

const THRESHOLDS = [20, 30, 50, 70];

const given = process.argv.slice(2);
const file = given.find((argument) => !argument.startsWith('--'));
if (!file) {
  process.stderr.write(
    'Usage: npm run eval:suggestions -- FILE [--mcp] (a Taguette .sqlite3 or a QualCoder .qda)\n',
  );
  process.exit(2);
}
const write = (text: string) => void process.stdout.write(`${text}\n`);
await buildWorker();
const evaluated = await openForEvaluation(file);
const engine = new SuggestionEngine();
try {
  const { project, items, sourceIds } = evaluated;
  write(
    `${file}: ${items.length} coded passages in ${sourceIds.length} documents, ${project.codes().length} codes, ${project.codings().length} codings.`,
  );
  await evaluate(evaluated);
  write(
    `\nSearch from examples (half of the documents ask, the others answer): ${await searchFromExamples(evaluated, engine)}`,
  );
  if (given.includes('--mcp')) {
    const times: number[] = [];
    const measures = await throughMcp(evaluated, times);
    write(`\nThrough the MCP tool, five suggestions each\n`);
    write(table(RANKING_HEAD, [measures.row('suggest_codes_for_range over stdio')]));
    write(
      `\nTime per call with its filing: p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms.`,
    );
  }
} finally {
  await engine.close();
  await evaluated.close();
}

async function evaluate({ project, items, sourceIds, without }: Evaluated): Promise<void> {
  const codeIds = project.codes().map(({ id }) => id);
  const ours = new RankingMeasures();
  const frequent = new RankingMeasures();
  const baseline = new RankingMeasures();
  const documents = new Map(THRESHOLDS.map((limit) => [limit, new DocumentMeasures()]));
  const times: number[] = [];
  const first: number[] = [];
  const whole: number[] = [];
  for (const sourceId of sourceIds) {
    const own = items.filter((item) => item.sourceId === sourceId);
    const known = items.filter((item) => item.sourceId !== sourceId);
    const hidden = without([sourceId]);
    const analysis = new ProjectAnalysis({ project: hidden.project, folder: hidden.folder, engine });
    const byFrequency = majority(codeIds, known);
    const byWords = tfIdf(project, known, items);
    for (const [at, item] of own.entries()) {
      const started = performance.now();
      const { suggestions } = await analysis.suggestCodesForRange(sourceId, item, { most: codeIds.length });
      (at === 0 ? first : times).push(performance.now() - started);
      ours.add(
        item,
        suggestions.map(({ codeId, confidence }) => ({ codeId, probability: confidence / 100 })),
      );
      frequent.add(item, byFrequency(item));
      baseline.add(item, byWords(item));
    }
    for (const [limit, measures] of documents) {
      const started = performance.now();
      measures.add(own, (await analysis.autoSuggestCodes(sourceId, limit)).suggestions);
      whole.push(performance.now() - started);
    }
    analysis.close();
    hidden.project.close();
  }
  write(`\nSuggestions for a range, leave one document out\n`);
  const rows = [
    frequent.row('most frequent codes'),
    baseline.row('TF-IDF centroid + 0.7 name'),
    ours.row('suggest_codes_for_range'),
  ];
  write(table(RANKING_HEAD, rows));
  write(
    `\nReliability of the five suggestions for each range\n\n${table(RELIABILITY_HEAD, ours.reliability())}`,
  );
  const scans = [...documents].map(([limit, measures]) => measures.row(`min_confidence ${limit}`));
  write(
    `\nWhole documents, auto_suggest_codes\n\n${table(['SETTING', 'SUGGESTED', 'PRECISION', 'RECALL'], scans)}`,
  );
  const scanned = documents.get(20)?.reliability() ?? [];
  write(`\nReliability at min_confidence 20\n\n${table(RELIABILITY_HEAD, scanned)}`);
  write(
    `\nTime per call: p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms, of ${times.length}; first call with the model built: p50 ${quantile(first, 0.5)} ms, slowest ${quantile(first, 1)} ms; whole document: p50 ${quantile(whole, 0.5)} ms.`,
  );
}

function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
}
