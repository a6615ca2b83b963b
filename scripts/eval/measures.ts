import type { Item } from './project.ts';

export interface RankedCode {
  readonly codeId: number;
  /** 0 to 1; left out where a method gives none. */
  readonly probability?: number;
}

interface Bin {
  count: number;
  said: number;
  right: number;
}

/** Collects rankings of all codes for coded passages. */
export class RankingMeasures {
  #items = 0;
  #first = 0;
  #five = 0;
  #reciprocal = 0;
  #reciprocalOfFive = 0;
  #rightInFive = 0;
  #given = 0;
  #codes = 0;
  readonly #bySource = new Map<number, { items: number; five: number }>();
  readonly #bins: Bin[] = Array.from({ length: 10 }, () => ({ count: 0, said: 0, right: 0 }));

  add(item: Item, ranked: readonly RankedCode[]): void {
    const rank = ranked.findIndex(({ codeId }) => item.codeIds.has(codeId));
    const five = ranked.slice(0, 5);
    const right = five.filter(({ codeId }) => item.codeIds.has(codeId)).length;
    this.#items += 1;
    this.#codes += item.codeIds.size;
    this.#given += 5;
    this.#rightInFive += right;
    if (rank === 0) this.#first += 1;
    if (right > 0) this.#five += 1;
    if (rank >= 0) this.#reciprocal += 1 / (rank + 1);
    if (rank >= 0 && rank < 5) this.#reciprocalOfFive += 1 / (rank + 1);
    const source = this.#bySource.get(item.sourceId) ?? { items: 0, five: 0 };
    source.items += 1;
    if (right > 0) source.five += 1;
    this.#bySource.set(item.sourceId, source);
    for (const { codeId, probability } of five) {
      if (probability === undefined) continue;
      const bin = this.#bins[Math.min(9, Math.floor(probability * 10))];
      if (!bin) continue;
      bin.count += 1;
      bin.said += probability;
      if (item.codeIds.has(codeId)) bin.right += 1;
    }
  }

  row(name: string): string[] {
    const share = (part: number, all: number) => ((100 * part) / Math.max(1, all)).toFixed(1);
    const worst = Math.min(...[...this.#bySource.values()].map(({ items, five }) => (100 * five) / items));
    return [
      name,
      share(this.#first, this.#items),
      share(this.#five, this.#items),
      share(this.#rightInFive, this.#given),
      share(this.#rightInFive, this.#codes),
      (this.#reciprocal / this.#items).toFixed(3),
      (this.#reciprocalOfFive / this.#items).toFixed(3),
      this.#isCalibrated ? this.#calibrationError().toFixed(3) : '–',
      worst.toFixed(0),
    ];
  }

  reliability(): string[][] {
    return reliabilityRows(this.#bins);
  }

  get #isCalibrated(): boolean {
    return this.#bins.some(({ count }) => count > 0);
  }

  #calibrationError(): number {
    const all = this.#bins.reduce((sum, { count }) => sum + count, 0);
    return this.#bins.reduce((sum, { said, right }) => sum + Math.abs(said - right), 0) / Math.max(1, all);
  }
}

export const RANKING_HEAD = ['METHOD', 'HIT@1', 'HIT@5', 'P@5', 'R@5', 'MRR', 'MRR@5', 'ECE', 'WORST HIT@5'];

/** Suggestions for whole documents: right where they overlap a coding of their code. */
export class DocumentMeasures {
  #suggested = 0;
  #right = 0;
  #found = 0;
  #codings = 0;
  readonly #bins: Bin[] = Array.from({ length: 10 }, () => ({ count: 0, said: 0, right: 0 }));

  add(
    items: readonly Item[],
    suggestions: readonly { codeId: number; start: number; end: number; confidence: number }[],
  ): void {
    const overlaps = (item: Item, suggestion: (typeof suggestions)[number]) =>
      item.codeIds.has(suggestion.codeId) && item.start < suggestion.end && item.end > suggestion.start;
    for (const suggestion of suggestions) {
      const isRight = items.some((item) => overlaps(item, suggestion));
      this.#suggested += 1;
      if (isRight) this.#right += 1;
      const bin = this.#bins[Math.min(9, Math.floor(suggestion.confidence / 10))];
      if (!bin) continue;
      bin.count += 1;
      bin.said += suggestion.confidence / 100;
      if (isRight) bin.right += 1;
    }
    for (const item of items) {
      for (const codeId of item.codeIds) {
        this.#codings += 1;
        if (suggestions.some((suggestion) => suggestion.codeId === codeId && overlaps(item, suggestion)))
          this.#found += 1;
      }
    }
  }

  row(name: string): string[] {
    const share = (part: number, all: number) => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;
    return [
      name,
      String(this.#suggested),
      share(this.#right, this.#suggested),
      share(this.#found, this.#codings),
    ];
  }

  reliability(): string[][] {
    return reliabilityRows(this.#bins);
  }
}

export const RELIABILITY_HEAD = ['CONFIDENCE', 'SUGGESTIONS', 'SAID', 'RIGHT', 'OFF BY'];

function reliabilityRows(bins: readonly Bin[]): string[][] {
  return bins.flatMap(({ count, said, right }, at) => {
    if (count === 0) return [];
    const [mean, share] = [(100 * said) / count, (100 * right) / count];
    return [
      [
        `${at * 10}–${at * 10 + 10}`,
        String(count),
        mean.toFixed(1),
        share.toFixed(1),
        `${(share - mean).toFixed(1)}${count < 30 ? ' (few)' : ''}`,
      ],
    ];
  });
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row.map((cell, at) => (at ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join('  '),
    )
    .join('\n');
}
