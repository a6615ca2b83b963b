import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import type { ProjectReader, ProjectStore } from '../../project/types.ts';
import { makeQualCoderProject } from '../../test/support/qualcoder.ts';
import { byAgent, openBench, type ResearchBench } from '../../test/support/research.ts';
import { Archive } from '../archive.ts';
import { exportCodebook, importCodebook } from '../codebook.ts';
import { pdf } from '../documents/pdf.fixture.ts';
import { exportQdpx } from '../export-qdpx.ts';
import { importQdpx } from '../import-qdpx.ts';

let bench: ResearchBench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const schema = (name: string) => readFileSync(new URL(`./schema/${name}.xsd`, import.meta.url), 'utf8');

const validate = async (xml: string, name: 'project' | 'codebook') => {
  const { valid, errors } = await validateXML({
    xml: [{ fileName: 'it.xml', contents: xml }],
    schema: [schema(name)],
  });
  expect(errors.map(({ message }) => message)).toEqual([]);
  expect(valid).toBe(true);
};

const xmlOf = async (path: string) => {
  const archive = await Archive.open(path);
  const xml = Buffer.from(await archive.read('project.qde')).toString();
  const names = archive.names();
  archive.close();
  return { xml, names };
};

/** What must be the same after a way there and back, without ids. */
const content = (project: ProjectReader) => {
  const code = new Map(project.codes().map(({ id, name }) => [id, name]));
  const source = new Map(project.sources().map(({ id, name }) => [id, name]));
  const category = new Map(project.categories().map(({ id, name }) => [id, name]));
  const cases = new Map(project.cases().map(({ id, name }) => [id, name]));
  const journal = new Map(project.journals().map(({ id, name }) => [id, name]));
  const target = { case: cases, file: source, journal };
  const lines = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).sort();
  return {
    memo: project.info().memo,
    categories: lines(
      project.categories().map((item) => [item.name, item.memo, category.get(item.parentId ?? -1)]),
    ),
    codes: lines(
      project
        .codes()
        .map((item) => [
          item.name,
          item.memo,
          item.color,
          category.get(item.categoryId ?? -1),
          code.get(item.parentId ?? -1),
        ]),
    ),
    sources: lines(
      project
        .sources()
        .map((item) => [
          item.name,
          item.type,
          item.memo,
          item.owner,
          item.date,
          source.get(item.transcriptId ?? -1),
          project.text(item.id)?.value,
        ]),
    ),
    codings: lines(
      project
        .codings()
        .map((item) => [
          code.get(item.codeId),
          source.get(item.sourceId),
          item.start,
          item.end,
          item.text,
          item.memo,
          item.owner,
          item.date,
          item.important,
        ]),
    ),
    images: lines(
      project
        .imageCodings()
        .map((item) => [
          code.get(item.codeId),
          source.get(item.sourceId),
          item.x,
          item.y,
          item.width,
          item.height,
          item.memo,
          item.important,
        ]),
    ),
    clips: lines(
      project
        .mediaCodings()
        .map((item) => [
          code.get(item.codeId),
          source.get(item.sourceId),
          item.startMs,
          item.endMs,
          item.memo,
          item.important,
        ]),
    ),
    annotations: lines(
      project
        .annotations()
        .map((item) => [source.get(item.sourceId), item.start, item.end, item.memo, item.owner, item.date]),
    ),
    cases: lines(project.cases().map((item) => [item.name, item.memo])),
    caseTexts: lines(
      project
        .caseTexts()
        .map((item) => [cases.get(item.caseId), source.get(item.sourceId), item.start, item.end, item.memo]),
    ),
    attributes: lines(
      project
        .attributes()
        .filter(({ value }) => value)
        .map((item) => [item.name, item.scope, item.value, target[item.scope].get(item.targetId)]),
    ),
    journals: lines(project.journals().map((item) => [item.name, item.entry, item.owner, item.date])),
  };
};

