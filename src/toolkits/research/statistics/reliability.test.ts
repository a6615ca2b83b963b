import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CodedProject, reliability } from './reliability.ts';
import { rateText } from './units.ts';

const ANA = { name: 'Ana', kind: 'person' } as const;
const BEN = { name: 'Ben', kind: 'person' } as const;
const BOT = { name: 'Bot', kind: 'agent' } as const;

const project = (codings: CodedProject['codings'], over: Partial<CodedProject> = {}): CodedProject => ({
  codes: [{ id: 1, name: 'Anxiety' }],
  sources: [{ id: 1, name: 'one.txt', length: 100 }],
  coders: [ANA, BEN],
  codings,
  ...over,
});

const mark = (owner: string, start: number, end: number, codeId = 1, sourceId = 1) => ({
  owner,
  start,
  end,
  codeId,
  sourceId,
});

describe('agreement on characters', () => {
  it('counts uncoded text as agreement and gives the hand-computed kappa', async () => {
    // 20 both, 10 only Ana, 10 only Ben, 60 neither: po 0.8, pe 0.3² + 0.7² = 0.58.
    const [kappa, alpha] = await reliability(project([mark('Ana', 0, 30), mark('Ben', 10, 40)]));
    expect(kappa).toMatchObject({ measure: 'cohen_kappa', between: 'people', units: 100, observed: 0.8 });
    expect(kappa?.value).toBeCloseTo((0.8 - 0.58) / 0.42, 12);
    // Alpha: margins 60 and 140 of 200 values, 40 disagreeing ones.
    expect(alpha?.value).toBeCloseTo(1 - (199 * 40) / (200 * 199 - 60 * 59 - 140 * 139), 12);
  });

  it('does not change when a coder marks the same characters in two overlapping pieces', async () => {
    const whole = await reliability(project([mark('Ana', 0, 30), mark('Ben', 10, 40)]));
    const pieces = await reliability(project([mark('Ana', 0, 20), mark('Ana', 5, 30), mark('Ben', 10, 40)]));
    expect(pieces).toEqual(whole);
  });

  it('leaves out a source that one of the two never worked on', async () => {
    const rows = await reliability(
      project([mark('Ana', 0, 30), mark('Ben', 10, 40), mark('Ana', 0, 500, 1, 2)], {
        sources: [
          { id: 1, name: 'one.txt', length: 100 },
          { id: 2, name: 'two.txt', length: 900 },
        ],
      }),
    );
    expect(rows[0]?.units).toBe(100);
  });

  it('counts an empty source as judged when the caller says that the coder took it', async () => {
    const rows = await reliability(project([mark('Ana', 0, 30)]), { took: () => true });
    expect(rows[0]).toMatchObject({ units: 100, observed: 0.7 });
    expect(rows[0]?.value).toBeCloseTo(0, 12);
  });

  it('gives every character to exactly one weighted run, for any sentences and marks', () => {
    const span = fc
      .tuple(fc.nat(200), fc.nat(200))
      .map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }));
    fc.assert(
      fc.property(fc.array(span), fc.array(span), fc.array(span), fc.nat(200), (units, a, b, length) => {
        const weight = rateText({ length, units, marks: [a, b] }, 'character')
          .flat()
          .reduce((sum, unit) => sum + unit.weight, 0);
        expect(weight).toBe(length);
      }),
    );
  });
});

describe('agreement on segments', () => {
  const sentences = Array.from({ length: 10 }, (_, i) => ({ start: i * 10, end: i * 10 + 9 }));

  it('counts a sentence as coded when at least half of it is', async () => {
    const rows = await reliability(
      project([mark('Ana', 0, 19), mark('Ben', 0, 14)], {
        sources: [{ id: 1, name: 'one.txt', length: 100, units: sentences }],
      }),
      { unit: 'segment' },
    );
    // Ben covers 4 of the 9 characters of the second sentence: less than half.
    expect(rows[0]).toMatchObject({ units: 10, observed: 0.9 });
  });
});

describe('the report', () => {
  const codings = [
    mark('Ana', 0, 30),
    mark('Ben', 10, 40),
    mark('Bot', 0, 35),
    mark('Ana', 50, 60, 2),
    mark('Ben', 50, 60, 2),
  ];
  const full = project(codings, {
    codes: [
      { id: 1, name: 'Anxiety' },
      { id: 2, name: 'Coping' },
    ],
    coders: [ANA, BEN, BOT],
  });

  it('sets people apart from pairs of people and agents', async () => {
    const rows = (await reliability(full)).filter(({ code }) => code?.id === 1);
    expect(rows.map(({ between, coders, measure }) => [between, coders.join('+'), measure])).toEqual([
      ['people', 'Ana+Ben', 'cohen_kappa'],
      ['people_and_agents', 'Ana+Bot', 'cohen_kappa'],
      ['people_and_agents', 'Ben+Bot', 'cohen_kappa'],
      ['people', 'Ana+Ben', 'krippendorff_alpha'],
      ['people_and_agents', 'Ana+Ben+Bot', 'fleiss_kappa'],
      ['people_and_agents', 'Ana+Ben+Bot', 'krippendorff_alpha'],
    ]);
  });

  it('gives perfect agreement an interval of exactly one, and says why a value is missing', async () => {
    const rows = await reliability(full, { bootstrap: { samples: 200 } });
    const perfect = rows.find(({ code, measure }) => code?.id === 2 && measure === 'cohen_kappa');
    expect(perfect).toMatchObject({ value: 1, observed: 1 });
    const everything = await reliability(project([mark('Ana', 0, 100), mark('Ben', 0, 100)]));
    expect(everything[0]).toMatchObject({ value: null, interval: null });
    expect(everything[0]?.note).toContain('coded every unit the same way');
  });

  it('puts the value inside its interval for many blocks, and is the same on every run', async () => {
    const many = Array.from({ length: 80 }, (_, i) => [
      mark('Ana', i * 100, i * 100 + 40),
      ...(i % 4 ? [mark('Ben', i * 100 + 5, i * 100 + 45)] : []),
    ]).flat();
    const big = project(many, { sources: [{ id: 1, name: 'one.txt', length: 8000 }] });
    const rows = await reliability(big);
    const { value, interval } = rows[0] ?? {};
    expect(interval?.low).toBeLessThan(value ?? 0);
    expect(interval?.high).toBeGreaterThan(value ?? 1);
    expect(await reliability(big)).toEqual(rows);
  });

  it('adds rows per source on request', async () => {
    const rows = await reliability(full, { perSource: true });
    expect(rows.some(({ source }) => source?.name === 'one.txt')).toBe(true);
  });

  it('stops when it is cancelled', async () => {
    await expect(reliability(full, { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});
