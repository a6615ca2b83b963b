import { beforeEach, describe, expect, it } from 'vitest';
import { Pace } from '../analysis/pace.ts';
import { indexText } from '../project/source-text.ts';
import { fold, partsOf } from './name-forms.ts';
import { maskRange, NOWHERE, Pseudonymiser, showText } from './pseudonyms.ts';
import { withoutHiddenQuotes } from './stored-quotes.ts';

const one = (original: string, more: { variants?: string[]; exact?: boolean } = {}) =>
  new Pseudonymiser([{ original, pseudonym: 'P1', ...more }]);

describe('forms of one name', () => {
  it('are compared in lower case, composed and with single spaces', () => {
    expect(fold('Ada \n BERG')).toBe('ada berg');
    expect(fold('Jose\u0301')).toBe('jos\u00e9');
  });

  it.each([
    ['Eva Maria Berg', ['Eva', 'Maria', 'Berg']],
    ['Anna-Lena O’Neill/Schmidt', ['Anna', 'Lena', 'Neill', 'Schmidt']],
    ['Dr. Chen', ['Chen']],
    ['Bo Li', []],
    ['Müller', []],
    [' Müller ', []],
  ])('of “%s” are its parts of three letters and more: %o', (original, parts) => {
    expect(partsOf({ original, pseudonym: 'P1' })).toEqual(parts);
    expect(partsOf({ original, pseudonym: 'P1', exact: true })).toEqual([]);
  });

  it.each([
    ['McDonald', 'InterviewMcDonald', 'InterviewP1'],
    ['ANNA SCHMIDT', 'interviewAnnaSchmidt', 'interviewP1'],
    ['anna schmidt', 'interviewAnnaSchmidt', 'interviewP1'],
    ['Müller', 'cafe\u0301Müller', 'cafe\u0301P1'],
    ['Müller', 'TalkMüllers', 'TalkP1'],
    ['Müller', 'ABMüller', 'ABMüller'],
    ['Jan', 'TalkJanuary', 'TalkJanuary'],
    ['Müller', 'TalkMuellerToday', 'TalkP1Today'],
    ['Anna', 'Anna는 왔다', 'P1는 왔다'],
    ['Anna', 'לAnna', 'לP1'],
    ['Anna Schmidt', 'AnnaSCHMIDT', 'P1'],
    ['Anna Schmidt', 'InterviewAnna Schmidt', 'InterviewP1'],
    ['Anna Schmidt', 'InterviewAnna_Schmidt.docx, then Anna', 'InterviewP1.docx, then P1'],
    ['Anna Schmidt', 'Anna, InterviewSchmidt, Schmidt', 'P1, InterviewP1, P1'],
  ])('of “%s” are found in a compound: %s', (original, text, shown) => {
    expect(one(original).mask(text)).toBe(shown);
  });

  it('that are exact are found neither in compounds and addresses nor in other spellings', () => {
    const exact = one('Jörg', { exact: true });
    for (const text of ['TalkJörgToday', 'jörgen@x.org', 'Joerg', 'Jorg', 'Jörgs'])
      expect(exact.mask(text)).toBe(text);
    expect(exact.mask('JÖRG and jörg')).toBe('P1 and P1');
    expect(one('Rose  Tyler', { exact: true }).mask('Rose Tyler, Rose_Tyler')).toBe('P1, Rose_Tyler');
  });

  it.each([
    ['Müller', ['Mueller', 'Muller', 'Mu\u0308ller']],
    ['Äöü', ['Aeoeue', 'Aou']],
    ['Weiß', ['Weiss']],
    ['Ødegård', ['Oedegaard', 'Odegard']],
    ['Sørensen', ['Soerensen', 'Sorensen']],
    ['Ægir', ['Aegir']],
    ['José', ['Jose', 'JOSE']],
    ['Nguyễn', ['Nguyen']],
  ])('of “%s” include what typists write: %o', (original, spellings) => {
    for (const text of spellings) expect(one(original).mask(text)).toBe('P1');
  });

  it.each([
    ['我叫Anna。', '我叫P1。'],
    ['私はAnnaです', '私はP1です'],
    ['アンAnnaナ', 'アンP1ナ'],
    ['คุณAnnaครับ', 'คุณP1ครับ'],
  ])('are found next to a script without spaces: %s', (text, shown) => {
    expect(one('Anna').mask(text)).toBe(shown);
  });

  it.each([
    ['田中', '田中さん'],
    ['さくら', 'さくらちゃん'],
    ['サラ', 'サラさん'],
    ['สมชาย', 'คุณสมชายครับ'],
  ])('of “%s” need no space around them in their own script', (original, text) => {
    expect(one(original).mask(text)).toBe(text.replace(original, 'P1'));
  });

  it('have few endings when the last word is short, and all others when it is not', () => {
    expect(one('Bo Li').mask('Bo Lis, Bo Liens, Bo Liova')).toBe('P1, P1, Bo Liova');
    expect(one('Karl').mask('Karlova, Karlsche')).toBe('P1, P1');
    expect(one('Jan').mask('Janova, Jans')).toBe('Janova, P1');
  });

  it('are found in the first part of an address from four letters on', () => {
    expect(one('Karl Weber').mask('kweber77@x.org')).toBe('P1@x.org');
    expect(one('Karl').mask('karla77@x.org')).toBe('P1@x.org');
    expect(one('Jan').mask('janusz@x.org')).toBe('janusz@x.org');
    expect(one('Karl').mask('other@x.org, Karl')).toBe('other@x.org, P1');
    expect(one('Karl').mask('karlbad and @x')).toBe('karlbad and @x');
    expect(one('MÜLLER').mask('hmueller@x.org')).toBe('P1@x.org');
  });

  it('that two people share belong to neither, unless both have the same pseudonym', () => {
    const two = (second: string) =>
      new Pseudonymiser([
        { original: 'Anna Berg', pseudonym: 'P1' },
        { original: 'Anna Hall', pseudonym: second },
      ]);
    expect(two('P2').mask('Anna, Hall')).toBe('[name], P2');
    expect(two('P1').mask('Anna, Hall')).toBe('P1, P1');
  });

  it('that are the whole name of someone else stand for that person', () => {
    const people = new Pseudonymiser([
      { original: 'Anna', pseudonym: 'P2' },
      { original: 'Anna Schmidt', pseudonym: 'P1' },
      { original: 'Eva Berg', pseudonym: 'P3', variants: ['Schmidt'] },
    ]);
    expect(people.mask('Anna Schmidt, Anna, Schmidt')).toBe('P1, P2, P3');
    expect(people.mask('TalkAnnaEva')).toBe('TalkP2P3');
  });

  it('are hyphenated at the end of a line', () => {
    expect(one('Schmidt').mask('Schm-\r\n  idt and Sch\u200bmidt')).toBe('P1 and P1');
  });
});

