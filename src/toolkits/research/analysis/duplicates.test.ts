import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddingServer, startEmbeddings } from '../../../../test/support/embeddings.ts';
import { detectDuplicateCodes } from './duplicates.ts';
import { EndpointEmbedder } from './embedder.ts';
import { editDistance, isMisspelling, rootOf } from './likeness.ts';
import { contrast } from './opposites.ts';
import { sharedUse } from './shared-use.ts';
import { Vectors } from './vectors.ts';

let server: EmbeddingServer;
let vectors: Vectors;
beforeAll(async () => {
  server = await startEmbeddings();
  const embedder = new EndpointEmbedder({ baseUrl: server.baseUrl, model: 'test-embed' });
  vectors = new Vectors(embedder, { get: () => new Map(), put: () => {} });
});
afterAll(() => server.close());

const codes = (...names: string[]) => names.map((name, at) => ({ id: at + 1, name, memo: '' }));
const pairs = async (threshold: number, names: string[], options = {}) =>
  (await detectDuplicateCodes(codes(...names), { threshold, ...options })).candidates.map(
    ({ a, b }) => `${a.name}/${b.name}`,
  );

describe('duplicate codes', () => {
  it('finds Anxiety and Anxious at 0.8, with an embedding model and without', async () => {
    const names = codes('Anxiety', 'Coping', 'Budget', 'Stress', 'Anxious');
    const semantic = await detectDuplicateCodes(names, { threshold: 0.8, vectors });
    expect(semantic.candidates.map(({ a, b }) => [a.name, b.name])).toEqual([['Anxiety', 'Anxious']]);
    expect(semantic.candidates[0]?.similarity).toBeGreaterThanOrEqual(0.82);
    expect(semantic.provenance).toEqual({
      method: 'lexical+embeddings',
      model: 'test-embed',
    });
    const lexical = await detectDuplicateCodes(names, { threshold: 0.8 });
    expect(lexical.candidates).toHaveLength(1);
    expect(lexical.provenance).toEqual({ method: 'lexical' });
  });

  it.each([
    ['other case and accents', 'Résumé', 'resume'],
    ['plural', 'Theme', 'Themes'],
    ['word order', 'Support from family', 'Family support'],
    ['typing error', 'Lonliness', 'Loneliness'],
  ])('finds %s at 0.8', async (_, a, b) => {
    expect(await pairs(0.8, [a, b])).toEqual([`${a}/${b}`]);
  });

  it('finds synonyms where an embedding model takes part', async () => {
    const names = ['Positive emotion', 'Positive feeling'];
    expect(await pairs(0.8, names)).toEqual([]);
    expect(await pairs(0.8, names, { vectors })).toEqual(['Positive emotion/Positive feeling']);
  });

  it('says when themes differ, which is often deliberate, and reports such pairs only below the usual threshold', async () => {
    const names = ['Work: trust', 'Family: trust', 'Work: trusting'];
    expect(await pairs(0.8, names)).toEqual(['Work: trust/Work: trusting']);
    const { candidates } = await detectDuplicateCodes(codes(...names), { threshold: 0.7 });
    expect(candidates.find(({ b }) => b.name === 'Family: trust')?.rationale).toContain(
      'themes differ (“Work” and “Family”)',
    );
  });

  it('finds codes with other names that are used on the same words, unless their names are opposites', async () => {
    const twins = [{ a: 1, b: 2, similarity: 0.7, within: 0.7 }];
    const used = await detectDuplicateCodes(codes('Slugs', 'Garden pests'), { threshold: 0.8, twins });
    expect(used.candidates[0]?.rationale).toBe(
      'Their segments are as alike as those of one code (cosine 0.70, within one code 0.70).',
    );
    expect(await pairs(0, ['Query clear', 'Query unclear'], { twins })).toEqual([]);
  });

  it.each([
    ['Trust', 'Distrust'],
    ['Increase', 'Decrease'],
    ['Positive', 'Negative'],
    ['Hopeful', 'Hopeless'],
    ['Internal motivation', 'External motivation'],
    ['Support', 'Lack of support'],
    ['Phase 1', 'Phase 2'],
    ['High workload', 'Low workload'],
    ['Employed', 'Unemployed'],
    ['Satisfaction', 'Dissatisfaction'],
    ['Before surgery', 'After surgery'],
    ['Query process clear', 'Query process complex'],
  ])(
    'does not take %s and %s for duplicates at any threshold, unless opposites are asked for',
    async (a, b) => {
      expect(await pairs(0, [a, b])).toEqual([]);
      const asked = await detectDuplicateCodes(codes(a, b), {
        threshold: 0,
        includeOpposites: true,
      });
      expect(asked.candidates[0]?.rationale).toContain('probably not a duplicate');
    },
  );

  it.each([
    ['Organ', 'Organization'],
    ['Anxiety', 'Exam anxiety'],
    ['Sports & Recreation', 'Trust & Verification'],
    ['University', 'Universal'],
  ])('does not report %s and %s at 0.8', async (a, b) => {
    expect(await pairs(0.8, [a, b])).toEqual([]);
  });

  it('continues with words alone when the model does not start, and says so', async () => {
    const broken = new Vectors(
      { model: 'm', address: 'http://127.0.0.1:9', embed: () => Promise.reject(new Error('no model')) },
      { get: () => new Map(), put: () => {} },
    );
    const { candidates, provenance } = await detectDuplicateCodes(codes('Theme', 'Themes'), {
      threshold: 0.8,
      vectors: broken,
    });
    expect(candidates).toHaveLength(1);
    expect(provenance.method).toBe('lexical');
    expect(provenance.note).toContain('no model');
  });

  it('stops when it is cancelled', async () => {
    await expect(
      detectDuplicateCodes(codes('A', 'B'), { threshold: 0.8, vectors, signal: AbortSignal.abort() }),
    ).rejects.toThrow();
  });
});

describe('words by their letters', () => {
  it('counts swapped neighbours as one error and gives up early', () => {
    expect(editDistance('anxeity', 'anxiety', 2)).toBe(1);
    expect(editDistance('kitten', 'sitting', 3)).toBe(3);
    expect(editDistance('kitten', 'sitting', 2)).toBeUndefined();
    expect(isMisspelling('form', 'from')).toBe(false);
  });

  it('brings word families together', () => {
    expect(rootOf('anxiety')).toBe(rootOf('anxious'));
    expect(rootOf('loneliness')).toBe(rootOf('lonely'));
    expect(rootOf('isolation')).toBe(rootOf('isolated'));
    expect(rootOf('policy')).not.toBe(rootOf('police'));
  });

  it('names the contrast', () => {
    expect(contrast('Trust', 'Mistrust')).toContain('opposites');
    expect(contrast('Anxiety', 'Stress')).toBeUndefined();
    expect(contrast('Mistrust', 'Distrust')).toBeUndefined();
  });
});

describe('shared use', () => {
  it('measures how much text two codes share', () => {
    const use = (start: number, end: number, sourceId = 1) => ({ start, end, sourceId });
    expect(sharedUse([use(0, 10), use(20, 30)], [use(0, 10), use(25, 35), use(0, 5, 2)])).toEqual({
      sameSegments: 1,
      overlap: 15 / 30,
      sources: 1,
    });
    expect(sharedUse([], [])).toEqual({ sameSegments: 0, overlap: 0, sources: 0 });
  });
});
