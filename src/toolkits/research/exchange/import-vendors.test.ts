import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import yazl from 'yazl';
import { byAgent, openBench, type ResearchBench } from '../test/support/research.ts';
import { importCodebook } from './codebook.ts';
import { importQdpx } from './import-qdpx.ts';

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

const load = async (files: Record<string, string | Uint8Array>) => {
  const project = bench.create(`p${crypto.randomUUID()}`);
  const result = await importQdpx(project, byAgent('import'), await zip(files));
  const notes = result.notes.map(({ kind, what, count }) => `${kind} ${count} ${what}`);
  return { project, result, notes, coded: project.codings().map(({ text }) => text) };
};

const SCHEMA = readFileSync(new URL('./refi/schema/project.xsd', import.meta.url), 'utf8');
/** What programs really write is valid, so our schema must say so too. */
const valid = async (contents: string) => {
  const { valid: ok, errors } = await validateXML({ xml: { fileName: 'p.xml', contents }, schema: SCHEMA });
  expect(errors.map(({ message }) => message)).toEqual([]);
  expect(ok).toBe(true);
};

const A = 'AAAAAAAA-0000-4000-8000-00000000000';
const XSI =
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:QDA-XML:project:1.0 http://schema.qdasoftware.org/versions/Project/v1.0/Project.xsd" xmlns="urn:QDA-XML:project:1.0"';
const DATES = `modifiedDateTime="2024-03-05T10:00:00Z" creationDateTime="2024-03-05T10:00:00Z" modifyingUser="${A}1" creatingUser="${A}1"`;

describe('a project as MAXQDA writes it', () => {
  const DOC = `<?xml version="1.0" encoding="utf-8"?>
<Project ${XSI} origin="MAXQDA 24 (Release 24.7.0)" name="Themes" modifiedDateTime="2025-07-14T18:42:34Z">
 <Users>
  <User guid="${A}1" name="johanna"/>
 </Users>
 <CodeBook>
  <Codes>
   <Code color="#ef8256" guid="${A}2" name="Themes" isCodable="true">
    <Description>A folder, though it says that it can be used.</Description>
    <Code color="#ef8256" guid="${A}3" name="THEME - Money" isCodable="true"/>
   </Code>
  </Codes>
 </CodeBook>
 <Sources>
  <TextSource ${DATES} guid="${A}4" name="Interview 1" plainTextPath="internal://${A}4.txt">
   <PlainTextSelection ${DATES} guid="${A}5" name="I have no money" startPosition="6" endPosition="21">
    <Coding guid="${A}6" creatingUser="${A}1"><CodeRef targetGUID="${A}3"/></Coding>
   </PlainTextSelection>
  </TextSource>
  <TextSource ${DATES} guid="${A}7" name="Interview 1" plainTextPath="internal://${A}7.txt"/>
  <VideoSource guid="${A}8" name="Recording 11" path="internal://${A}8.m4a" creatingUser="${A}1">
   <VideoSelection begin="1000" end="2500" name="(1000,0),(2500,0)" guid="${A}9" creatingUser="${A}1">
    <Coding guid="${A}A" creatingUser="${A}1"><CodeRef targetGUID="${A}3"/></Coding>
   </VideoSelection>
  </VideoSource>
 </Sources>
 <Sets>
  <Set guid="${A}B" name="Wave 1"><MemberSource targetGUID="${A}4"/></Set>
 </Sets>
</Project>`;

  it('comes in with twins renamed, a sound file as sound, and every loss named', async () => {
    await valid(DOC);
    const { project, coded, notes, result } = await load({
      'project.qde': DOC,
      [`sources/${A}4.txt`]: 'Well,\r\nI have no money left.',
      [`sources/${A}7.txt`]: 'Another talk.',
      [`sources/${A}8.m4a`]: 'sound',
    });
    expect(coded).toEqual(['I have no money']);
    expect(project.sources().map(({ name, type }) => `${name} ${type}`)).toEqual([
      'Interview 1 text',
      'Interview 1 (2) text',
      'Recording 11 audio',
    ]);
    expect(project.mediaCodings()).toMatchObject([{ startMs: 1000, endMs: 2500 }]);
    expect(project.categories().map(({ name }) => name)).toEqual(['Themes']);
    expect(project.codes().map(({ name }) => name)).toEqual(['Themes', 'THEME - Money']);
    expect(notes).toContain('lost 1 Omitted a set of codes, documents or notes');
    expect(result.notes.find(({ what }) => what.includes('a set'))?.where).toEqual(['Wave 1']);
  });
});

