import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexText } from '../lib/source-text.ts';
import { CodeReader } from './code-reader.ts';
import { contentPatterns } from './content-patterns.ts';
import { WorkerEmbedder } from './embedder.ts';
import { speakerTurns } from './speakers.ts';
import { autoSuggestCodes, suggestCodesForRange } from './suggest.ts';
import { Vectors } from './vectors.ts';

const TRANSCRIPT = indexText(`Interview 2: Ben, 51, physiotherapist in a rural district
Date: 19 March 2024

INTERVIEWER: Tell me about a normal working day. What do you start with?

BEN: Seven, eight visits, some days nine. The driving is half the job, and it has been for nine years.

INTERVIEWER: How is the workload?

BEN: Too heavy. There is a waiting list of eleven weeks. I used to give a stroke patient an hour two years ago.

INTERVIEWER: And management?

BEN: They restructured us three times in five years. The waiting list only grew.

INTERVIEWER: How did the waiting list affect you?

BEN: I'm frightened that somebody will be harmed because I was too tired to notice. I haven't slept properly for two years.
`);
const WHOLE = [{ start: 0, end: TRANSCRIPT.length }];
const code = (id: number, name: string, memo: string) => ({ id, name, memo, examples: [] });
const CODES = [
  code(1, 'Anxiety', 'Worry, fear, sleeplessness about work'),
  code(2, 'Peer support', 'Colleagues who help, listen, share'),
  code(3, 'Money worries', 'Financial strain at home: bills, mortgage, pay'),
  code(4, 'Distrust of management', 'Feeling not heard by managers; cuts and restructuring'),
  code(5, 'Workload', 'Too few staff, too much to do, time pressure'),
  code(6, 'Technology', 'Computers, tablets, software'),
];

describe('an interview that nobody has coded yet', () => {
  const embedder = new WorkerEmbedder();
  let reader: CodeReader;
  const vectors = new Vectors(embedder, { get: () => new Map(), put: () => undefined });
  beforeAll(async () => {
    reader = await CodeReader.read(CODES, vectors);
  }, 60_000);
  afterAll(() => embedder.close());

  it('has no speaker made of its title', () => {
    const speakers = new Set(speakerTurns(TRANSCRIPT).map(({ speaker }) => speaker));
    expect([...speakers]).toEqual(['INTERVIEWER', 'BEN']);
  });

  it('gets suggestions for what people say and none for what they are asked', async () => {
    const { suggestions } = await autoSuggestCodes(reader, 1, TRANSCRIPT, WHOLE, 20, { vectors });
    expect(suggestions.length).toBeGreaterThan(0);
    expect(suggestions.filter(({ text }) => /workload\?|management\?/.test(text))).toEqual([]);
  });

  it('is suggested the one code it stands out for, though it shares no word with it', async () => {
    const sentence = "I'm frightened that somebody will be harmed because I was too tired to notice.";
    const start = TRANSCRIPT.value.indexOf(sentence);
    const { suggestions } = await suggestCodesForRange(
      reader,
      1,
      TRANSCRIPT,
      { start, end: start + sentence.length },
      { vectors },
    );
    expect(suggestions[0]).toMatchObject({ codeName: 'Anxiety' });
    expect(suggestions[0]?.rationale).toMatch(/closer in meaning to the code than to the others/i);
    // It is a hint, not a finding.
    expect(suggestions[0]?.confidence).toBeLessThan(60);
  });

  it('has as patterns neither numbers and times nor the words of the questions', () => {
    const patterns = contentPatterns(TRANSCRIPT, WHOLE, { codeNames: CODES.map(({ name }) => name) });
    expect(patterns[0]).toMatchObject({ phrase: 'waiting list', occurrences: 2, speakers: ['BEN'] });
    expect(patterns.map(({ phrase }) => phrase).filter((phrase) => /year|nine|two/.test(phrase))).toEqual([]);
  });
});