const fill = (project: ProjectStore) =>
  project.write(byAgent(), (writer) => {
    const stamp = { owner: 'ada', date: '2024-03-05 11:12:13' };
    const feelings = writer.addCategory({ name: 'Feelings', memo: 'a & b <c>' });
    const bad = writer.addCategory({ name: 'Bad ones', parentId: feelings });
    const anxiety = writer.addCode({
      name: 'Anxiety',
      memo: 'worry,\n\tfear "so"',
      color: '#FF6B6B',
      categoryId: bad,
    });
    const coping = writer.addCode({ name: 'Coping', color: '#4ECDC4' });
    const text = writer.addSource({
      name: 'one.txt',
      text: 'A 😀 text\u2029with e\u0301 and 不安です。\nSecond line.',
      memo: 'first',
      ...stamp,
    });
    const word = writer.addSource({
      name: 'two.docx',
      text: 'From Word.',
      mediaPath: '/docs/two.docx',
      file: Buffer.from('PK docx'),
      ...stamp,
    });
    const picture = writer.addSource({
      name: 'photo.png',
      text: null,
      mediaPath: '/images/photo.png',
      file: Buffer.from('png'),
      ...stamp,
    });
    const talk = writer.addSource({
      name: 'talk.mp3',
      text: null,
      mediaPath: '/audio/talk.mp3',
      file: Buffer.from('mp3'),
      transcriptId: text,
      ...stamp,
    });
    writer.addCoding({
      codeId: anxiety,
      sourceId: text,
      start: 2,
      end: 8,
      memo: 'clear',
      important: true,
      ...stamp,
    });
    writer.addCoding({
      codeId: coping,
      sourceId: text,
      start: 2,
      end: 8,
      owner: 'bob',
      date: '2024-03-06 09:00:00',
    });
    writer.addCoding({ codeId: coping, sourceId: word, start: 0, end: 4, ...stamp });
    writer.addImageCoding({
      codeId: anxiety,
      sourceId: picture,
      x: 10,
      y: 20,
      width: 30,
      height: 40,
      memo: 'corner',
      ...stamp,
    });
    writer.addMediaCoding({
      codeId: coping,
      sourceId: talk,
      startMs: 1000,
      endMs: 2500,
      important: true,
      ...stamp,
    });
    writer.addAnnotation({ sourceId: text, start: 0, end: 3, memo: 'who asks?', ...stamp });
    const person = writer.addCase({ name: 'Participant A', memo: 'a case' });
    const other = writer.addCase({ name: 'Participant B' });
    writer.addCaseText({ caseId: person, sourceId: word, start: 0, end: 10, ...stamp });
    writer.addCaseText({ caseId: other, sourceId: text, start: 3, end: 9, memo: 'part', ...stamp });
    writer.addAttributeType({ name: 'Age', scope: 'case', valueType: 'numeric' });
    writer.addAttributeType({ name: 'Place', scope: 'file', valueType: 'character' });
    writer.setAttribute({ name: 'Age', scope: 'case', targetId: person, value: '34' });
    writer.setAttribute({ name: 'Place', scope: 'file', targetId: text, value: 'Oslo & Bergen' });
    writer.addJournal({ name: 'Diary', entry: 'Today\nwas fine.', ...stamp });
    writer.setProjectMemo('What we ask.');
  });