describe('a project as NVivo writes it', () => {
  const DOC = (plain: string) => `<?xml version="1.0" encoding="utf-8"?>
<Project xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="Untitled" origin="NVivo for Windows 12.6" creatingUserGUID="${A}1" creationDateTime="2025-02-21T15:09:07Z" basePath="" xmlns="urn:QDA-XML:project:1.0">
  <Users><User guid="${A}1" name="Coder" /></Users>
  <CodeBook><Codes>
    <Code guid="${A}2" name="Risk" isCodable="true"><Code guid="${A}3" name="Personal risk" isCodable="true" /></Code>
  </Codes></CodeBook>
  <Cases><Case guid="${A}4" name="Ben" /></Cases>
  <Sources>
    <TextSource guid="${A}5" name="talk" richTextPath="internal://${A}5.docx" ${plain} creatingUser="${A}1" creationDateTime="2025-06-11T16:24:07Z">
      <PlainTextSelection guid="${A}6" name="" startPosition="4" endPosition="10" creatingUser="${A}1" creationDateTime="2025-06-11T16:24:07Z">
        <Coding guid="${A}7"><CodeRef targetGUID="${A}3" /></Coding>
      </PlainTextSelection>
      <PlainTextSelection guid="${A}8" name="" startPosition="0" endPosition="16" creatingUser="${A}1" creationDateTime="2025-06-11T16:24:07Z">
        <Coding guid="${A}9"><CodeRef targetGUID="${A}4" /></Coding>
      </PlainTextSelection>
      <PlainTextSelection guid="${A}A" name="" startPosition="11" endPosition="16" creatingUser="${A}1" creationDateTime="2025-06-11T16:24:07Z" />
    </TextSource>
  </Sources>
  <Notes><Note guid="${A}B" name="Annotation" plainTextPath="internal://${A}B.txt" creatingUser="${A}1" creationDateTime="2025-06-11T16:24:07Z" /></Notes>
  <Links><Link guid="${A}C" name="Annotation" direction="OneWay" originGUID="${A}A" targetGUID="${A}B" /></Links>
</Project>`;
  const docx = () =>
    zip({
      '[Content_Types].xml':
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
      '_rels/.rels':
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
      'word/document.xml':
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>The danger is mine.</w:t></w:r></w:p></w:body></w:document>',
    });

  it('comes in with the text of a case, and an annotation that only a link ties to its note', async () => {
    const plain = `plainTextPath="internal://${A}5.txt"`;
    await valid(DOC(plain));
    const { project, coded, notes } = await load({
      'project.qde': DOC(plain),
      'Sources/.root': '',
      [`Sources/${A}5.txt`]: '\ufeffThe danger is mine.',
      [`Sources/${A}5.docx`]: await docx(),
      [`Sources/${A}B.txt`]: 'She hesitates here.',
    });
    expect(coded).toEqual(['danger']);
    expect(project.caseTexts()).toMatchObject([{ start: 0, end: 16 }]);
    expect(project.annotations()).toMatchObject([{ start: 11, end: 16, memo: 'She hesitates here.' }]);
    expect(project.journals()).toEqual([]);
    expect(notes.filter((note) => note.startsWith('lost'))).toEqual([]);
  });

  it('gives its text from the Word document where the plain one is missing', async () => {
    const { project, coded, notes } = await load({
      'project.qde': DOC(''),
      [`sources/${A}5.docx`]: await docx(),
      [`sources/${A}B.txt`]: 'She hesitates here.',
    });
    expect(project.text(1)?.value).toBe('The danger is mine.');
    expect(coded).toEqual(['danger']);
    expect(notes).toContain('repaired 1 Read the text from the Word document, as the plain text is missing');
  });
});

