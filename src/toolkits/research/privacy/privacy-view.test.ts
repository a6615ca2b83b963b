import { beforeEach, describe, expect, it } from 'vitest';
import { Pace } from '../analysis/pace.ts';
import { indexText, JOINER } from '../project/source-text.ts';
import type { Coding, CodingFilter, ProjectReader, Source } from '../project/types.ts';
import { freeName } from './hidden-names.ts';
import { type PrivacyView, personPrivacyView, privacyViewFor } from './privacy-view.ts';
import { Pseudonymiser } from './pseudonyms.ts';

const MEMO = 'open\n#####\nprivate';
const own = { memo: MEMO, owner: 'ada', date: '2024-01-01' };
const source = (id: number, name: string, hasText = true): Source => ({
  id,
  name,
  type: 'text',
  mediaPath: null,
  hasText,
  bytes: 10,
  transcriptId: null,
  risId: null,
  ...own,
});
const SOURCES = [source(1, 'Closed.txt'), source(2, `Open.txt${JOINER}`), source(3, 'scan.png', false)];
const TEXTS = new Map([
  [1, indexText('Closed: Zoe was here.')],
  [2, indexText('Here Zoe speaks.')],
]);
const coding = (id: number, sourceId: number, owner = 'ada', anchored = true): Coding => ({
  id,
  codeId: 1,
  sourceId,
  start: 5,
  end: 8,
  text: 'Zoe then',
  anchored,
  avCodingId: null,
  important: false,
  ...own,
  owner,
});
const CODINGS = [coding(1, 1), coding(2, 2), coding(3, 2, 'hidden'), coding(4, 2, 'ada', false)];
const part = (id: number, sourceId: number, owner = 'ada') => ({
  id,
  sourceId,
  start: 0,
  end: 5,
  ...own,
  owner,
});

/** Source 1 is off limits, case 1 is known from it alone, and one coder is hidden. */
class Project implements ProjectReader {
  readonly asked: unknown[] = [];
  info = () => ({ name: 'p', path: '/p', version: 17, date: '', about: '', coderName: 'ada', memo: MEMO });
  sources = () => SOURCES;
  source = (id: number) => SOURCES.find((one) => one.id === id);
  text = (id: number) => TEXTS.get(id);
  loadText = async (id: number) => void this.asked.push(id);
  loadLongTexts = async () => void this.asked.push('all');
  categories = () => [{ id: 1, name: 'c', parentId: null, ...own }];
  codes = () => [{ id: 1, name: 'c', categoryId: null, parentId: null, color: '#ffffff', ...own }];
  code = (id: number) => this.codes().find((one) => one.id === id);
  codingCounts = (leftOut: unknown) => {
    this.asked.push(leftOut);
    return new Map([[1, 7]]);
  };
  sourceCodingCounts = (leftOut: unknown) => {
    this.asked.push(leftOut);
    return new Map([[2, 8]]);
  };
  codings = (filter?: CodingFilter) => {
    this.asked.push(filter);
    return CODINGS.filter(({ sourceId }) => filter?.sourceId === undefined || sourceId === filter.sourceId);
  };
  coding = (id: number) => CODINGS.find((one) => one.id === id);
  imageCodings = () =>
    [part(1, 1), part(2, 2), part(3, 2, 'hidden')].map((one) => ({
      ...one,
      codeId: 1,
      x: 0,
      y: 0,
      width: 1,
      height: 1,
      pdfPage: null,
      important: false,
    }));
  mediaCodings = () =>
    [part(1, 1), part(2, 2), part(3, 2, 'hidden')].map((one) => ({
      ...one,
      codeId: 1,
      startMs: 0,
      endMs: 1,
      important: false,
    }));
  annotations = (id?: number) =>
    [part(1, 1), part(2, 2), part(3, 2, 'hidden')].filter(
      ({ sourceId }) => id === undefined || sourceId === id,
    );
  cases = () => [1, 2, 3].map((id) => ({ id, name: `case ${id}`, ...own }));
  caseTexts = () => [
    { ...part(1, 1), caseId: 1 },
    { ...part(2, 1), caseId: 2 },
    { ...part(3, 2), caseId: 2 },
  ];
  attributeTypes = () => [
    { name: 'of Zoe', scope: 'case' as const, valueType: 'character' as const, ...own },
  ];
  attributes = () =>
    (['file', 'case', 'journal'] as const).flatMap((scope) =>
      [1, 2].map((targetId) => ({
        id: targetId,
        name: 'of Zoe',
        scope,
        value: 'Zoe',
        targetId,
        owner: 'ada',
        date: '',
      })),
    );
  journals = () =>
    ['ada', 'AI: one', 'AI: hidden'].map((owner, id) => ({ id, name: 'j', entry: 'e', owner, date: '' }));
  coders = () => [
    { name: 'ada', visible: true },
    { name: 'hidden', visible: false },
    { name: 'AI: hidden', visible: false },
  ];
}

