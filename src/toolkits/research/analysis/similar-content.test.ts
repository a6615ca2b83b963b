import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddingServer, startEmbeddings } from '../../../../test/support/embeddings.ts';
import { indexText } from '../project/source-text.ts';
import type { Source, SourceText } from '../project/types.ts';
import { EndpointEmbedder } from './embedder.ts';
import { SemanticIndex } from './semantic-index.ts';
import { findSimilarContent } from './similar-content.ts';
import { FileTextIndex } from './text-index.ts';
import { FileVectorCache } from './vector-file.ts';
import { Vectors } from './vectors.ts';

const TEXTS = new Map<number, SourceText>([
  [
    1,
    indexText(
      'I: How was it?\nP1: I could not sleep because I was worrying about the exam. 😀 My mother cooked dinner for all of us.\n',
    ),
  ],
  [2, indexText('She was lying awake all night, nervous about her test. The bus was late again on Friday.')],
  [3, indexText('Worried about exams? We worry too. The football match ended with a draw.')],
]);
const project = {
  sources: () =>
    [...TEXTS].map(
      ([id, text]): Source => ({
        id,
        name: `${id}.txt`,
        type: 'text',
        mediaPath: null,
        memo: '',
        owner: '',
        date: '',
        hasText: true,
        bytes: Buffer.byteLength(text.value),
        transcriptId: null,
        risId: null,
      }),
    ),
  text: (id: number) => TEXTS.get(id),
  loadText: async () => undefined,
};

let folder: string;
let index: FileTextIndex;
let server: EmbeddingServer;
let vectors: Vectors;
let semantic: SemanticIndex;
beforeAll(async () => {
  server = await startEmbeddings();
  const embedder = new EndpointEmbedder({ baseUrl: server.baseUrl, model: 'test-embed' });
  folder = mkdtempSync(join(tmpdir(), 'countersign-similar-'));
  index = new FileTextIndex(join(folder, 'index.sqlite'), project);
  vectors = new Vectors(embedder, new FileVectorCache(join(folder, 'vectors.sqlite')));
  semantic = new SemanticIndex(join(folder, 'semantic.sqlite'), vectors);
});
afterAll(async () => {
  await server.close();
  index.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('finding similar content', () => {
  it('gives the phrase itself first, as a whole sentence with its exact position', async () => {
    const { matches, provenance } = await findSimilarContent(project, index, 'worrying about the exam');
    expect(matches[0]).toMatchObject({ sourceId: 1, sourceName: '1.txt', kind: 'phrase', similarity: 100 });
    expect(matches[0]?.text).toBe('I could not sleep because I was worrying about the exam.');
    for (const { sourceId, start, end, text } of matches)
      expect(TEXTS.get(sourceId)?.slice(start, end)).toBe(text);
    expect(provenance).toEqual({ method: 'lexical' });
  });

  it('finds other forms of the words and names them', async () => {
    const { matches } = await findSimilarContent(project, index, 'exam worries');
    expect(matches.find(({ sourceId }) => sourceId === 3)).toMatchObject({
      kind: 'words',
      matched: ['Worried', 'exams'],
    });
  });

  it('finds words in spite of a typing error in the query', async () => {
    const { matches } = await findSimilarContent(project, index, 'footbal');
    expect(matches[0]).toMatchObject({ sourceId: 3, matched: ['football'] });
  });

  it('does not take one shared word for most of a longer question', async () => {
    const { matches } = await findSimilarContent(project, index, 'had not enough dinner');
    expect(matches[0]).toMatchObject({ sourceId: 1, kind: 'words', matched: ['dinner'] });
    expect(matches[0]?.similarity).toBeLessThan(70);
  });

  it('finds nothing for words that are nowhere, and nothing for no words', async () => {
    expect((await findSimilarContent(project, index, 'submarine')).matches).toEqual([]);
    expect((await findSimilarContent(project, index, ' ... ')).matches).toEqual([]);
  });

  it('keeps to the sources it may show', async () => {
    const { matches } = await findSimilarContent(project, index, 'exam worry', { sourceIds: [3] });
    expect(new Set(matches.map(({ sourceId }) => sourceId))).toEqual(new Set([3]));
  });

  it('finds what the segments of a code have in common, also without the words asked for', async () => {
    const context = new Map([
      ['lie', 0.4],
      ['awak', 1],
      ['nervous', 0.8],
    ]);
    const { matches } = await findSimilarContent(project, index, 'exam stress', { context });
    expect(matches.map(({ sourceId }) => sourceId)).toContain(2);
    expect(matches.find(({ sourceId }) => sourceId === 2)).toMatchObject({
      kind: 'examples',
      text: 'She was lying awake all night, nervous about her test. The bus was late again on Friday.',
    });
    expect(matches.find(({ sourceId }) => sourceId === 1)?.kind).toBe('words');
    const without = { context, hidden: new Set(['awak', 'nervous', 'lie']) };
    const hidden = await findSimilarContent(project, index, 'exam stress', without);
    expect(hidden.matches.map(({ sourceId }) => sourceId)).not.toContain(2);
  });

  it('finds by meaning what shares no word, once the sources are prepared', async () => {
    for (const [id, text] of TEXTS) await semantic.prepare(id, text);
    const query = 'could not sleep because of the exam';
    const { matches, searchedByMeaning, provenance } = await findSimilarContent(project, index, query, {
      vectors,
      semantic,
    });
    const awake = matches.find(({ sourceId }) => sourceId === 2);
    expect(awake).toMatchObject({
      kind: 'meaning',
      text: 'She was lying awake all night, nervous about her test.',
    });
    expect(searchedByMeaning).toBe(3);
    expect(provenance.model).toBe('test-embed');
    expect(matches.some(({ text }) => text.includes('bus was late'))).toBe(false);
  });

  it('does not search by meaning what has changed since it was prepared', async () => {
    const changed = {
      ...project,
      sources: () =>
        project.sources().map((source) => ({ ...source, bytes: source.bytes + (source.id === 2 ? 1 : 0) })),
    };
    const { searchedByMeaning } = await findSimilarContent(changed, index, 'sleep', { vectors, semantic });
    expect(searchedByMeaning).toBe(2);
  });
});