describe('a .qdpx export', () => {
  it('is valid, names its parts as the standard says, and is the same every time', async () => {
    const project = bench.create('study');
    await fill(project);
    const path = join(bench.dir, 'out.qdpx');
    const now = new Date('2024-05-05T00:00:00Z');
    await exportQdpx(project, path, { now });
    const { xml, names } = await xmlOf(path);
    await validate(xml, 'project');
    // The check itself can fail: a missing attribute and a wrong order are both noticed.
    await expect(validate(xml.replace(' isCodable="true"', ''), 'project')).rejects.toThrow();
    await expect(
      validate(xml.replace(/(<Users>.*<\/Users>)(<CodeBook>.*<\/CodeBook>)/s, '$2$1'), 'project'),
    ).rejects.toThrow();
    expect(names[0]).toBe('project.qde');
    for (const name of names.slice(1))
      expect(name).toMatch(/^sources\/[0-9a-f]{8}-[0-9a-f-]{27}\.(txt|docx|png|mp3)$/);
    const first = readFileSync(path);
    await exportQdpx(project, path, { now });
    expect(readFileSync(path).equals(first)).toBe(true);
  });

  it('imports into a new project that holds the same', async () => {
    const project = bench.create('study');
    await fill(project);
    const path = join(bench.dir, 'out.qdpx');
    await exportQdpx(project, path);
    const copy = bench.create('copy');
    const { notes } = await importQdpx(copy, byAgent('import'), path);
    expect(content(copy)).toEqual(content(project));
    expect(notes.filter(({ kind }) => kind === 'lost')).toEqual([]);
    expect(readFileSync(join(copy.path, 'images', 'photo.png'), 'utf8')).toBe('png');
  });

  it.each([8, 14, 17])(
    'of a project that QualCoder v%i made is valid and reports what it omitted',
    async (version) => {
      const { path: folder } = makeQualCoderProject(bench.dir, version);
      const project = bench.open(folder);
      writeFileSync(join(folder, 'images', 'photo.jpg'), 'jpg');
      const path = join(bench.dir, 'out.qdpx');
      const { notes } = await exportQdpx(project, path);
      const { xml } = await xmlOf(path);
      await validate(xml, 'project');
      expect(xml).not.toContain('doubts');
      expect(xml).not.toContain('/home/ada');
      expect(notes).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ what: 'Omitted the private part of a memo', count: 3 }),
          expect.objectContaining({
            what: 'Omitted a file outside the project',
            where: ['scan.pdf', 'talk.mp3'],
          }),
          expect.objectContaining({
            kind: 'repaired',
            what: 'Rounded the coordinates of a coded area to whole points',
          }),
        ]),
      );
    },
  );

  it('keeps sub-codes where the other project has them, and makes categories of them where it has not', async () => {
    const project = bench.open(makeQualCoderProject(bench.dir, 17).path);
    await project.write(byAgent(), (writer) => {
      const panic = writer.addCode({ name: 'Panic', parentId: 1, memo: 'sudden' });
      writer.addCoding({ codeId: panic, sourceId: 1, start: 0, end: 11 });
    });
    const path = join(bench.dir, 'out.qdpx');
    await exportQdpx(project, path);
    await validate((await xmlOf(path)).xml, 'project');
    const new17 = bench.open(makeQualCoderProject(bench.dir, 17, 'other').path);
    await importQdpx(new17, byAgent(), path);
    expect(new17.codes().find(({ name }) => name === 'Panic')?.parentId).toBe(1);
    const new14 = bench.create('copy');
    const { notes } = await importQdpx(new14, byAgent(), path);
    const anxiety = new14.categories().find(({ name }) => name === 'Anxiety')?.id;
    expect(
      new14
        .codes()
        .filter(({ categoryId }) => categoryId === anxiety)
        .map(({ name }) => name),
    ).toEqual(['Anxiety', 'Panic']);
    expect(new14.codings().map(({ text }) => text)).toEqual(project.codings().map(({ text }) => text));
    expect(notes.map(({ what }) => what)).toContain(
      'Turned a code with sub-codes into a category that contains the code',
    );
  });

  it('turns the areas of a PDF page over and back, as REFI-QDA counts from the bottom', async () => {
    const project = bench.create('study');
    await project.write(byAgent(), (writer) => {
      const codeId = writer.addCode({ name: 'Figure' });
      const sourceId = writer.addSource({
        name: 'a.pdf',
        text: 'Hello',
        mediaPath: '/docs/a.pdf',
        file: pdf('Hello', 'World'),
      });
      writer.addImageCoding({ codeId, sourceId, x: 10, y: 20, width: 30, height: 40, pdfPage: 1 });
      writer.addCoding({ codeId, sourceId, start: 0, end: 5 });
    });
    const path = join(bench.dir, 'out.qdpx');
    await exportQdpx(project, path);
    const { xml } = await xmlOf(path);
    await validate(xml, 'project');
    expect(xml).toMatch(/<PDFSelection [^>]*page="1" firstX="10" firstY="772" secondX="40" secondY="732"/);
    const copy = bench.create('copy');
    await importQdpx(copy, byAgent(), path);
    expect(content(copy)).toEqual(content(project));
    expect(copy.imageCodings()).toMatchObject([{ x: 10, y: 20, width: 30, height: 40, pdfPage: 1 }]);
  });

  it('is not left half-written when it is cancelled', async () => {
    const project = bench.create('study');
    await fill(project);
    const path = join(bench.dir, 'out.qdpx');
    await expect(
      exportQdpx(project, path, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
    expect(() => readFileSync(path)).toThrow();
  });

  it('keeps every character and position of any text and memo', async () => {
    const text = fc.string({
      unit: fc.constantFrom(
        'a',
        ' ',
        '\n',
        '\t',
        '😀',
        'e\u0301',
        '不',
        '\u2029',
        '&',
        '<',
        '"',
        ']',
        '>',
        '\u0085',
      ),
      minLength: 3,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(text, text, fc.nat(), fc.nat(), async (value, memo, a, b) => {
        const project = bench.create(`p${crypto.randomUUID()}`);
        const copy = bench.create(`c${crypto.randomUUID()}`);
        const length = [...value].length;
        const [start, end] = [a % length, b % length].sort((x, y) => x - y) as [number, number];
        await project.write(byAgent(), (writer) => {
          const codeId = writer.addCode({ name: 'Code', memo });
          const sourceId = writer.addSource({ name: 'Text', text: value });
          writer.addCoding({ codeId, sourceId, start, end: end + 1, memo });
        });
        const path = join(bench.dir, 'any.qdpx');
        await exportQdpx(project, path);
        await importQdpx(copy, byAgent(), path);
        expect(copy.codings().map((item) => [item.start, item.end, item.text, item.memo])).toEqual(
          project.codings().map((item) => [item.start, item.end, item.text, item.memo]),
        );
        expect(copy.codes()[0]?.memo).toBe(memo);
      }),
      { examples: [['aaa', '\n \n', 0, 0]], numRuns: 25 },
    );
  }, 60_000);
});

describe('a .qdc codebook', () => {
  it('is valid and comes back with categories, memos and colors', async () => {
    const project = bench.create('study');
    await fill(project);
    const { xml } = exportCodebook(project);
    await validate(xml, 'codebook');
    const copy = bench.create('copy');
    expect(await importCodebook(copy, byAgent(), Buffer.from(xml))).toMatchObject({ codes: 2 });
    expect(content(copy).codes).toEqual(content(project).codes);
    expect(content(copy).categories).toEqual(content(project).categories);
  });

  it('is refused for a project without codes, and a file that is no codebook is refused', async () => {
    const project = bench.create('study');
    expect(() => exportCodebook(project)).toThrow(/no codes yet/);
    await expect(importCodebook(project, byAgent(), Buffer.from('<Other/>'))).rejects.toThrow(
      /root element is Other/,
    );
    await expect(importCodebook(project, byAgent(), Buffer.from('<!DOCTYPE x><CodeBook/>'))).rejects.toThrow(
      /document type definition/,
    );
  });

  it('uses what the project has, renames what clashes and says so', async () => {
    const project = bench.create('study');
    await project.write(byAgent(), (writer) => writer.addCode({ name: 'Anger' }));
    const xml = `\ufeff<CodeBook xmlns="urn:QDA-XML:codebook:1:0"><Codes><Code guid="x1" name="Anger" isCodable="true" color="red"/><Code guid="x2" name="Mood" isCodable="true"><Code guid="x3" name="Other" isCodable="true"/></Code><Code guid="x4" name="Other" isCodable="true" color="#abc"/></Codes></CodeBook>`;
    const { codes, notes } = await importCodebook(project, byAgent(), Buffer.from(xml));
    expect(codes).toBe(3);
    expect(project.codes().map(({ name, categoryId }) => [name, categoryId])).toEqual([
      ['Anger', null],
      ['Mood', 1],
      ['Other', 1],
      ['Other (2)', null],
    ]);
    expect(notes.map(({ what }) => what)).toEqual([
      'Removed a byte order mark',
      'Accepted a namespace that is not the standard one',
      'Used a code that the project already has',
      'Turned a code with sub-codes into a category that contains the code',
      'Renamed a code, as names must differ',
    ]);
  });
});