const AGENT = { kind: 'agent', id: 'local' } as const;
const NAMES = [{ original: 'Zoe', pseudonym: 'P1' }];
const viewOf = (project: Project, offLimits = [1], names = NAMES) =>
  privacyViewFor(AGENT, project, {
    offLimits: new Set(offLimits),
    names,
    pseudonymiser: new Pseudonymiser(names),
  });
const ids = (items: readonly { readonly id: number }[]) => items.map(({ id }) => id);
const code = (of: () => unknown): unknown => {
  try {
    return of();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
};

describe('the project as an agent sees it', () => {
  let view: PrivacyView;
  let reader: ProjectReader;
  beforeEach(() => {
    view = viewOf(new Project());
    reader = view.reader;
  });

  it('has no source that is off limits, and no trace of one', () => {
    expect(ids(reader.sources())).toEqual([2, 3]);
    expect(reader.source(1)).toBeUndefined();
    expect(reader.text(1)).toBeUndefined();
    expect(reader.text(2)?.value).toBe('Here Zoe speaks.');
    expect(ids(reader.codings())).toEqual([2, 4]);
    expect(reader.coding(1)).toBeUndefined();
    expect(ids(reader.imageCodings())).toEqual([2]);
    expect(ids(reader.mediaCodings())).toEqual([2]);
    expect(ids(reader.annotations())).toEqual([2]);
    expect(ids(reader.caseTexts())).toEqual([3]);
    expect(ids(reader.cases())).toEqual([2, 3]);
    expect(reader.attributes().map(({ scope, targetId }) => `${scope} ${targetId}`)).toEqual([
      'file 2',
      'case 2',
      'journal 1',
      'journal 2',
    ]);
  });

  it('does not read a source that is off limits', async () => {
    const strict = new Project();
    const restricted = viewOf(strict).reader;
    expect(restricted.codings({ sourceId: 1 })).toEqual([]);
    await restricted.loadText(1);
    expect(strict.asked).toEqual([]);
    await restricted.loadText(2);
    await restricted.loadLongTexts();
    expect(ids(restricted.codings({ sourceId: 2 }))).toEqual([2, 4]);
    expect(strict.asked).toEqual([2, 'all', { sourceId: 2 }]);
  });

  it('counts neither codings of such a source nor those of hidden coders', () => {
    const strict = new Project();
    const restricted = viewOf(strict).reader;
    expect([...restricted.codingCounts()]).toEqual([[1, 7]]);
    expect([...restricted.sourceCodingCounts()]).toEqual([[2, 8]]);
    const leftOut = { sources: [1], owners: ['hidden', 'AI: hidden'] };
    expect(strict.asked).toEqual([leftOut, leftOut]);
  });

  it('has nothing by hidden coders, and of journals only what agents wrote', () => {
    expect(reader.coding(3)).toBeUndefined();
    expect(reader.coding(2)).toMatchObject({ id: 2 });
    expect(reader.coding(9)).toBeUndefined();
    expect(reader.coders()).toEqual([{ name: 'ada', visible: true }]);
    expect(reader.journals().map(({ owner }) => owner)).toEqual(['AI: one']);
  });

  it('has every memo without its private part', () => {
    const items = [
      reader.info(),
      ...reader.sources(),
      reader.source(2),
      ...reader.categories(),
      ...reader.codes(),
      reader.code(1),
      ...reader.codings(),
      reader.coding(2),
      ...reader.imageCodings(),
      ...reader.mediaCodings(),
      ...reader.annotations(),
      ...reader.cases(),
      ...reader.caseTexts(),
      ...reader.attributeTypes(),
    ];
    expect(new Set(items.map((item) => item?.memo))).toEqual(new Set(['open']));
    expect(reader.code(2)).toBeUndefined();
    expect(reader.categories()).toHaveLength(1);
    expect(reader.codes()).toHaveLength(1);
  });

  it('has names of attributes and their values replaced, and those of sources without a hidden sign', () => {
    expect(reader.attributeTypes()).toMatchObject([{ name: 'of P1' }]);
    expect(reader.attributes()[0]).toMatchObject({ name: 'of P1', value: 'P1' });
    expect(reader.source(2)?.name).toBe('Open.txt');
    expect(reader.sources()[0]?.name).toBe('Open.txt');
  });

  it('has every case where no source is off limits', () => {
    const all = viewOf(new Project(), []).reader;
    expect(ids(all.cases())).toEqual([1, 2, 3]);
    expect(all.attributes()).toHaveLength(6);
    expect(ids(all.sources())).toEqual([1, 2, 3]);
  });

  it('has names replaced in passages and codings', () => {
    expect(view.masked).toBe(true);
    expect(view.hidden).toEqual(['Zoe']);
    expect(view.mask('Zoe')).toBe('P1');
    expect(view.unmask('P1 and all', (words) => words.toUpperCase())).toBe('Zoe AND ALL');
    expect(view.passage(2, 0, 9)).toEqual({
      content: 'Here P1 ',
      replacements: [{ content_start: 5, content_end: 7, start_pos: 5, end_pos: 8 }],
    });
    const [anchored, moved] = [reader.coding(2), reader.coding(4)];
    expect(anchored && view.codingText(anchored)).toBe('P1');
    expect(moved && view.codingText(moved)).toBe('P1 then');
  });

  it('has names replaced in a text to search in, with the way back', async () => {
    const strict = new Project();
    const shown = await viewOf(strict).shownInSlices(2, new Pace());
    expect(shown.text.value).toBe('Here P1 speaks.');
    expect(shown.original({ start: 5, end: 7 })).toEqual({ start: 5, end: 8 });
    expect(strict.asked).toEqual([2]);
  });

  it('reports a source that is off limits like one that does not exist', async () => {
    for (const id of [1, 9]) {
      expect(code(() => view.source(id))).toBe('source_not_found');
      expect(code(() => view.text(id))).toBe('source_not_found');
      expect(code(() => view.passage(id, 0, 1))).toBe('source_not_found');
      await expect(view.shownInSlices(id, new Pace())).rejects.toMatchObject({ code: 'source_not_found' });
    }
    expect(code(() => view.source(3))).toMatchObject({ id: 3 });
    expect(code(() => view.text(3))).not.toBe('source_not_found');
    expect(code(() => view.text(3))).not.toBeUndefined();
  });

  it('has what is said to it without private parts and without quotes of a source that is off limits', () => {
    const quote = (name: string) => `near to a segment of ${name}, 0–6: “words”.`;
    expect(view.tell(MEMO)).toBe('open');
    expect(view.tell(quote('Closed.txt'))).toBe('The evidence is no longer available.');
    expect(view.tell(quote('Open.txt'))).toContain('words');
    const named = new Project();
    named.source = (id) => (id === 1 ? source(1, 'Talk with Zoe') : undefined);
    expect(viewOf(named).tell(quote('Talk with P1'))).toBe('The evidence is no longer available.');
    expect(viewOf(named).tell(quote('Talk with Zoe'))).toBe('The evidence is no longer available.');
    // A source that is gone has no name left.
    named.source = () => undefined;
    expect(viewOf(named).tell(quote('undefined'))).toContain('words');
  });

  it('has no names to replace where there are no pseudonyms, and sources off limits still', async () => {
    const bare = viewOf(new Project(), [1], []);
    expect(bare).toMatchObject({ masked: false, hidden: [] });
    expect(bare.mask('Zoe')).toBe('Zoe');
    expect(bare.unmask('P1')).toBe('P1');
    expect(bare.passage(2, 0, 9)).toEqual({ content: 'Here Zoe ', replacements: [] });
    expect((await bare.shownInSlices(2, new Pace())).text.value).toBe('Here Zoe speaks.');
    expect(bare.reader.source(1)).toBeUndefined();
  });
});

describe('the project as a person sees it', () => {
  it('is the whole project', () => {
    const project = new Project();
    const rules = { offLimits: new Set([1]), names: NAMES, pseudonymiser: new Pseudonymiser(NAMES) };
    for (const view of [
      personPrivacyView(project),
      privacyViewFor({ kind: 'person', id: 'ada' }, project, rules),
    ]) {
      expect(view.reader).toBe(project);
      expect(view.tell(MEMO)).toBe(MEMO);
      expect(view.mask('Zoe')).toBe('Zoe');
      expect(view.passage(1, 0, 11).content).toBe('Closed: Zoe');
    }
    const system = privacyViewFor({ kind: 'system', id: 'research' }, project, rules);
    expect(system.reader.source(1)).toBeUndefined();
  });
});

describe('the name of a new source of an agent', () => {
  let project: Project;
  let view: PrivacyView;
  beforeEach(() => {
    project = new Project();
    view = viewOf(project);
  });

  it('is the given one, also where the agent can see that it is taken', () => {
    expect(freeName('new.txt', project, view)).toBe('new.txt');
    expect(freeName('Open.txt', project, view)).toBe('Open.txt');
    expect(freeName('scan.png', project, view)).toBe('scan.png');
  });

  it('is another with the same looks where a source that it may not see has it', () => {
    expect(freeName('Closed.txt', project, view)).toBe(`Closed.txt${JOINER}`);
    const twice = new Project();
    twice.sources = () => [source(1, 'Closed.txt'), source(4, `Closed.txt${JOINER}`)];
    expect(freeName('Closed.txt', twice, viewOf(twice, [1, 4]))).toBe(`Closed.txt${JOINER}${JOINER}`);
  });
});
