import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import { pdf } from './documents/pdf.fixture.ts';
import { readDocument } from './documents/read-document.ts';
import { parseCsv } from './documents/survey.ts';
import { importDocuments } from './import-documents.ts';
import { ExchangeReport } from './report.ts';

let bench: ResearchBench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const file = (name: string, body: string | Uint8Array) => ({ name, read: async () => Buffer.from(body) });

const zip = async (files: Record<string, string>): Promise<Buffer> => {
  const archive = new yazl.ZipFile();
  for (const [name, body] of Object.entries(files)) archive.addBuffer(Buffer.from(body), name);
  archive.end();
  const parts: Buffer[] = [];
  for await (const part of archive.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const docx = (...paragraphs: string[]) =>
  zip({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels':
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${paragraphs.map((text) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`).join('')}</w:body></w:document>`,
  });

const read = async (name: string, body: string | Uint8Array) => {
  const report = new ExchangeReport();
  const { documents } = await readDocument(name, Buffer.from(body), report);
  return { text: documents[0]?.text, notes: report.notes().map(({ what }) => what) };
};

describe('a document', () => {
  it('is read in any encoding with any line ends, and every repair is reported', async () => {
    expect(await read('a.txt', Buffer.from('\ufeffGrüße\r\n😀', 'utf16le'))).toEqual({
      text: 'Grüße\n😀',
      notes: ['Read as UTF-16LE and stored as UTF-8', 'Removed a byte order mark', 'Changed line ends to LF'],
    });
    expect((await read('a.md', '# Title\n\nText')).notes).toEqual([]);
  });

  it('is refused when its bytes are no text, whatever its name says', async () => {
    const random = Uint8Array.from({ length: 4000 }, (_, at) => (Math.imul(at + 7, 2654435761) >>> 13) & 255);
    for (const [name, bytes] of [
      ['random.txt', random],
      ['wide.txt', Buffer.concat([Buffer.from([0xff, 0xfe]), random])],
      ['zip.md', await zip({ 'a.txt': 'x'.repeat(5000) })],
      ['subtitles.srt', random],
      ['table.csv', random],
    ] as const)
      await expect(read(name, bytes)).rejects.toThrow(/is not a text file/);
    expect((await read('notes.txt', 'Line\fpage two\u001b with a stray sign')).text).toContain('page two');
  });

  it('is read from Word, a line per paragraph', async () => {
    expect((await read('a.docx', await docx('I: How are you?', 'P1: Fine &amp; well 😀'))).text).toBe(
      'I: How are you?\nP1: Fine & well 😀',
    );
  });

  it('is refused when it is no Word document or a bomb', async () => {
    await expect(read('a.docx', await zip({ 'other.xml': '<a/>' }))).rejects.toThrow(/not a Word document/);
    await expect(read('a.docx', Buffer.from('text'))).rejects.toThrow(
      'a.docx is not a Word document (.docx), or it is damaged.',
    );
  });

  it('is read from a PDF page by page, and pages without text are reported', async () => {
    const { text, notes } = await read('a.pdf', pdf('First page.', '', 'Third page.'));
    expect(text).toBe('First page.\n\nThird page.');
    expect(notes).toEqual(['Found no text on a page of a PDF (a scan or a picture)']);
    await expect(read('scan.pdf', pdf('', ''))).rejects.toThrow(/text recognition/);
    await expect(read('bad.pdf', 'nothing')).rejects.toThrow(/damaged or not a PDF/);
  });

  it('does not hold up other work while it is read, and stops being read when no one waits', async () => {
    const book = pdf(...Array.from({ length: 150 }, (_, page) => `Page ${page} of a long report`));
    await read('warm.pdf', pdf('one'));
    let turns = 0;
    let reading = true;
    const turn = () => {
      turns += 1;
      if (reading) setImmediate(turn);
    };
    setImmediate(turn);
    expect((await read('book.pdf', book)).text).toContain('Page 149 of a long report');
    reading = false;
    expect(turns).toBeGreaterThan(10);

    const stop = new AbortController();
    const stopped = readDocument('book.pdf', book, new ExchangeReport(), { signal: stop.signal });
    setImmediate(() => stop.abort(new Error('enough')));
    await expect(stopped).rejects.toThrow('enough');
    expect((await read('after.pdf', pdf('two'))).text).toBe('two');
  });

  it('is read from subtitles as turns with times', async () => {
    const srt =
      '1\r\n00:00:01,000 --> 00:00:03,000\r\nANNA: Hello <i>there</i>.\r\n\r\n2\r\n00:00:03,500 --> 00:00:04,000\r\nHow are you?\r\n\r\n3\r\n00:01:05,000 --> 00:01:06,000\r\nBEN: Fine.\r\n';
    expect((await read('a.srt', srt)).text).toBe(
      '[00:00:01] ANNA: Hello there. How are you?\n[00:01:05] BEN: Fine.',
    );
    const vtt =
      'WEBVTT\n\nNOTE made by hand\n\nintro\n00:01.000 --> 00:03.000 align:start\n<v Anna>Salt &amp; pepper\n\n00:04.000 --> 00:05.000\n<v Ben>Yes.';
    expect((await read('a.vtt', vtt)).text).toBe('[00:00:01] Anna: Salt & pepper\n[00:00:04] Ben: Yes.');
    await expect(read('a.srt', 'no times')).rejects.toThrow(/no subtitles/);
  });

  it('is refused when its kind is not known or it is empty', async () => {
    await expect(read('a.xls', 'x')).rejects.toThrow(/Cannot import a\.xls/);
    await expect(read('a.txt', '  \n ')).rejects.toThrow(/no text/);
  });
});

describe('CSV', () => {
  it.each([
    [
      'quotes, separators and line breaks in fields',
      'a,"b ""x"", y","c\nd"\n1,2,3\n',
      [
        ['a', 'b "x", y', 'c\nd'],
        ['1', '2', '3'],
      ],
    ],
    [
      'semicolons',
      'a;b,c;d\n1;2;3',
      [
        ['a', 'b,c', 'd'],
        ['1', '2', '3'],
      ],
    ],
    [
      'tabs and empty fields',
      'a\tb\tc\n1\t\t\n',
      [
        ['a', 'b', 'c'],
        ['1', '', ''],
      ],
    ],
    [
      'empty lines',
      'a,b\n\n1,2\n\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
  ])('is read with %s', (_, text, rows) => {
    expect(parseCsv(text, 'x.csv')).toEqual(rows);
  });

  it('is refused with an open quotation mark, saying where', () => {
    expect(() => parseCsv('a,b\n1,"2', 'x.csv')).toThrow(/line 2/);
  });
});

describe('an import', () => {
  it('adds texts with their originals in one change', async () => {
    const project = bench.create('study');
    const { sources, notes } = await importDocuments(project, byAgent('import'), [
      file('one.txt', 'Hello\r\nworld'),
      file('one.txt', 'Other'),
    ]);
    expect(sources.map(({ name }) => name)).toEqual(['one.txt', 'one (2).txt']);
    expect(project.text(sources[0]?.id ?? 0)?.value).toBe('Hello\nworld');
    expect(readFileSync(join(project.path, 'documents', 'one.txt'), 'utf8')).toBe('Hello\r\nworld');
    expect(notes.map(({ what }) => what)).toContain('Renamed a source, as the project has one of this name');
  });

  it('adds nothing at all when one file of several cannot be read', async () => {
    const project = bench.create('study');
    await expect(
      importDocuments(project, byAgent('import'), [file('one.txt', 'Hello'), file('two.pdf', 'no')]),
    ).rejects.toThrow(/two\.pdf/);
    expect(project.sources()).toEqual([]);
    expect(existsSync(join(project.path, 'documents', 'one.txt'))).toBe(false);
  });

  it('does not overwrite a file that lies in the project without belonging to a source', async () => {
    const project = bench.create('study');
    writeFileSync(join(project.path, 'documents', 'one.txt'), 'somebody put this here');
    await importDocuments(project, byAgent('import'), [file('one.txt', 'Hello')]);
    expect(project.sources()[0]?.mediaPath).toBe('/docs/one (2).txt');
    expect(readFileSync(join(project.path, 'documents', 'one.txt'), 'utf8')).toBe('somebody put this here');
  });

  it('keeps a hostile file name inside the project', async () => {
    const project = bench.create('study');
    await importDocuments(project, byAgent('import'), [file('../../evil\n.txt', 'Hello')]);
    expect(project.sources()[0]?.mediaPath).toBe('/docs/_.._evil_.txt');
  });

  it('makes a survey into cases, attributes and texts in which each answer belongs to its case', async () => {
    const project = bench.create('study');
    const csv =
      'ID,Age,Sex,How did you feel about the move?\nP1,34,f,"I was quite anxious 😀, to be honest with you."\nP2,51,m,\nP3,28,f,It was a relief for all of us.\n';
    const result = await importDocuments(project, byAgent('import'), [file('survey.csv', csv)]);
    expect(result).toMatchObject({ cases: 3, attributes: 2 });
    expect(project.cases().map(({ name }) => name)).toEqual(['P1', 'P2', 'P3']);
    expect(project.attributeTypes()).toMatchObject([
      { name: 'Age', valueType: 'numeric' },
      { name: 'Sex', valueType: 'character' },
    ]);
    const said = project
      .caseTexts()
      .map(({ caseId, sourceId, start, end }) => [caseId, project.text(sourceId)?.slice(start, end)]);
    expect(said).toEqual([
      [1, 'I was quite anxious 😀, to be honest with you.'],
      [3, 'It was a relief for all of us.'],
    ]);
    expect(project.attributes().find(({ name, targetId }) => name === 'Age' && targetId === 2)?.value).toBe(
      '51',
    );
  });

  it('takes short answers to a question for a text, and short values without a question for attributes', async () => {
    const project = bench.create('study');
    const csv =
      'ID,Job title,What helps you?,Do you smoke?\nP1,staff nurse,My colleagues,no\nP2,senior physio,The choir and my garden,no\nP3,ward clerk,Running in the park,yes\n';
    await importDocuments(project, byAgent('import'), [file('survey.csv', csv)]);
    expect(project.sources().map(({ name }) => name)).toEqual(['survey – What helps you.txt']);
    expect(project.attributeTypes().map(({ name }) => name)).toEqual(['Do you smoke', 'Job title']);
  });

  it('stops when cancelled and reports progress', async () => {
    const project = bench.create('study');
    const stop = new AbortController();
    const told: string[] = [];
    const running = importDocuments(
      project,
      byAgent('import'),
      [file('one.txt', 'a'), file('two.txt', 'b')],
      {
        signal: stop.signal,
        progress: (message, done) => {
          told.push(message);
          if (done === 1) stop.abort(new Error('enough'));
        },
      },
    );
    await expect(running).rejects.toThrow('enough');
    expect(told).toEqual(['Reading one.txt', 'Reading two.txt']);
    expect(project.sources()).toEqual([]);
  });
});