describe('the way back from pseudonyms', () => {
  let people: Pseudonymiser;
  beforeEach(() => {
    people = new Pseudonymiser([
      { original: 'Anna', pseudonym: 'Bea', variants: ['Annie'] },
      { original: 'Carl', pseudonym: 'P' },
      { original: 'Bea', pseudonym: 'P  One' },
      { original: 'Dora', pseudonym: 'Sam' },
    ]);
  });

  it('takes the longest pseudonym, in any case and with any spaces', () => {
    expect(people.unmask('p one, P, SAM')).toBe('Bea, Carl, Dora');
    expect(people.unmask('P\n One and Samuel')).toBe('Bea and Samuel');
  });

  it('finds nothing for a name, and changes only the other words', () => {
    expect(people.unmask('Sam met Annie', (words) => words.toUpperCase())).toBe(`Dora MET ${NOWHERE}`);
    expect(people.unmask('met')).toBe('met');
    // A sign that is the same letter in any case, but has another lower case.
    expect(people.unmask('\u017fam')).toBe(NOWHERE);
  });

  it('hides names and their forms, but none that is shown as a pseudonym', () => {
    expect(people.hidden).toEqual(['Anna', 'Annie', 'Carl', 'Dora']);
  });

  it('has nothing to replace without names', async () => {
    const none = new Pseudonymiser([]);
    const text = indexText('Anna');
    expect([none.active, people.active]).toEqual([false, true]);
    expect(none.mask('Anna')).toBe('Anna');
    expect(none.unmask('Anna', (words) => words.toUpperCase())).toBe('ANNA');
    expect(none.unmask('Anna')).toBe('Anna');
    expect(none.hidden).toEqual([]);
    expect(none.spansNear(text, 0, 4)).toEqual([]);
    expect(await none.spansInSlices(text, new Pace())).toEqual([]);
  });
});

