import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddings } from '../../../../test/support/embeddings.ts';
import { EndpointEmbedder } from '../analysis/embedder.ts';
import { ProjectAnalysis } from '../analysis/service.ts';
import type { SqliteProject } from '../project/store.ts';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import { SuggestionEngine } from './engine.ts';
import { type Interviews, interviews } from './interviews.fixture.ts';
import type { ProjectView } from './protocol.ts';

let bench: ResearchBench;
const engine = new SuggestionEngine();
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await engine.close();
  await bench.close();
});

/** A real project with the interviews; the codings of the last one are left out. */
async function makeProject(name: string, study: Interviews, coded: number): Promise<SqliteProject> {
  const project = bench.create(name);
  await project.write(byAgent(), (writer) => {
    for (const { name: code, memo } of study.codes) writer.addCode({ name: code, memo });
    for (const [id, text] of study.texts) writer.addSource({ name: `garden-${id}.txt`, text });
    for (const coding of study.codings) if (coding.sourceId <= coded) writer.addCoding(coding);
  });
  return project;
}

const viewOf = (project: SqliteProject, more: Partial<ProjectView> = {}): ProjectView => ({
  path: project.path,
  hiddenSources: [],
  hiddenCoders: [],
  rejected: [],
  ...more,
});

describe('the suggestion engine', () => {
  const study = interviews(8);
  const place = study.codings.find(({ sourceId, codeId }) => sourceId === 8 && codeId === 5);
  const question = {
    kind: 'range',
    sourceId: 8,
    range: { start: place?.start ?? 0, end: place?.end ?? 0 },
    most: 3,
  } as const;
  let project: SqliteProject;
  beforeAll(async () => {
    project = await makeProject('garden', study, 7);
  });

  it('answers from the project file and leaves the main thread free while the model is built', async () => {
    let latest = performance.now();
    let longest = 0;
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - latest);
      latest = performance.now();
    }, 1);
    const { suggestions, basis } = await engine.ask(viewOf(project), question);
    clearInterval(timer);
    expect(suggestions[0]).toMatchObject({ codeName: 'Neighbours', start: place?.start, end: place?.end });
    expect(basis).toMatchObject({ calibrated: true, documents: 7 });
    expect(longest).toBeGreaterThan(0);
  });

  it('uses and quotes nothing of a source or coder that is hidden', async () => {
    const all = await engine.ask(viewOf(project), question);
    const quoted = new Set(
      all.suggestions.flatMap(({ rationale }) =>
        [...rationale.matchAll(/garden-\d+/g)].map(([name]) => name),
      ),
    );
    expect(quoted.size).toBeGreaterThan(0);
    const hiddenSources = [...quoted].map((name) => Number(name.slice('garden-'.length)));
    const view = viewOf(project, { hiddenSources });
    const some = await engine.ask(view, question);
    expect(some.basis.documents).toBe(7 - hiddenSources.length);
    for (const { rationale } of some.suggestions)
      for (const name of quoted) expect(rationale).not.toContain(`${name}.`);
    expect((await engine.ask(view, { ...question, sourceId: hiddenSources[0] ?? 0 })).suggestions).toEqual(
      [],
    );
    const hidden = await engine.ask(viewOf(project, { hiddenCoders: ['AI: tester'] }), question);
    expect(hidden.basis).toMatchObject({ calibrated: false, passages: 0 });
  });

  it('knows a code and a coding that were added since the last call', async () => {
    const before = await engine.ask(viewOf(project), { kind: 'terms', codeId: 7, most: 5 });
    expect(before.terms).toEqual([]);
    await project.write(byAgent(), (writer) => {
      const codeId = writer.addCode({ name: 'Lighthouse' });
      const sourceId = writer.addSource({ name: 'new.txt', text: 'A lighthouse keeper came by with kelp.' });
      writer.addCoding({ codeId, sourceId, start: 0, end: 38 });
    });
    const { terms, passages } = await engine.ask(viewOf(project), { kind: 'terms', codeId: 7, most: 5 });
    expect(passages).toBe(1);
    expect(terms.map(({ term }) => term)).toContain('kelp');
  });

  it('stops for a caller who no longer waits and continues answering others', async () => {
    const stop = new AbortController();
    const asked = engine.ask(
      viewOf(project),
      { kind: 'document', sourceId: 8, minConfidence: 1 },
      stop.signal,
    );
    stop.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    expect((await engine.ask(viewOf(project), question)).suggestions[0]?.codeName).toBe('Neighbours');
  });

  it('learns from the file that is there when the project was replaced', async () => {
    const kept = await makeProject('kept', study, 7);
    const copy = `${kept.path}.copy`;
    cpSync(kept.path, copy, { recursive: true });
    await kept.write(byAgent(), (writer) => writer.addCode({ name: 'Afterwards' }));
    const terms = { kind: 'texts' } as const;
    const named = async () =>
      (await engine.ask(viewOf(kept), terms)).texts.some((text) => text.startsWith('Afterwards'));
    expect(await named()).toBe(true);
    kept.close();
    rmSync(kept.path, { recursive: true });
    renameSync(copy, kept.path);
    expect(await named()).toBe(false);
  });

  it('says what is wrong when the project is gone', async () => {
    const gone = bench.create('gone');
    gone.close();
    rmSync(gone.path, { recursive: true });
    await expect(engine.ask(viewOf(gone), question)).rejects.toThrow(/gone\.qda/);
  });

  it('finds codes that are used on the same words', async () => {
    const twice = interviews(16);
    const split = await makeProject(
      'twice',
      {
        ...twice,
        codes: [...twice.codes, { id: 7, name: 'Wildlife damage', memo: '', categoryId: null }],
        codings: twice.codings.map((coding) =>
          coding.codeId === 4 && coding.sourceId % 2 ? { ...coding, codeId: 7 } : coding,
        ),
      },
      16,
    );
    const { pairs } = await engine.ask(viewOf(split), { kind: 'twins' });
    expect(pairs.map(({ a, b }) => [a, b])).toContainEqual([4, 7]);
  });
});

