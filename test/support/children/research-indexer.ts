import { once } from 'node:events';
import { ProjectAnalysis } from '../../../src/toolkits/research/analysis/service.ts';
import { SuggestionEngine } from '../../../src/toolkits/research/suggest/engine.ts';
import { openBench } from '../../../src/toolkits/research/test/support/research.ts';

/**
 * Indexes and reads a project as a server would: `DIR PROJECT FOLDER`. Waits for a line, so several can begin
 * simultaneously.
 */
const [dir = '', path = '', folder = ''] = process.argv.slice(2);
const project = (await openBench(dir)).open(path);
process.stdout.write('ready\n');
await once(process.stdin, 'data');

const letters = (text: string) => {
  const vector = new Float32Array(26);
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    if (at >= 0 && at < 26) vector[at] = (vector[at] ?? 0) + 1;
  }
  const size = Math.hypot(...vector) || 1;
  return vector.map((value) => value / size);
};
const embedder = {
  model: 'letters',
  address: 'none',
  embed: async (texts: readonly string[]) => texts.map(letters),
};
const analysis = new ProjectAnalysis({ project, folder, engine: new SuggestionEngine(), embedder });
await analysis.prepare(
  project.sources().map(({ id }) => id),
  { verify: true },
);
analysis.close();
process.exit(0);