describe('a project as ATLAS.ti writes it', () => {
  const DOC = `<?xml version="1.0" encoding="utf-8" standalone="yes"?>
<Project ${XSI} origin="ATLAS.ti 8.4.0 573 , macOS Version 10.14.3 (Build 18D109)" creatingUserGUID="${A}1" modifiedDateTime="2018-03-27T17:46:39Z" basePath="/Users/x/Media" name="Breakfast">
  <Users><User guid="${A}1" name="Friederike"/></Users>
  <CodeBook><Codes>
    <Code color="#966450" isCodable="true" name="Coke::diet Coke" guid="${A}2"><Description>non sucré</Description></Code>
    <Code guid="${A}3" name="&quot;rushed&quot;" isCodable="true"/>
  </Codes></CodeBook>
  <Sources>
    <VideoSource ${DATES} path="relative:///${A}4.mp4" guid="${A}4" name="Break.mp4">
      <Transcript plainTextPath="internal://${A}5.txt" ${DATES} guid="${A}6" name="Break.docx">
        <SyncPoint guid="${A}7" position="0" timeStamp="0"/>
        <SyncPoint guid="${A}8" position="20" timeStamp="2260"/>
      </Transcript>
      <VideoSelection begin="16176" end="45358" ${DATES} guid="${A}9" name="00:16.17 – 00:45.35"/>
      <VideoSelection begin="14706" end="17706" ${DATES} guid="${A}A" name="00:14.70 – 00:17.70">
        <Coding ${DATES.replace(/modif\w+="[^"]*" ?/g, '')} guid="${A}B"><CodeRef targetGUID="${A}3"/></Coding>
      </VideoSelection>
    </VideoSource>
    <TextSource plainTextPath="internal://${A}5.txt" ${DATES} guid="${A}C" name="Break.docx">
      <PlainTextSelection startPosition="16" endPosition="34" ${DATES} guid="${A}D" name="See you tomorr…">
        <Description>he means it</Description>
        <Coding creatingUser="${A}1" creationDateTime="2018-03-27T19:29:27Z" guid="${A}E"><CodeRef targetGUID="${A}2"/></Coding>
      </PlainTextSelection>
    </TextSource>
  </Sources>
  <Notes>
    <Note ${DATES} name="My favourite" guid="${A}F"><PlainTextContent>Better than the new cut</PlainTextContent></Note>
  </Notes>
  <Links><Link direction="OneWay" color="#000000" originGUID="${A}F" name="Memo-Quotation Relation" targetGUID="${A}9" guid="BBBBBBBB-0000-4000-8000-000000000001"/></Links>
  <Sets><Set guid="BBBBBBBB-0000-4000-8000-000000000002" name="&lt;3"/></Sets>
  <Graphs>
    <Graph guid="BBBBBBBB-0000-4000-8000-000000000003" name="Netzwerk">
      <Vertex firstX="103" firstY="26" representedGUID="${A}4" secondY="72" secondX="258" guid="BBBBBBBB-0000-4000-8000-000000000004" name="Break.mp4" shape="Rectangle"/>
      <Edge sourceVertex="BBBBBBBB-0000-4000-8000-000000000004" direction="Associative" targetVertex="BBBBBBBB-0000-4000-8000-000000000004" lineStyle="dashed" guid="BBBBBBBB-0000-4000-8000-000000000005"/>
    </Graph>
  </Graphs>
</Project>`;

  it('comes in with the transcript once, linked to its recording, and no note lost', async () => {
    await valid(DOC);
    const { project, coded, notes } = await load({
      'Breakfast.qde': DOC,
      [`sources/${A}5.txt`]: 'Oh, this is it.\r\nSee you tomorrow? \r\nMm.',
    });
    expect(coded).toEqual(['See you tomorrow? ']);
    const text = project.sources().find(({ name }) => name === 'Break.docx');
    expect(project.sources()).toHaveLength(2);
    expect(project.sources().find(({ name }) => name === 'Break.mp4')?.transcriptId).toBe(text?.id);
    expect(project.codes().map(({ name }) => name)).toEqual(['Coke::diet Coke', '"rushed"']);
    expect(project.journals()).toMatchObject([{ name: 'My favourite', entry: 'Better than the new cut' }]);
    expect(notes.filter((note) => note.startsWith('lost'))).toEqual([
      'lost 1 Imported a source without its file, which is not in the archive',
      'lost 1 Omitted a selection of a picture, PDF page or recording without a code',
      'lost 1 Omitted a link between two items',
      'lost 1 Omitted a set of codes, documents or notes',
      'lost 1 Omitted a drawing',
    ]);
  });

  it('gives its codebook in spite of another namespace, and names the groups left out', async () => {
    const project = bench.create('book');
    const book = `<?xml version="1.0" encoding="utf-8"?>
<CodeBook xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:QDA-XML:codebook:0:4 Codebook.xsd" origin="ATLAS.ti Win 23.4.0" xmlns="urn:QDA-XML:codebook:0:4">
  <Codes><Code guid="${A}2" name="code1" color="#46AA00" isCodable="true"><Description>what it means</Description></Code></Codes>
  <Sets><Set name="code group 1" guid="${A}3"><Description>kategorie 1</Description><MemberCode guid="${A}2" /></Set></Sets>
</CodeBook>`;
    const { codes, notes } = await importCodebook(project, byAgent('import'), Buffer.from(book));
    expect(codes).toBe(1);
    expect(project.codes()).toMatchObject([{ name: 'code1', color: '#46AA00', memo: 'what it means' }]);
    expect(notes.map(({ what, where }) => `${what}: ${where.join()}`)).toEqual([
      'Accepted a namespace that is not the standard one: urn:QDA-XML:codebook:0:4',
      'Omitted a set of codes: code group 1',
    ]);
  });
});

describe('files that small programs write', () => {
  it('come in with identifiers that are none, a colour that is none and no element around the codes', async () => {
    const doc = `<Project xmlns="urn:QDA-XML:project:1.0" name="Legacy"><CodeBook><Code guid="plugin" name="Legacy code" color="255,0,0"/></CodeBook><Sources><TextSource guid="doc" name="Doc"><PlainTextContent>One two</PlainTextContent><PlainTextSelection guid="s" startPosition="4" endPosition="7"><Coding guid="c"><CodeRef targetGUID="plugin"/></Coding></PlainTextSelection></TextSource></Sources></Project>`;
    const { project, coded, notes } = await load({ 'project.qde': doc });
    expect(coded).toEqual(['two']);
    expect(project.codes()).toMatchObject([{ name: 'Legacy code', color: '#808080' }]);
    expect(notes).toContain('repaired 1 Set the color of a code to grey, as its own is unreadable');
  });
});