describe('an embedding model', () => {
  /** Answers in which no word is used twice: only an embedding can know what they are about. */
  const made = (words: (topic: number, at: number) => string) => {
    const texts: string[] = [];
    const codings: { codeId: number; sourceId: number; start: number; end: number }[] = [];
    for (let sourceId = 1; sourceId <= 8; sourceId += 1) {
      let text = '';
      for (let at = 0; at < 18; at += 1) {
        const topic = (at * 7 + sourceId * 5) % 3;
        const start = text.length;
        text += words(topic, sourceId * 100 + at);
        codings.push({ codeId: topic + 1, sourceId, start, end: text.length });
        text += '\n\n';
      }
      texts.push(text);
    }
    return { texts, codings };
  };
  const invented = made((topic, at) => `Qu${at.toString(36)}zo${'xyz'[topic]}${at} vam${at}ri nolt${at}em.`);

  async function analysed(name: string, embed: (text: string) => readonly number[]) {
    const server = await startEmbeddings(embed);
    const project = bench.create(name);
    await project.write(byAgent(), (writer) => {
      for (const code of ['One', 'Two', 'Three']) writer.addCode({ name: code });
      for (const [at, text] of invented.texts.entries()) writer.addSource({ name: `${at + 1}.txt`, text });
      for (const coding of invented.codings) if (coding.sourceId < 8) writer.addCoding(coding);
    });
    const analysis = new ProjectAnalysis({
      project,
      folder: join(bench.dir, `index-${name}`),
      engine,
      embedder: new EndpointEmbedder({ baseUrl: server.baseUrl, model: 'test-embed' }),
    });
    const ask = (range = { start: 0, end: invented.texts[7]?.indexOf('\n') ?? 0 }) =>
      analysis.suggestCodesForRange(8, range);
    const settled = async () => {
      for (;;) {
        const found = await ask();
        if (!found.provenance.note?.includes('still reading')) return found;
      }
    };
    const close = async () => {
      analysis.close();
      await server.close();
    };
    return { server, ask, settled, close };
  }

  it('answers by words at first, and with vectors once they have proved useful on held-out sources', async () => {
    const byTopic = (text: string) => {
      const topic = /zo([xyz])/.exec(text)?.[1];
      return ['x', 'y', 'z'].map((letter) => (letter === topic ? 1 : 0.1));
    };
    const { server, ask, settled, close } = await analysed('useful', byTopic);
    expect((await ask()).provenance.note).toContain('still reading');
    const { suggestions, provenance } = await settled();
    expect(provenance).toMatchObject({ method: 'lexical+embeddings', model: 'test-embed' });
    expect(provenance.note).toContain(`The passage was sent to test-embed at ${server.baseUrl}/embeddings`);
    const right = invented.codings.find(({ sourceId, start }) => sourceId === 8 && start === 0);
    expect(suggestions[0]?.codeId).toBe(right?.codeId);
    expect(suggestions[0]?.confidence).toBeGreaterThan(70);
    await close();
  });

  it('is left out where it does not help, and the answer says so', async () => {
    const noise = (text: string) => [text.length % 3, text.length % 5, text.length % 7, 1];
    const { settled, close } = await analysed('useless', noise);
    const { provenance } = await settled();
    expect(provenance.method).toBe('lexical');
    expect(provenance.note).toContain('was not used');
    await close();
  });

  it('that does not answer leaves the words, and the answer says why', async () => {
    const { server, settled, close } = await analysed('down', () => [1]);
    await server.close();
    const { provenance } = await settled();
    expect(provenance.method).toBe('lexical');
    expect(provenance.note).toMatch(/not available: http:.*could not be reached/);
    await close();
  });
});
