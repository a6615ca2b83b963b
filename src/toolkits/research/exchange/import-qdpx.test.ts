import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { indexText } from '../project/source-text.ts';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import { importQdpx } from './import-qdpx.ts';
import { readPositions } from './refi/text-positions.ts';

let bench: ResearchBench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const zip = async (files: Record<string, string | Uint8Array>): Promise<Buffer> => {
  const archive = new yazl.ZipFile();
  for (const [name, body] of Object.entries(files)) archive.addBuffer(Buffer.from(body), name);
  archive.end();
  const parts: Buffer[] = [];
  for await (const part of archive.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const G = (n: number) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;
const USERS = `<Users><User guid="${G(1)}" name="ada"/></Users>`;
const CODES = `<CodeBook><Codes><Code guid="${G(2)}" name="Anxiety" isCodable="true" color="#ff0000"/></Codes></CodeBook>`;
const qde = (inner: string, origin = 'MAXQDA') =>
  `<?xml version="1.0" encoding="utf-8"?><Project xmlns="urn:QDA-XML:project:1.0" name="P" origin="${origin}">${inner}</Project>`;
const selection = (
  start: number,
  end: number,
  quote = '',
  code = G(2),
  made = `creatingUser="${G(1)}" creationDateTime="2024-03-05T10:00:00Z"`,
) =>
  `<PlainTextSelection guid="${G(start + 1000)}" name="${quote}" startPosition="${start}" endPosition="${end}" ${made}><Coding guid="${G(start + 2000)}" ${made}><CodeRef targetGUID="${code}"/></Coding></PlainTextSelection>`;
const textSource = (selections: string, file = 'a.txt', attributes = '') =>
  `<Sources><TextSource guid="${G(3)}" name="a.txt" plainTextPath="internal://${file}" ${attributes}>${selections}</TextSource></Sources>`;

const load = async (files: Record<string, string | Uint8Array>) => {
  const project = bench.create(`p${crypto.randomUUID()}`);
  const result = await importQdpx(project, byAgent('import'), await zip(files));
  return {
    project,
    result,
    notes: result.notes.map(({ what }) => what),
    coded: project.codings().map(({ text }) => text),
  };
};

describe('a text whose path has no scheme', () => {
  const source = (path: string) =>
    `<Sources><TextSource guid="${G(3)}" name="a.txt" plainTextPath="${path}">${selection(0, 3)}${selection(4, 7)}</TextSource></Sources>`;
  const CODES = `<CodeBook><Codes><Code guid="${G(2)}" name="C" isCodable="true"/></Codes></CodeBook>`;

  it('is read from the sources of the archive, with all its codings', async () => {
    for (const path of ['a.txt', 'sources/a.txt', './a.txt']) {
      const { coded, notes } = await load({
        'project.qde': qde(`${CODES}${source(path)}`),
        'sources/a.txt': 'One two three',
      });
      expect(coded).toEqual(['One', 'two']);
      expect(notes).toContain('Read a text from the sources of the archive, as its path has no scheme');
    }
  });

  it('that is nowhere is reported with the number of codings lost', async () => {
    const { result, coded } = await load({ 'project.qde': qde(`${CODES}${source('b.txt')}`) });
    expect(coded).toEqual([]);
    expect(result.notes).toContainEqual({
      kind: 'lost',
      what: 'Codings lost in total',
      count: 2,
      where: ['a.txt'],
    });
  });
});

describe('an import of what other programs write', () => {
  const DATE = `creationDateTime="2024-03-05T10:00:00Z"`;

  it.each([
    [
      'a byte order mark that is not counted',
      '\ufeffOne two three',
      [4, 7, 'two'],
      'MAXQDA',
      'Removed a byte order mark',
    ],
    [
      'a byte order mark that is counted',
      '\ufeffOne two three',
      [5, 8, 'two'],
      'MAXQDA',
      'Removed a byte order mark that positions had counted',
    ],
    [
      'CRLF counted as two',
      'One\r\ntwo\r\nthree',
      [5, 8, 'two'],
      'NVivo',
      'Changed line ends to LF; positions had counted them as two characters',
    ],
    [
      'CRLF counted as one, as ATLAS.ti does',
      'One\r\ntwo\r\nthree',
      [4, 7, ''],
      'ATLAS.ti',
      'Changed line ends to LF; positions had counted them as one',
    ],
    [
      'CRLF counted as one by a program that usually does not',
      'One\r\ntwo\r\nthree',
      [4, 7, 'two'],
      'NVivo',
      'Changed line ends to LF; positions had counted them as one',
    ],
    [
      'UTF-16 units after an emoji',
      '😀😀 two three',
      [5, 8, 'two'],
      'MAXQDA',
      'Positions had counted UTF-16 units instead of characters',
    ],
    [
      'an end that names the last character',
      'One two three',
      [4, 6, 'two'],
      'MAXQDA',
      'Positions had named the last character instead of the end',
    ],
  ] as const)('finds the coded text in spite of %s', async (_, text, [start, end, quote], origin, repair) => {
    const { coded, notes, project } = await load({
      'project.qde': qde(
        `${USERS}${CODES}${textSource(selection(start, end, quote), 'a.txt', DATE)}`,
        origin,
      ),
      'sources/a.txt': text,
    });
    expect(coded).toEqual(['two']);
    expect(notes).toEqual([repair]);
    expect(project.text(1)?.value).not.toMatch(/\r|\ufeff/);
  });

  it('reads texts in UTF-16 and a project file in UTF-16', async () => {
    const xml = Buffer.from(
      `\ufeff${qde(`${USERS}${CODES}${textSource(selection(4, 7, 'two'), 'a.txt', DATE)}`)}`,
      'utf16le',
    );
    const { coded, notes } = await load({
      'project.qde': xml,
      'sources/a.txt': Buffer.from('One two three', 'utf16le'),
    });
    expect(coded).toEqual(['two']);
    expect(notes).toEqual([
      'Read the project file as UTF-16LE',
      'Removed a byte order mark',
      'Read a text as UTF-16LE',
    ]);
  });

  it('finds files under wrong names', async () => {
    const inner = `${USERS}${CODES}${textSource(selection(4, 7), 'A.TXT', DATE)}`;
    expect((await load({ 'MyProject.qde': qde(inner), 'Sources/a.txt': 'One two three' })).notes).toEqual([
      'Read a project file that is not named project.qde',
      'Found a file under a name with different capitals',
    ]);
    expect((await load({ 'project.qde': qde(inner), 'texts/a.txt': 'One two three' })).notes).toEqual([
      'Found a file under another name or in another directory',
    ]);
  });

  it('takes the time and the owner of the import where date or user are missing', async () => {
    const { project, notes } = await load({
      'project.qde': qde(`${CODES}${textSource(selection(0, 3, '', G(2), 'creationDateTime="None"'))}`),
      'sources/a.txt': 'One two',
    });
    expect(project.codings()[0]).toMatchObject({ owner: 'AI: tester' });
    expect(project.codings()[0]?.date).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(notes).toEqual(['Used the time of the import for an item without a usable date']);
  });

  it('counts everything that it cannot keep', async () => {
    const broken = [
      selection(0, 3, '', G(99)),
      selection(2, 2),
      selection(90, 95),
      selection(4, 99),
      `<PlainTextSelection guid="${G(50)}" startPosition="0" endPosition="3"/>`,
    ].join('');
    const rest = `<Links><Link guid="${G(60)}" originGUID="${G(2)}" targetGUID="${G(3)}"/></Links><Sets><Set guid="${G(61)}" name="S"/></Sets><Graphs><Graph guid="${G(62)}"/></Graphs>`;
    const { result, coded } = await load({
      'project.qde': qde(`${USERS}${CODES}${textSource(broken, 'a.txt', DATE)}${rest}`),
      'sources/a.txt': 'One two',
    });
    expect(coded).toEqual(['two']);
    expect(result.notes.map(({ kind, what, count }) => `${kind} ${count} ${what}`)).toEqual([
      'lost 1 Omitted a coding whose code is not in the file',
      'lost 1 Omitted a selection of no length',
      'lost 1 Omitted a selection beyond the end of its text',
      'repaired 1 Shortened a selection that reached beyond its text',
      'lost 1 Omitted a selection that has neither a code nor a note',
      'lost 1 Omitted a link between two items',
      'lost 1 Omitted a set of codes, documents or notes',
      'lost 1 Omitted a drawing',
      'lost 3 Codings lost in total',
    ]);
  });

  it('makes notes into memos where something refers to them, and into the journal otherwise', async () => {
    const notes = `<Notes><Note guid="${G(70)}" name="On anxiety" ${DATE}><PlainTextContent>A long thought</PlainTextContent></Note><Note guid="${G(71)}" name="Diary" plainTextPath="internal://d.txt" ${DATE}/></Notes>`;
    const codes = CODES.replace(
      '/></Codes>',
      `><NoteRef targetGUID="{${G(70).toUpperCase()}}"/></Code></Codes>`,
    );
    const { project } = await load({ 'project.qde': qde(`${codes}${notes}`), 'sources/d.txt': 'Monday' });
    expect(project.codes()[0]?.memo).toBe('A long thought');
    expect(project.journals()).toMatchObject([{ name: 'Diary', entry: 'Monday' }]);
  });

  it('reads transcripts with their codings, cases that are given by codings, and selections without a code as annotations', async () => {
    const cases = `<Cases><Case guid="${G(5)}" name="Participant A"/></Cases>`;
    const sync = `<SyncPoint guid="${G(80)}" timeStamp="0" position="4"/><SyncPoint guid="${G(81)}" timeStamp="900" position="7"/>`;
    const transcript = `<Transcript guid="${G(82)}" name="talk" plainTextPath="internal://t.txt" ${DATE}>${sync}<TranscriptSelection guid="${G(83)}" fromSyncPoint="${G(80)}" toSyncPoint="${G(81)}" ${DATE}><Coding guid="${G(84)}"><CodeRef targetGUID="${G(2)}"/></Coding></TranscriptSelection></Transcript>`;
    const audio = `<AudioSource guid="${G(6)}" name="talk.mp3" path="internal://t.mp3" ${DATE}>${transcript}<AudioSelection guid="${G(85)}" begin="10" end="90" ${DATE}><Coding guid="${G(86)}"><CodeRef targetGUID="${G(2)}"/></Coding></AudioSelection></AudioSource>`;
    const text = `<TextSource guid="${G(3)}" name="a.txt" ${DATE}><PlainTextContent>One two</PlainTextContent>${selection(0, 3, '', G(5))}<PlainTextSelection guid="${G(51)}" startPosition="4" endPosition="7" ${DATE}><Description>a remark</Description></PlainTextSelection></TextSource>`;
    const { project, coded } = await load({
      'project.qde': qde(`${USERS}${CODES}${cases}<Sources>${audio}${text}</Sources>`),
      'sources/t.txt': 'abc def ghi',
      'sources/t.mp3': 'sound',
    });
    expect(coded).toEqual(['def']);
    expect(project.sources().find(({ name }) => name === 'talk.mp3')).toMatchObject({
      type: 'audio',
      transcriptId: 2,
    });
    expect(project.mediaCodings()).toMatchObject([{ startMs: 10, endMs: 90 }]);
    expect(project.caseTexts()).toMatchObject([{ start: 0, end: 3 }]);
    expect(project.annotations()).toMatchObject([{ start: 4, end: 7, memo: 'a remark' }]);
  });

  it('adds nothing the second time', async () => {
    const project = bench.create('twice');
    const file = await zip({
      'project.qde': qde(`${USERS}${CODES}${textSource(selection(4, 7), 'a.txt', DATE)}`),
      'sources/a.txt': 'One two',
    });
    await importQdpx(project, byAgent('import'), file);
    const again = await importQdpx(project, byAgent('import'), file);
    expect(again).toMatchObject({ codes: 0, sources: 0, codings: 0 });
    expect(project.codings()).toHaveLength(1);
  });
});

describe('an import that is refused', () => {
  it.each([
    ['an archive without a project', { 'a.txt': 'x' }, /no \.qde file/],
    ['two projects', { 'a.qde': '<Project/>', 'b.qde': '<Project/>' }, /several projects/],
    [
      'entities',
      { 'project.qde': '<!DOCTYPE p [<!ENTITY a "aaaa">]><Project>&a;</Project>' },
      /document type definition/,
    ],
    [
      'deep nesting',
      {
        'project.qde': qde(
          `<CodeBook><Codes>${'<Code>'.repeat(100)}${'</Code>'.repeat(100)}</Codes></CodeBook>`,
        ),
      },
      /nested more than/,
    ],
    ['another root', { 'project.qde': '<Other/>' }, /root element is Other/],
  ])('because of %s leaves the project as it was', async (_, files, why) => {
    const project = bench.create('study');
    await expect(importQdpx(project, byAgent('import'), await zip(files))).rejects.toThrow(why);
    expect(project.sources()).toEqual([]);
    expect(project.codes()).toEqual([]);
  });

  it('reads nothing through a path that leads out of the archive', async () => {
    const { notes, project } = await load({
      'project.qde': qde(textSource('', '../../../etc/passwd')),
      'sources/b.txt': 'x',
    });
    expect(project.sources()).toEqual([]);
    expect(notes).toEqual(['Omitted a document whose text is not in the file']);
  });
});

describe('positions', () => {
  it('are found again for any text when the quotes are there', () => {
    const piece = fc.constantFrom('word ', 'other ', '😀', '\r\n', '\n', '不安', 'e\u0301', '. ');
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 8, maxLength: 60 }),
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 3, max: 12 })), { minLength: 6, maxLength: 12 }),
        (pieces, two, mark, spans) => {
          const raw = `${mark ? '\ufeff' : ''}begin ${pieces.join('')} the end`;
          const bare = raw.replace('\ufeff', '');
          const counted = indexText(two ? bare : bare.replaceAll('\r\n', '\n'));
          const selections = spans.flatMap(([at, size]) => {
            const start = at % counted.length;
            const end = Math.min(counted.length, start + size);
            const name = counted.slice(start, end);
            // A selection that begins or ends inside a line break has no exact counterpart.
            if (end <= start || /^\n|^\s|\s$|\r$/.test(name) || name.trim().length < 3) return [];
            return [{ guid: `${start}`, name, start, end, description: '', codings: [], noteRefs: [] }];
          });
          const { text, place } = readPositions(raw, selections, 'NVivo');
          for (const item of selections) {
            const { start, end } = place(item);
            expect(text.slice(start, end)).toBe(item.name.replaceAll('\r\n', '\n'));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
