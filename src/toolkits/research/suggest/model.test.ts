import { beforeAll, describe, expect, it } from 'vitest';
import { answer } from './answers.ts';
import type { Place, ProjectContent } from './content.ts';
import { type Interviews, interviews } from './interviews.fixture.ts';
import { SuggestionModel } from './model.ts';
import type { Question, SuggestedCode } from './protocol.ts';

const pause = async () => {};
const STUDY = interviews(12);
const HELD = 12;

/** The study as it was before one interview was coded. */
const without = (sourceId: number, study: Interviews = STUDY): ProjectContent => ({
  ...study,
  codings: study.codings.filter((coding) => coding.sourceId !== sourceId),
});

const ask = (
  model: SuggestionModel,
  content: ProjectContent,
  question: Extract<Question, { kind: 'range' }>,
) => answer(model, question, content, pause);
const forRange = (place: Omit<Place, 'codeId'>, most = 5) =>
  ({ kind: 'range', sourceId: place.sourceId, range: place, most }) as const;
const placeOf = (sourceId: number, words: string, study: Interviews = STUDY) => {
  const start = study.texts.get(sourceId)?.indexOf(words) ?? -1;
  if (start < 0) throw new Error(`"${words}" is not in interview ${sourceId}.`);
  return { sourceId, start, end: start + words.length };
};

describe('a model of a coded project', () => {
  let model: SuggestionModel;
  const content = without(HELD);
  const held = STUDY.codings.filter(({ sourceId }) => sourceId === HELD);
  beforeAll(async () => {
    model = await SuggestionModel.build(content, pause);
  });

  it('ranks the right code first for most passages of a document it has not seen coded', async () => {
    let first = 0;
    for (const place of held) {
      const { suggestions } = await ask(model, content, forRange(place));
      if (suggestions[0]?.codeId === place.codeId) first += 1;
    }
    expect(first / held.length).toBeGreaterThan(0.8);
  });

  it('gives confidences that agree with how often it is right', async () => {
    let said = 0;
    let right = 0;
    let count = 0;
    for (const sourceId of [2, 5, 9, HELD]) {
      const hidden = without(sourceId);
      const other = await SuggestionModel.build(hidden, pause);
      for (const place of STUDY.codings.filter((coding) => coding.sourceId === sourceId)) {
        for (const { codeId, confidence } of (await ask(other, hidden, forRange(place))).suggestions) {
          said += confidence / 100;
          right += codeId === place.codeId ? 1 : 0;
          count += 1;
        }
      }
    }
    expect(Math.abs(said - right) / count).toBeLessThan(0.05);
    expect(model.calibrated).toBe(true);
  });

  it('explains a suggestion by words of the passage and by the nearest segments with source and position', async () => {
    const place = held.find(({ codeId }) => codeId === 4);
    if (!place) throw new Error('No passage about pests.');
    const [first] = (await ask(model, content, forRange(place))).suggestions;
    expect(first?.codeName).toBe('Pests');
    const quotedWords = [...(first?.rationale.split(' are in ')[0] ?? '').matchAll(/“([^”]+)”/g)].map(
      ([, word]) => word,
    );
    expect(quotedWords.length).toBeGreaterThan(0);
    for (const word of quotedWords) expect(first?.text.toLowerCase()).toContain(word);
    const near = /near to a segment of garden-(\d+)\.txt, (\d+)–(\d+): “([^”]+)”/.exec(
      first?.rationale ?? '',
    );
    const [, id, start, end, quote = ''] = near ?? [];
    expect(STUDY.texts.get(Number(id))?.slice(Number(start), Number(end))).toContain(quote.replace('…', ''));
    expect(Number(id)).not.toBe(HELD);
  });

  it('does not count a coding of the very place as evidence for it', async () => {
    const [place] = STUDY.codings.filter(({ sourceId }) => sourceId === 3);
    if (!place) throw new Error('No passage.');
    const misled: ProjectContent = {
      ...STUDY,
      codes: [...STUDY.codes, { id: 99, name: 'Zzz', memo: '', categoryId: null }],
      codings: [...STUDY.codings, { ...place, codeId: 99 }],
    };
    const other = await SuggestionModel.build(misled, pause);
    const { suggestions } = await ask(other, misled, forRange(place));
    expect(suggestions[0]?.codeId).toBe(place.codeId);
    expect(suggestions.find(({ codeId }) => codeId === 99)?.confidence ?? 0).toBeLessThan(10);
  });

  it('never counts what interviewers say, speaker labels and time stamps', async () => {
    const answerText = 'The slugs ate the lettuce overnight';
    const bare = `GARDENER: ${answerText}.\n`;
    const dressed = `INTERVIEWER: [00:31:05] Is it the compost heap, the spade or the watering can?\nGARDENER: [00:31:09] ${answerText}.\n`;
    const head = 'INTERVIEWER: What goes wrong?\nGARDENER: Much.\nINTERVIEWER: Such as?\n';
    const texts = new Map([
      [70, head + bare],
      [71, head + dressed],
    ]);
    const both = { ...content, source: (id: number) => sourceOf(texts, id) ?? content.source(id) };
    const other = await SuggestionModel.build(both, pause);
    const readings = [...texts].map(([id, text]) => {
      const document = other.document(id);
      if (!document) throw new Error('No document.');
      return other.read(document, { start: head.length, end: text.length - 1 });
    });
    expect(readings[1]?.body.replace(/\s+/g, ' ').trim()).toBe(`${answerText}.`);
    expect(readings[1]?.features.words).toEqual(readings[0]?.features.words);
  });

  it('judges a passage as a whole and not by its best sentence', async () => {
    const pests = 'The slugs ate the lettuce overnight.';
    const water =
      'The hosepipe barely reaches the tomatoes in a drought. A rain butt runs dry by the end of July. The watering can saves the evening rounds. The drip line runs dry by the end of July.';
    const text = `GARDENER: ${pests} ${water}\n`;
    const mixed = {
      ...content,
      source: (id: number) => sourceOf(new Map([[80, text]]), id) ?? content.source(id),
    };
    const other = await SuggestionModel.build(mixed, pause);
    const { suggestions } = await ask(
      other,
      mixed,
      forRange({ sourceId: 80, start: 10, end: text.length - 1 }),
    );
    expect(suggestions[0]?.codeName).toBe('Water');
  });

  it('suggests for a whole document what is worth a code, joined within a paragraph, and leaves fillers and questions alone', async () => {
    const question = { kind: 'document', sourceId: HELD, minConfidence: 30 } as const;
    const { suggestions } = await answer(model, question, content, pause);
    const overlaps = (one: SuggestedCode) =>
      held.some(({ codeId, start, end }) => codeId === one.codeId && start < one.end && end > one.start);
    expect(suggestions.filter(overlaps).length / suggestions.length).toBeGreaterThan(0.7);
    const found = held.filter((place) =>
      suggestions.some(
        ({ codeId, start, end }) => codeId === place.codeId && start < place.end && end > place.start,
      ),
    );
    expect(found.length / held.length).toBeGreaterThan(0.7);
    for (const { text } of suggestions) expect(text).not.toMatch(/INTERVIEWER|\?/);
  });

  it('names the words that stand for a code, for a search', async () => {
    const { terms } = await answer(model, { kind: 'terms', codeId: 4, most: 5 }, content, pause);
    expect(terms.map(({ term }) => term)).toEqual(expect.arrayContaining(['lettuc', 'pigeon']));
  });
});

