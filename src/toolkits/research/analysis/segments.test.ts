import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexText } from '../project/source-text.ts';
import { Pace } from './pace.ts';
import { type Segment, segmentsInSlices, segmentsNear, sentenceSegments } from './segments.ts';
import { speakerTurns, speakerTurnsInSlices } from './speakers.ts';

const segments = (value: string) => sentenceSegments(indexText(value)).map(({ text }) => text);

describe('sentence segments', () => {
  it('cuts at sentence ends and not inside abbreviations or numbers', () => {
    expect(
      segments('I saw Dr. Smith about it on Monday. He said 3.5 mg would do for now. Then I left.'),
    ).toEqual(['I saw Dr. Smith about it on Monday.', 'He said 3.5 mg would do for now. Then I left.']);
  });

  it('keeps a one-word answer with the sentence that explains it', () => {
    expect(segments('Yes. I was worried about the exam all week.')).toEqual([
      'Yes. I was worried about the exam all week.',
    ]);
  });

  it('joins lines that a PDF wrapped and cuts at real paragraphs', () => {
    expect(
      segments('I could not sleep because\nof the exam next week.\nMy sister came to help me out.'),
    ).toEqual(['I could not sleep because\nof the exam next week.', 'My sister came to help me out.']);
  });

  it('cuts endless speech without full stops at a clause', () => {
    const endless = Array.from({ length: 60 }, (_, i) => `and then we went there${i % 5 ? '' : ','}`).join(
      ' ',
    );
    const parts = segments(endless);
    expect(parts.length).toBeGreaterThan(3);
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(320);
  });

  it('leaves out the speaker label and names the speaker', () => {
    const text = indexText(
      'Interviewer: How did you sleep before the exam?\nAnna: Not at all, I was so worried.\n',
    );
    expect(sentenceSegments(text)).toEqual([
      { start: 13, end: 47, text: 'How did you sleep before the exam?', speaker: 'Interviewer' },
      { start: 54, end: 83, text: 'Not at all, I was so worried.', speaker: 'Anna' },
    ]);
  });

  it('stays in the range that was asked for', () => {
    const text = indexText('First sentence is about one thing. Second sentence is about another. Third one.');
    const [only] = sentenceSegments(text, { start: 35, end: 68 });
    expect(only?.text).toBe('Second sentence is about another.');
  });

  it('gives for any text ordered segments whose positions hold exactly their text', () => {
    const piece = fc.constantFrom(
      'Anna: ',
      'I was worried. ',
      '😀',
      'e\u0301',
      '不安です。',
      '\n',
      '\r\n',
      '\u2029',
      ' ',
      'no end ',
      'P1: ',
      '\ud83d',
      '[Ben] ',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 80 }).map((parts) => parts.join('')),
        (value) => {
          const text = indexText(value);
          let last = 0;
          for (const segment of sentenceSegments(text)) {
            expect(segment.start).toBeGreaterThanOrEqual(last);
            expect(text.slice(segment.start, segment.end)).toBe(segment.text);
            expect(segment.text.trim()).not.toBe('');
            last = segment.end;
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('speaker turns', () => {
  const turns = (value: string) => {
    const text = indexText(value);
    return speakerTurns(text).map((turn) => [turn.speaker, text.slice(turn.textStart, turn.end)]);
  };

  it.each([
    ['plain labels', 'Anna: Hello there.\nBen: Hi.\nAnna: So.\nBen: Yes.'],
    ['upper case', 'ANNA: Hello there.\nBEN: Hi.\nANNA: So.\nBEN: Yes.'],
    [
      'time stamps before',
      '[00:00:01] Anna: Hello there.\n[00:00:02] Ben: Hi.\n00:03 Anna: So.\n(00:04) Ben: Yes.',
    ],
    ['time stamps after', 'Anna (00:01): Hello there.\nBen [00:02]: Hi.\nAnna 00:03: So.\nBen (00:04): Yes.'],
    ['brackets', '[Anna] Hello there.\n[Ben] Hi.\n[Anna] So.\n[Ben] Yes.'],
    ['markdown', '**Anna:** Hello there.\n**Ben**: Hi.\n**Anna:** So.\n**Ben:** Yes.'],
    ['WebVTT voices', '<v Anna>Hello there.\n<v Ben>Hi.\n<v Anna>So.\n<v Ben>Yes.'],
    [
      'a line of name and time',
      'Anna  0:01\nHello there.\n\nBen  0:02\nHi.\n\nAnna  0:03\nSo.\n\nBen  0:04\nYes.',
    ],
  ])('are found by %s', (_, value) => {
    expect(turns(value).map(([name, talk]) => [name?.toLowerCase(), talk])).toEqual([
      ['anna', 'Hello there.'],
      ['ben', 'Hi.'],
      ['anna', 'So.'],
      ['ben', 'Yes.'],
    ]);
  });

  it('go on over several lines until the next label', () => {
    expect(turns('I: And then?\nP1: It was hard.\nVery hard.\n\nReally.\nI: Why?')).toEqual([
      ['I', 'And then?'],
      ['P1', 'It was hard.\nVery hard.\n\nReally.'],
      ['I', 'Why?'],
    ]);
  });

  it('are not made of notes, links, times or remarks in brackets', () => {
    expect(
      turns(
        'Note: this is a note.\nNote: another.\nhttp://example.org\nhttp://example.org\n10:30 we met.\n[laughs] Yes.\n[laughs] No.',
      ),
    ).toEqual([]);
  });

  it('are not made of a heading that occurs once', () => {
    expect(turns('Family background: she grew up in Leeds.\nShe moved later.')).toEqual([]);
  });

  it('are those of its parts in a long text, found in one step or in several', async () => {
    const part = 'Anna: Hello 😀 there.\nMore of it.\nBen:\n\nAnna: So.\nNote: none.\nBen: Yes.\n';
    const own = speakerTurns(indexText(part));
    expect(own.map(({ speaker }) => speaker)).toEqual(['Anna', 'Anna', 'Ben']);
    const length = [...part].length;
    const expected = Array.from({ length: 3_000 }, (_, at) =>
      own.map(({ speaker, start, textStart, end }) => ({
        speaker,
        start: start + at * length,
        textStart: textStart + at * length,
        end: end + at * length,
      })),
    ).flat();
    const value = part.repeat(3_000);
    expect(speakerTurns(indexText(value))).toEqual(expected);
    expect(await speakerTurnsInSlices(indexText(value), new Pace())).toEqual(expected);
    const text = indexText(value);
    const slices: Segment[] = [];
    for await (const segment of segmentsInSlices(text, [{ start: 0, end: text.length }]))
      slices.push(segment);
    expect(slices).toEqual(sentenceSegments(indexText(value)));
  });

  it('count code points, so that an emoji before them shifts nothing', () => {
    const text = indexText('😀 intro\nAnna: Hi 😀 there.\nAnna: Again.');
    const [first] = speakerTurns(text);
    expect(first && text.slice(first.textStart, first.end)).toBe('Hi 😀 there.');
    expect(first?.start).toBe(8);
  });
});

it('gives near a range the segments that cutting the whole text gives', () => {
  const line = fc.constantFrom(
    'Anna: I was worried about it all. And then she left us.',
    'Ben: Yes 😀.',
    'A line of its own here.',
    '',
    'wrapped on',
  );
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 12 }),
      fc.nat(300),
      fc.nat(60),
      (lines, at, size) => {
        const text = indexText(`Anna: Hi.\nAnna: So.\nBen: Oh.\nBen: No.\n${lines.join('\n')}`);
        const start = Math.min(at, text.length - 1);
        const range = { start, end: Math.min(text.length, start + size + 1) };
        const whole = sentenceSegments(text).filter(
          (segment) => segment.start < range.end && segment.end > range.start,
        );
        const near = segmentsNear(text, range);
        expect(near).toEqual(whole);
      },
    ),
  );
});

it('looks through long lines of one word in bounded time', () => {
  const text = indexText(`${'A'.repeat(200_000)}\n`.repeat(3));
  expect(speakerTurns(text)).toEqual([]);
});
