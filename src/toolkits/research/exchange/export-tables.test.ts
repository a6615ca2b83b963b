import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeQualCoderProject } from '../test/support/qualcoder.ts';
import { openBench, type ResearchBench } from '../test/support/research.ts';
import { Archive } from './archive.ts';
import { parseCsv } from './documents/survey.ts';
import { toCsv } from './tables/formats.ts';
import { codebookTable, exportTable, renderTables, segmentsTable } from './tables/project-tables.ts';
import { childOf, childrenOf, parseXml } from './xml.ts';

let bench: ResearchBench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const study = () => bench.open(makeQualCoderProject(bench.dir, 14).path);
const HOSTILE = {
  title: 'a/b: <c>',
  columns: ['x|y', 'n'],
  rows: [
    ['=cmd()|"q", <b>*x*</b>\nnew\u000b line', 3],
    ['-1 of 2', -4],
  ] as const,
};

describe('the tables of a project', () => {
  it('list the codebook with categories and use, without private memos', () => {
    const project = study();
    const table = codebookTable(project);
    expect(table.rows.map((row) => row.slice(0, 5))).toEqual([
      ['Coping', '', '', '#4ECDC4', 2],
      ['Anxiety', 'Feelings / Bad ones', 'worry, fear', '#FF6B6B', 2],
      ['Anxious', 'Feelings / Bad ones', 'being anxious', '#ff0000', 1],
    ]);
    expect(JSON.stringify(codebookTable(project, { privateMemos: true }))).toContain('private');
  });

  it('list every segment with its text, coder and case', () => {
    const { rows } = segmentsTable(study());
    expect(rows).toHaveLength(3);
    expect(rows[0]).toEqual([
      'interview1.txt',
      'Anxiety',
      'Feelings / Bad ones',
      'I worry about money',
      43,
      62,
      'clear',
      'ada',
      '2024-03-05 11:12:13',
      'yes',
      'Participant A',
      7,
    ]);
  });
});

describe('a table', () => {
  it('is CSV that comes back as it was, and no cell runs as a formula', () => {
    const csv = toCsv(HOSTILE);
    expect(csv.startsWith('\ufeffx|y,n\r\n"\'=cmd()')).toBe(true);
    expect(csv).toContain("'-1 of 2,-4");
    const cell = fc.string({ unit: 'binary' }).filter((text) => !/^[=+\-@\t\r]|\r|\0/.test(text));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
        const written = toCsv({ title: '', columns: ['first', 'second'], rows })
          .slice(1)
          .replaceAll('\r\n', '\n');
        const read = parseCsv(written, 'x.csv').slice(1);
        expect(read).toEqual(rows);
      }),
    );
  });

  it('is a workbook with one sheet per table and texts as texts', async () => {
    const archive = await Archive.open(await renderTables([HOSTILE, { ...HOSTILE, rows: [] }], 'xlsx', 't'));
    expect(archive.names()).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/workbook.xml',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/worksheets/sheet1.xml',
      'xl/worksheets/sheet2.xml',
    ]);
    const read = async (name: string) => parseXml(Buffer.from(await archive.read(name)).toString(), name);
    const sheets = childrenOf(childOf(await read('xl/workbook.xml'), 'sheets'), 'sheet').map(
      ({ attributes }) => attributes.name,
    );
    expect(sheets).toEqual(['a b  <c>', 'a b  <c> 2']);
    const rows = childrenOf(childOf(await read('xl/worksheets/sheet1.xml'), 'sheetData'), 'row');
    const cells = childrenOf(rows[1], 'c');
    expect(cells[0]?.attributes).toMatchObject({ r: 'A2', t: 'inlineStr' });
    expect(childOf(childOf(cells[0], 'is'), 't')?.text).toBe('=cmd()|"q", <b>*x*</b>\nnew_x000B_ line');
    expect(childOf(cells[1], 'v')?.text).toBe('3');
    for (const name of archive.names()) await read(name);
    archive.close();
  });

  it('is a page without anything that runs or loads', async () => {
    const html = Buffer.from(await renderTables([HOSTILE], 'html', '<script>')).toString();
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;b&gt;*x*&lt;/b&gt;');
    expect(html).toContain("default-src 'none'");
  });

  it('is Markdown that keeps its columns', async () => {
    const markdown = Buffer.from(await renderTables([HOSTILE], 'markdown', 'T')).toString();
    const lines = markdown.split('\n').filter((line) => line.startsWith('|'));
    expect(lines).toHaveLength(4);
    expect(lines[1]).toBe('| --- | ---: |');
    for (const line of lines) expect(line.match(/(?<!\\)\|/g)).toHaveLength(3);
  });

  it('comes in every format for a whole project', async () => {
    const project = study();
    for (const format of ['csv', 'xlsx', 'html', 'markdown'] as const) {
      for (const content of ['codebook', 'segments'] as const)
        expect((await exportTable(project, content, format)).length).toBeGreaterThan(100);
    }
  });
});
