import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';

/** The texts, seeded so that a failure can be repeated. */
function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PIECES = [
  'a',
  'b',
  'ab',
  ' ',
  '. ',
  '\n',
  '\r\n',
  '\u2029',
  '😀',
  '👩‍👧',
  'e\u0301',
  '語',
  '한',
  '𠀋',
  'worry',
  'ﬁ',
  '\u200d',
];

describe('ten thousand random codings', () => {
  let bench: ResearchBench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.close());

  it.each(['codepoint', 'utf16'] as const)(
    'come back with exactly the selected text, stored as %s',
    async (unit) => {
      const below = random(unit === 'utf16' ? 7 : 11);
      const path = bench.create(`random-${unit}`).path;
      const texts = Array.from({ length: 20 }, () =>
        Array.from({ length: 200 + below(400) }, () => PIECES[below(PIECES.length)]).join(''),
      );
      seedProject(`${path}/data.qda`, texts, unit);
      const project = bench.open(path);
      const wanted: { sourceId: number; start: number; end: number }[] = [];
      for (let n = 0; n < 10_000; n += 1) {
        const sourceId = 1 + below(texts.length);
        const length = [...(texts[sourceId - 1] ?? '')].length;
        const start = below(length);
        wanted.push({ sourceId, start, end: start + 1 + below(Math.min(60, length - start)) });
      }
      const ids = await project.write(byAgent(), (writer) =>
        wanted.map((range, n) => writer.addCoding({ ...range, codeId: 1 + (n % 3) }).id),
      );
      const again = bench.open(path);
      const byId = new Map(again.codings().map((coding) => [coding.id, coding]));
      wanted.forEach((range, n) => {
        const coding = byId.get(ids[n] ?? -1);
        const points = [...(texts[range.sourceId - 1] ?? '')];
        expect(coding).toMatchObject({ ...range, anchored: true });
        expect(coding?.text).toBe(points.slice(range.start, range.end).join(''));
      });
      checkStored(`${path}/data.qda`, texts, unit);
    },
  );
});

/** Texts with CR in them, as older QualCoders left them, and one coding each that proves the unit. */
function seedProject(file: string, texts: readonly string[], unit: 'codepoint' | 'utf16'): void {
  const db = new Database(file);
  for (let n = 1; n <= 3; n += 1) {
    db.prepare('INSERT INTO code_name (cid, name, color) VALUES (?, ?, ?)').run(n, `code ${n}`, '#808080');
  }
  texts.forEach((text, at) => {
    const marked = `😀begin${text}`;
    db.prepare('INSERT INTO source (id, name, fulltext) VALUES (?, ?, ?)').run(
      at + 1,
      `text ${at}`,
      text + marked,
    );
    const start = unit === 'codepoint' ? [...text].length + 1 : text.length + 2;
    db.prepare('INSERT INTO code_text (cid, fid, seltext, pos0, pos1, owner) VALUES (1, ?, ?, ?, ?, ?)').run(
      at + 1,
      'begin',
      start,
      start + 5,
      'ada',
    );
  });
  db.close();
}

/** Looks at the rows as QualCoder would: every row must hold its text at its place in the project's own unit. */
function checkStored(file: string, texts: readonly string[], unit: 'codepoint' | 'utf16'): void {
  const db = new Database(file);
  const rows = db.prepare('SELECT fid, pos0, pos1, seltext FROM code_text').all() as {
    fid: number;
    pos0: number;
    pos1: number;
    seltext: string;
  }[];
  expect(rows.length).toBeGreaterThan(9_000);
  const full = texts.map((text) => `${text}😀begin${text}`);
  const points = full.map((text) => [...text]);
  for (const row of rows) {
    const slice =
      unit === 'utf16'
        ? full[row.fid - 1]?.slice(row.pos0, row.pos1)
        : points[row.fid - 1]?.slice(row.pos0, row.pos1).join('');
    expect(row.seltext).toBe(slice);
  }
  db.close();
}
