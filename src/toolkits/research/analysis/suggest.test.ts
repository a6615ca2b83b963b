import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexText } from '../lib/source-text.ts';
import { confidenceOf, fitCalibration, GENERAL } from './calibration.ts';
import { CodeReader } from './code-reader.ts';
import { contentPatterns } from './content-patterns.ts';
import { WorkerEmbedder } from './embedder.ts';
import { interviews } from './interviews.fixture.ts';
import { refineSuggestions } from './refine.ts';
import { autoSuggestCodes, suggestCodesForRange } from './suggest.ts';
import { uncodedText } from './uncoded.ts';
import { Vectors } from './vectors.ts';

const embedder = new WorkerEmbedder();
const kept = new Map<string, Float32Array>();
const vectors = new Vectors(embedder, {
  get: (keys) =>
    new Map(
      keys.flatMap((key) => (kept.has(key) ? [[key, kept.get(key) ?? new Float32Array(0)] as const] : [])),
    ),
  put: (entries) => {
    for (const [key, vector] of entries) kept.set(key, vector);
  },
});
afterAll(() => embedder.close());

const { codes, unseen } = interviews();
const TEXT = indexText(
  'Interviewer: How did you get through that winter, all in all?\n' +
    'Anna: I was so worried about the results 😀 that I was afraid of the phone. My sister came and helped me every day. The bus stops right here.\n\n' +
    'Interviewer: And money?\nAnna: There was no money for the rent and the bills piled up. I borrowed from relatives to pay the bills.\n',
);
const whole = [{ start: 0, end: TEXT.length }];

describe('with the sentence model', () => {
  let reader: CodeReader;
  beforeAll(async () => {
    reader = await CodeReader.read(codes, vectors);
  }, 60_000);

  it('is right about unseen sentences when it is sure, and mostly sure when it is right', async () => {
    const made = await vectors.of(unseen.map(({ text }) => text));
    const sure = unseen.flatMap(({ text, codes: right }, at) =>
      reader
        .judge(text, made[at], () => false)
        .filter(({ confidence }) => confidence >= 70)
        .map(({ codeName }) => right.includes(codeName)),
    );
    expect(sure.filter(Boolean).length / sure.length).toBeGreaterThanOrEqual(0.8);
    const labels = unseen.reduce((sum, { codes: right }) => sum + right.length, 0);
    expect(sure.filter(Boolean).length / labels).toBeGreaterThanOrEqual(0.5);
  });

  it('is fitted to the codings of the project once there are enough', () => {
    expect(reader.calibration.codings).toBeGreaterThanOrEqual(30);
    expect(reader.provenance).toEqual({
      method: 'lexical+embeddings',
      model: 'universal-sentence-encoder-lite',
    });
  });

  it('suggests sentence by sentence with exact positions and names its evidence', async () => {
    const { suggestions } = await autoSuggestCodes(reader, 2, TEXT, whole, 70, { vectors });
    for (const { start, end, text } of suggestions) expect(TEXT.slice(start, end)).toBe(text);
    const anxiety = suggestions.find(({ codeName }) => codeName === 'Anxiety');
    expect(anxiety?.text).toBe('I was so worried about the results 😀 that I was afraid of the phone.');
    expect(anxiety?.rationale).toMatch(/coding \d+ in first\.txt/);
    expect(suggestions.map(({ codeName }) => codeName)).toEqual(
      expect.arrayContaining(['Social support', 'Financial strain']),
    );
    expect(suggestions.some(({ text }) => text.includes('bus stops'))).toBe(false);
  });

  it('joins neighbouring sentences of one speaker that get the same code', async () => {
    const { suggestions } = await autoSuggestCodes(reader, 2, TEXT, whole, 60, { vectors });
    const money = suggestions.filter(({ codeName }) => codeName === 'Financial strain');
    expect(money.map(({ text }) => text)).toEqual([
      'There was no money for the rent and the bills piled up. I borrowed from relatives to pay the bills.',
    ]);
  });

  it('gives for a range the fitting codes, best first, and not more than five', async () => {
    const start = TEXT.fromUnits(TEXT.value.indexOf('My sister'));
    const { suggestions } = await suggestCodesForRange(
      reader,
      2,
      TEXT,
      { start, end: start + 40 },
      { vectors },
    );
    expect(suggestions[0]?.codeName).toBe('Social support');
    expect(suggestions.length).toBeLessThanOrEqual(5);
  });

  it('leaves out what a person rejected, and says how much', async () => {
    const all = await autoSuggestCodes(reader, 2, TEXT, whole, 70, { vectors });
    const first = all.suggestions[0];
    const again = await autoSuggestCodes(reader, 2, TEXT, whole, 70, {
      vectors,
      isRejected: ({ codeId, start }) => codeId === first?.codeId && start === first.start,
    });
    expect(again.suggestions).toHaveLength(all.suggestions.length - 1);
    expect(again.rejectedBefore).toBe(1);
  });

  it('does not count the coding of the very place as evidence for it', async () => {
    const only = [
      {
        id: 1,
        name: 'Zzz',
        memo: '',
        examples: [
          { codingId: 9, sourceId: 2, sourceName: 's', start: 0, end: TEXT.length, text: TEXT.value },
        ],
      },
    ];
    const lone = await CodeReader.read(only, vectors);
    const { suggestions } = await suggestCodesForRange(lone, 2, TEXT, { start: 13, end: 61 }, { vectors });
    expect(suggestions.every(({ rationale }) => !rationale.includes('coding 9'))).toBe(true);
  });
});