describe('a model that is kept', () => {
  it('takes in a new coding without learning everything again, and forgets one that is removed', async () => {
    const before = without(HELD);
    const model = await SuggestionModel.build(before, pause);
    const place = placeOf(1, 'INTERVIEWER');
    const text = STUDY.texts.get(1) ?? '';
    const range = { start: place.start, end: text.indexOf('\n', place.start) };
    const added = { ...before, codings: [...before.codings, { codeId: 6, sourceId: 1, ...range }] };
    const document = model.document(1);
    if (!document) throw new Error('No document.');
    const size = model.channels.size;
    model.update(added);
    expect(model.channels.size).toBe(size + 1);
    expect(model.needsRefit).toBe(false);
    model.update(before);
    expect(model.channels.size).toBe(size);
    const fresh = await SuggestionModel.build(before, pause);
    const probe = { start: 40, end: 200 };
    expect(model.read(document, probe).ranked).toEqual(fresh.read(document, probe).ranked);
  });

  it('is learned again after twenty changes', async () => {
    const before = without(HELD);
    const model = await SuggestionModel.build(before, pause);
    model.update(STUDY);
    expect(STUDY.codings.length - before.codings.length).toBeLessThan(20);
    expect(model.needsRefit).toBe(false);
    model.update(without(5));
    expect(model.needsRefit).toBe(true);
    await model.refit(pause);
    expect(model.needsRefit).toBe(false);
  });

  it('reads a text that was edited elsewhere again', async () => {
    const model = await SuggestionModel.build(STUDY, pause);
    const [first] = STUDY.codings;
    const original = STUDY.texts.get(1) ?? '';
    const edited = `${original.slice(0, first?.start)}${'x'.repeat(9)}${original.slice((first?.start ?? 0) + 9)}`;
    const bodies = () => model.passagesOf((first?.codeId ?? 0) - 1).map(({ body }) => body);
    expect(bodies().filter((body) => body.startsWith('xxxxxxxxx'))).toHaveLength(0);
    model.update({ ...STUDY, source: (id) => sourceOf(new Map([[1, edited]]), id) ?? STUDY.source(id) });
    expect(bodies().filter((body) => body.startsWith('xxxxxxxxx'))).toHaveLength(1);
  });

  it('is less sure of what people rejected, and does not repeat it', async () => {
    const content = without(HELD);
    const places = STUDY.codings.filter(({ sourceId, codeId }) => sourceId === HELD && codeId === 3);
    const [place] = places;
    if (!place) throw new Error('No passage about water.');
    const rejected = Array.from({ length: 11 }, (_, at) => at + 1).flatMap((sourceId) =>
      STUDY.codings
        .filter((coding) => coding.sourceId === sourceId && coding.codeId === 3)
        .map((coding) => ({ ...coding, start: coding.start + 1 })),
    );
    const before = await ask(await SuggestionModel.build(content, pause), content, forRange(place));
    const taught = { ...content, rejected: [...rejected, place] };
    const after = await ask(await SuggestionModel.build(taught, pause), taught, forRange(place));
    expect(before.suggestions[0]?.codeId).toBe(3);
    expect(after.suggestions.map(({ codeId }) => codeId)).not.toContain(3);
    expect(after.rejectedBefore).toBe(1);
    const elsewhere = { ...taught, rejected };
    const again = await ask(await SuggestionModel.build(elsewhere, pause), elsewhere, forRange(place));
    const sure = (list: readonly SuggestedCode[]) => list.find(({ codeId }) => codeId === 3)?.confidence ?? 0;
    expect(sure(again.suggestions)).toBeLessThan(sure(before.suggestions));
  });
});