describe('names in a range', () => {
  let people: Pseudonymiser;
  beforeEach(() => {
    people = new Pseudonymiser([
      { original: 'Anna Berg', pseudonym: 'P1' },
      { original: '田中', pseudonym: 'P2' },
    ]);
  });
  const around = `${'x '.repeat(1_000)}`;
  const text = indexText(`${around}😀 Anna Berg ${around}`);
  const [start, end] = [2_002, 2_011];

  it('are found with the words around it, and only when they are in it', () => {
    const whole = [{ start, end, pseudonym: 'P1' }];
    expect(people.spansNear(text, start, end)).toEqual(whole);
    expect(people.spansNear(text, start + 6, end - 1)).toEqual(whole);
    expect(people.spansNear(text, start - 10, start + 1)).toEqual(whole);
    expect(people.spansNear(text, start - 10, start)).toEqual([]);
    expect(people.spansNear(text, end, end + 10)).toEqual([]);
    expect(people.spansNear(text, 0, 10)).toEqual([]);
    expect(people.spansNear(text, text.length - 10, text.length)).toEqual([]);
  });

  it('are shown as pseudonyms with their places, and names outside it are not shown', () => {
    const short = indexText('田中 and 田中田中 end');
    const spans = people.spansNear(short, 0, short.length);
    expect(maskRange(short, spans, 2, 9)).toEqual({
      content: ' and P2',
      replacements: [{ content_start: 5, content_end: 7, start_pos: 7, end_pos: 9 }],
    });
    expect(maskRange(short, spans, 1, 8)).toEqual({
      content: 'P2 and P2',
      replacements: [
        { content_start: 0, content_end: 2, start_pos: 1, end_pos: 2 },
        { content_start: 7, content_end: 9, start_pos: 7, end_pos: 8 },
      ],
    });
    expect(maskRange(short, spans, 11, 15)).toEqual({ content: ' end', replacements: [] });
  });

  it('are all found in a text that is read in steps, also next to each other', async () => {
    const long = indexText(`${'田中'.repeat(3)}${'x'.repeat(99_990)} Anna Berg${' '.repeat(99_993)}田中田中`);
    const spans = await people.spansInSlices(long, new Pace());
    expect(spans).toEqual([
      { start: 0, end: 2, pseudonym: 'P2' },
      { start: 2, end: 4, pseudonym: 'P2' },
      { start: 4, end: 6, pseudonym: 'P2' },
      { start: 99_997, end: 100_006, pseudonym: 'P1' },
      { start: 199_999, end: 200_001, pseudonym: 'P2' },
      { start: 200_001, end: 200_003, pseudonym: 'P2' },
    ]);
  });

  it('lead back to the original text from every place, and from within a pseudonym to the whole name', async () => {
    const short = indexText('a田中b田中田中c');
    const shown = await showText(short, people.spansNear(short, 0, short.length), new Pace());
    expect(shown.text.value).toBe('aP2bP2P2c');
    const places = Array.from({ length: 10 }, (_, at) => shown.original({ start: at, end: at }));
    expect(places.map((place) => place.start)).toEqual([0, 1, 1, 3, 4, 4, 6, 6, 8, 9]);
    expect(places.map((place) => place.end)).toEqual([0, 1, 3, 3, 4, 6, 6, 8, 8, 9]);
  });

  it('are not looked for in a copy where there are none', async () => {
    const shown = await showText(text, [], new Pace());
    expect(shown.text).toBe(text);
    expect(shown.original({ start: 3, end: 5 })).toEqual({ start: 3, end: 5 });
  });

  it('let other work have its turn when it is due', async () => {
    class Counting extends Pace {
      rests = 0;
      due = true;
      override get isDue(): boolean {
        return this.due;
      }
      override async rest(): Promise<void> {
        this.rests += 1;
      }
    }
    const long = indexText('Anna Berg '.repeat(12_000));
    const pace = new Counting();
    const spans = await people.spansInSlices(long, pace);
    expect(pace.rests).toBe(2);
    await showText(long, spans.slice(0, 3), pace);
    expect(pace.rests).toBe(2 + 4 + 2);
    pace.due = false;
    await people.spansInSlices(long, pace);
    await showText(long, spans.slice(0, 3), pace);
    expect(pace.rests).toBe(8 + 2);
  });
});

describe('an explanation that quotes segments', () => {
  const clause = (source: string, words = 'some “words”') =>
    `near to a segment of ${source}, 12–34: “${words}”`;
  const hide = (text: string, ...hidden: string[]) =>
    withoutHiddenQuotes(text, (source) => hidden.includes(source));

  it('is unchanged where none is hidden', () => {
    const text = `two words; ${clause('a.txt')}; ${clause('b.txt')}.`;
    expect(hide(text)).toBe(text);
    expect(hide('Nothing is quoted. ', 'a.txt')).toBe('Nothing is quoted. ');
  });

  it('loses the clauses of hidden sources and keeps the others', () => {
    const [a, b] = [clause('a.txt', 'first\nline'), clause('b, 1.txt')];
    expect(hide(`two words; ${a}; ${b}.`, 'a.txt')).toBe(`Two words; ${b}.`);
    expect(hide(`two words; ${a}; ${b}.`, 'b, 1.txt')).toBe(`Two words; ${a}.`);
    expect(hide(`two words; ${a}; ${b}.`, 'a.txt', 'b, 1.txt')).toBe('Two words.');
    expect(hide(`${a}; ${b}.`, 'a.txt')).toBe(`N${b.slice(1)}.`);
    expect(hide(`${a}; ${b}`, 'b, 1.txt')).toBe(`N${a.slice(1)}`);
    expect(hide(`N${a.slice(1)}.`, 'a.txt')).toBe('The evidence is no longer available.');
    expect(hide(`${a}; ${b}`, 'a.txt', 'b, 1.txt')).toBe('The evidence is no longer available.');
  });
});