describe('without the sentence model', () => {
  it('suggests by the name of the code and says that only words were looked at', async () => {
    const reader = await CodeReader.read([
      { id: 1, name: 'Social support', memo: '', examples: [] },
      { id: 2, name: 'Debt', memo: '', examples: [] },
    ]);
    const text = indexText(
      'Without the social support I had I would have given up. We talked about the weather.',
    );
    const { suggestions, provenance } = await autoSuggestCodes(
      reader,
      1,
      text,
      [{ start: 0, end: text.length }],
      70,
    );
    expect(suggestions).toHaveLength(1);
    expect(suggestions[0]?.rationale).toBe("“social”, “support” matches the code's name.");
    expect(provenance).toEqual({ method: 'lexical' });
  });

  it('answers by words when the model takes too long, and has the vectors the next time', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = new Vectors(
      {
        model: 'm',
        embed: async (texts) => {
          await gate;
          return texts.map(() => Float32Array.of(1, 0));
        },
        close: async () => {},
      },
      { get: () => new Map(), put: () => {} },
    );
    const reader = await CodeReader.read([{ id: 1, name: 'Rent', memo: '', examples: [] }], slow, {
      patienceMs: 5,
    });
    expect(reader.provenance.note).toContain('still reading');
    release();
    expect(
      (await CodeReader.read([{ id: 1, name: 'Rent', memo: '', examples: [] }], slow)).provenance.method,
    ).toBe('lexical+embeddings');
  });

  it('does not let the English model judge another language, and says so', async () => {
    const german = indexText(
      'Ich habe mir große Sorgen gemacht und konnte die ganze Nacht nicht schlafen. Meine Schwester hat mir sehr geholfen, weil sie jeden Tag gekommen ist. Für die Miete fehlte uns damals das Geld, und der Arzt hatte keine Zeit für uns alle. Danach sind wir umgezogen, weil mein Mann eine neue Stelle gefunden hatte, und die Kinder mussten die Schule wechseln.',
    );
    const reader = await CodeReader.read([{ id: 1, name: 'Miete', memo: '', examples: [] }], vectors);
    const { suggestions, provenance } = await autoSuggestCodes(
      reader,
      1,
      german,
      [{ start: 0, end: german.length }],
      50,
      { vectors },
    );
    expect(provenance.note).toContain('English only');
    expect(suggestions.map(({ codeName, text }) => [codeName, text.includes('Miete')])).toEqual([
      ['Miete', true],
    ]);
  });

  it('gives nothing where there are no codes or no text', async () => {
    const none = await CodeReader.read([]);
    expect((await autoSuggestCodes(none, 1, TEXT, whole, 0)).suggestions).toEqual([]);
    const reader = await CodeReader.read(codes);
    expect(
      (await suggestCodesForRange(reader, 1, indexText('   '), { start: 0, end: 3 })).suggestions,
    ).toEqual([]);
  });
});