describe('a project with too few codings', () => {
  const text = 'Without the social support I had I would have given up. We talked about the weather.';
  const content: ProjectContent = {
    codes: [
      { id: 1, name: 'Social support', memo: '', categoryId: null },
      { id: 2, name: 'Debt', memo: 'Bills and loans.', categoryId: null },
    ],
    codings: [],
    rejected: [],
    sourceIds: [1],
    source: (id) => sourceOf(new Map([[1, text]]), id),
  };

  it('goes by names and memos, says that nothing is calibrated, and stays below 80', async () => {
    const model = await SuggestionModel.build(content, pause);
    const question = { kind: 'document', sourceId: 1, minConfidence: 30 } as const;
    const { suggestions, basis } = await answer(model, question, content, pause);
    expect(basis).toMatchObject({ calibrated: false, passages: 0, documents: 0 });
    expect(suggestions.map(({ codeName }) => codeName)).toEqual(['Social support']);
    expect(suggestions[0]?.rationale).toContain("“social”, “support” are in the code's name");
    expect(suggestions[0]?.confidence).toBeLessThan(80);
  });

  it('suggests nothing that no word speaks for', async () => {
    const model = await SuggestionModel.build(content, pause);
    const range = { start: text.indexOf('We talked'), end: text.length };
    expect((await ask(model, content, forRange({ sourceId: 1, ...range }))).suggestions).toEqual([]);
  });

  it('ranks by the first codings as they come', async () => {
    const few: ProjectContent = { ...STUDY, codings: STUDY.codings.filter(({ sourceId }) => sourceId <= 2) };
    const model = await SuggestionModel.build(few, pause);
    expect(model.calibrated).toBe(false);
    const held = STUDY.codings.filter(({ sourceId }) => sourceId === HELD);
    let five = 0;
    for (const place of held) {
      const { suggestions } = await ask(model, few, forRange(place, 2));
      if (suggestions.some(({ codeId }) => codeId === place.codeId)) five += 1;
    }
    expect(five / held.length).toBeGreaterThan(0.6);
  });

  it('has nothing to say without codes or text', async () => {
    const none = { ...content, codes: [] };
    const model = await SuggestionModel.build(none, pause);
    expect((await ask(model, none, forRange({ sourceId: 1, start: 0, end: 20 }))).suggestions).toEqual([]);
    expect((await ask(model, none, forRange({ sourceId: 9, start: 0, end: 20 }))).suggestions).toEqual([]);
  });
});

function sourceOf(texts: ReadonlyMap<number, string>, id: number) {
  const value = texts.get(id);
  if (value === undefined) return undefined;
  const slice = (start: number, end: number) => value.slice(start, end);
  const same = (position: number) => position;
  return { name: `${id}.txt`, text: { value, length: value.length, slice, toUnits: same, fromUnits: same } };
}
