import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddingServer, startEmbeddings } from '../../../../test/support/embeddings.ts';
import type { ProjectReader, ProjectStore } from '../project/types.ts';
import { SuggestionEngine } from '../suggest/engine.ts';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import { EndpointEmbedder } from './embedder.ts';
import { ProjectAnalysis } from './service.ts';

let bench: ResearchBench;
let project: ProjectStore;
let analysis: ProjectAnalysis;
let server: EmbeddingServer;
const engine = new SuggestionEngine();

beforeAll(async () => {
  bench = await openBench();
  project = bench.create('study');
  await project.write(byAgent(), (writer) => {
    const first = writer.addSource({
      name: 'one.txt',
      text: 'I was so worried that I could not sleep. My sister cooked for us.',
    });
    writer.addSource({
      name: 'two.txt',
      text: 'She was worried about the operation and slept badly. The weather was fine.',
    });
    const anxiety = writer.addCode({
      name: 'Anxiety',
      memo: 'Worry and fear.\n##### my own: about Mrs Secret',
    });
    writer.addCode({ name: 'Anxious' });
    writer.addCode({ name: 'Trust' });
    writer.addCode({ name: 'Distrust' });
    writer.addCoding({ codeId: anxiety, sourceId: first, start: 0, end: 40 });
  });
  server = await startEmbeddings();
  const embedder = new EndpointEmbedder({ baseUrl: server.baseUrl, model: 'test-embed' });
  analysis = new ProjectAnalysis({ project, folder: join(bench.dir, 'analysis'), engine, embedder });
});
afterAll(async () => {
  analysis.close();
  await engine.close();
  await server.close();
  await bench.close();
});

/** What a caller sees from whom the first source is kept. */
const withoutFirst = (): ProjectReader =>
  ({
    ...Object.fromEntries(
      ['info', 'categories', 'codes', 'code', 'coders', 'codingCounts', 'sourceCodingCounts'].map((name) => [
        name,
        () => Reflect.apply(Reflect.get(project, name), project, []),
      ]),
    ),
    sources: () => project.sources().filter(({ id }) => id !== 1),
    source: (id: number) => (id === 1 ? undefined : project.source(id)),
    text: (id: number) => (id === 1 ? undefined : project.text(id)),
    loadText: (id: number) => project.loadText(id),
    codings: (filter?: object) => project.codings(filter).filter(({ sourceId }) => sourceId !== 1),
  }) as unknown as ProjectReader;

describe('the analysis of a project', () => {
  it('suggests from earlier codings and never from the private part of a memo', async () => {
    const { suggestions, provenance } = await analysis.autoSuggestCodes(2, 20);
    expect(suggestions[0]).toMatchObject({
      codeName: 'Anxiety',
      text: 'She was worried about the operation and slept badly. The weather was fine.',
    });
    expect(suggestions[0]?.rationale).toMatch(/“worried”.* in 1 segment with this code in 1 source/);
    expect(suggestions[0]?.rationale).toContain('near to a segment of one.txt, 0–40: “I was so worried');
    expect(JSON.stringify(suggestions)).not.toContain('Secret');
    expect(provenance.note).toContain(
      'not calibrated: this takes 4 coded sources, 30 coded passages and 2 codings per code',
    );
    const range = await analysis.suggestCodesForRange(2, { start: 0, end: 20 });
    expect(range.suggestions[0]?.codeName).toBe('Anxiety');
  });

  it('uses and shows nothing of a source that the caller may not see', async () => {
    const view = withoutFirst();
    const { suggestions } = await analysis.autoSuggestCodes(2, 0, { view });
    expect(JSON.stringify(suggestions)).not.toContain('one.txt');
    const { matches } = await analysis.findSimilarContent('worried', undefined, { view });
    expect(matches.map(({ sourceId }) => sourceId)).toEqual([2]);
    await expect(analysis.autoSuggestCodes(1, 0, { view })).rejects.toThrow(/Source 1 not found/);
  });

  it('finds similar content in every source, with a code as context', async () => {
    const { matches } = await analysis.findSimilarContent('worried', 1);
    expect(new Set(matches.map(({ sourceName }) => sourceName))).toEqual(new Set(['one.txt', 'two.txt']));
    await expect(analysis.findSimilarContent('worried', 99)).rejects.toThrow(/Code 99 not found/);
  });

  it('searches by meaning after the sources were prepared', async () => {
    await analysis.prepare([1, 2]);
    const { searchedByMeaning } = await analysis.findSimilarContent('nervous');
    expect(searchedByMeaning).toBe(2);
  });

  it('finds duplicates with their use, and keeps opposites apart', async () => {
    const { candidates } = await analysis.detectDuplicateCodes(0.8, { withUsage: true });
    expect(candidates.map(({ a, b }) => [a.name, b.name])).toEqual([['Anxiety', 'Anxious']]);
    expect(candidates[0]?.usage).toEqual({ sameSegments: 0, overlap: 0, sources: 0 });
  });

  it('reports what is uncoded and refuses a source that does not exist', () => {
    expect(analysis.uncodedText(1)).toMatchObject({ codedLength: 40, ranges: [{ start: 41, end: 65 }] });
    expect(() => analysis.uncodedText(77)).toThrow(/Source 77 not found/);
  });

  it('sees what was added since', async () => {
    await project.write(byAgent(), (writer) =>
      writer.addSource({ name: 'three.txt', text: 'A lighthouse on the hill.' }),
    );
    const { matches } = await analysis.findSimilarContent('lighthouse');
    expect(matches[0]?.sourceName).toBe('three.txt');
  });
});