describe('calibration', () => {
  it('keeps the general setting while there are few codings', () => {
    expect(fitCalibration([{ logOdds: 1, agreed: true, weight: 1 }])).toBe(GENERAL);
  });

  it('lowers confidence where the coder agreed less often than the score said', () => {
    const samples = Array.from({ length: 400 }, (_, i) => ({ logOdds: 1.5, agreed: i % 4 === 0, weight: 1 }));
    const fitted = fitCalibration(samples);
    expect(confidenceOf(1.5, GENERAL)).toBe(82);
    expect(confidenceOf(1.5, fitted)).toBeGreaterThan(20);
    expect(confidenceOf(1.5, fitted)).toBeLessThan(35);
  });

  it('never turns more evidence into less confidence', () => {
    const contrary = Array.from({ length: 200 }, (_, i) => ({
      logOdds: i % 2 ? 3 : -3,
      agreed: i % 2 === 0,
      weight: 1,
    }));
    const fitted = fitCalibration(contrary);
    expect(confidenceOf(3, fitted)).toBeGreaterThanOrEqual(confidenceOf(-3, fitted));
  });
});

describe('uncoded text', () => {
  it('is what no code covers, with and without the white space around it', () => {
    const text = indexText('aaa 😀bb \n\n cc');
    const found = uncodedText(text, [
      { start: 0, end: 3 },
      { start: 2, end: 4 },
      { start: 7, end: 8 },
      { start: 90, end: 99 },
    ]);
    expect(found).toEqual({
      totalLength: 13,
      codedLength: 5,
      uncodedPercentage: 61,
      gaps: [
        { start: 4, end: 7 },
        { start: 8, end: 13 },
      ],
      ranges: [
        { start: 4, end: 7 },
        { start: 11, end: 13 },
      ],
    });
  });

  it('is nothing in an empty text', () => {
    expect(uncodedText(indexText(''), [])).toMatchObject({ totalLength: 0, uncodedPercentage: 0, gaps: [] });
  });
});

describe('patterns in uncoded text', () => {
  it('are recurring phrases that no code is named after', () => {
    const text = indexText(
      'P1: The waiting list was endless. I was anxious.\nP2: The waiting list, always the waiting list.\nP1: Anxious again. They put me on the waiting list for surgery.\nP2: Surgery took hours. The nurse was kind.',
    );
    const patterns = contentPatterns(text, [{ start: 0, end: text.length }], {
      codeNames: ['Anxiety', 'Anxious'],
    });
    expect(patterns[0]).toMatchObject({ phrase: 'waiting list', occurrences: 3, speakers: ['P1', 'P2'] });
    expect(patterns.map(({ phrase }) => phrase)).toContain('surgery');
    expect(patterns.map(({ phrase }) => phrase)).not.toContain('anxious');
    for (const { examples } of patterns)
      for (const { start, end, text: quoted } of examples) expect(text.slice(start, end)).toBe(quoted);
  });
});

describe('a language model on top', () => {
  const suggestion = {
    codeId: 1,
    codeName: 'Rent',
    confidence: 80,
    rationale: 'Because.',
    start: 0,
    end: 4,
    text: 'rent',
  };
  const found = {
    suggestions: [suggestion, { ...suggestion, start: 5, end: 9 }],
    provenance: { method: 'lexical' } as const,
    rejectedBefore: 0,
  };

  it('is named wherever it had a say, and can drop a suggestion', async () => {
    const refiner = {
      name: 'ollama/llama',
      refine: async () => [
        { index: 0, fits: true, confidence: 60, reason: 'Speaks of rent.' },
        { index: 1, fits: false, confidence: 5, reason: 'No.' },
      ],
    };
    const refined = await refineSuggestions(found, [{ id: 1, name: 'Rent', memo: '' }], refiner, 50);
    expect(refined.suggestions).toEqual([
      { ...suggestion, confidence: 70, rationale: 'Because. ollama/llama (60): Speaks of rent.' },
    ]);
    expect(refined.provenance).toEqual({ method: 'lexical', refinedBy: 'ollama/llama' });
  });

  it('changes nothing when it fails, and the failure is told', async () => {
    const refiner = { name: 'ollama/llama', refine: () => Promise.reject(new Error('connection refused')) };
    const refined = await refineSuggestions(found, [], refiner, 50);
    expect(refined.suggestions).toEqual(found.suggestions);
    expect(refined.provenance.refinedBy).toBeUndefined();
    expect(refined.provenance.note).toContain('connection refused');
  });
});
