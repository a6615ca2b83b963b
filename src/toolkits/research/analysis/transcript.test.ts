import { describe, expect, it } from 'vitest';
import { indexText } from '../project/source-text.ts';
import { answer } from '../suggest/answers.ts';
import { SuggestionModel } from '../suggest/model.ts';
import { contentPatterns } from './content-patterns.ts';
import { speakerTurns } from './speakers.ts';

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
const code = (id: number, name: string, memo: string) => ({ id, name, memo, categoryId: null });
const CODES = [
  code(1, 'Anxiety', 'Worry, fear, sleeplessness about work'),
  code(2, 'Peer support', 'Colleagues who help, listen, share'),
  code(3, 'Money worries', 'Financial strain at home: bills, mortgage, pay'),
  code(4, 'Distrust of management', 'Feeling not heard by managers; cuts and restructuring'),
  code(5, 'Workload', 'Too few staff, too much to do, time pressure'),
  code(6, 'Technology', 'Computers, tablets, software'),
];

describe('an interview that is not coded yet', () => {
  it('has no speaker made of its title', () => {
    const speakers = new Set(speakerTurns(TRANSCRIPT).map(({ speaker }) => speaker));
    expect([...speakers]).toEqual(['INTERVIEWER', 'BEN']);
  });

  it('gets suggestions for what people say and none for what they are asked', async () => {
    const content = {
      codes: CODES,
      codings: [],
      rejected: [],
      sourceIds: [1],
      source: () => ({ name: 'ben.txt', text: TRANSCRIPT }),
    };
    const pause = async () => {};
    const model = await SuggestionModel.build(content, pause);
    const question = { kind: 'document', sourceId: 1, minConfidence: 15 } as const;
    const { suggestions } = await answer(model, question, content, pause);
    expect(suggestions.length).toBeGreaterThan(0);
    expect(suggestions.filter(({ text }) => /workload\?|management\?/.test(text))).toEqual([]);
  });

  it('has as patterns neither numbers and times nor the words of the questions', async () => {
    const patterns = await contentPatterns(TRANSCRIPT, WHOLE, { codeNames: CODES.map(({ name }) => name) });
    expect(patterns[0]).toMatchObject({ phrase: 'waiting list', occurrences: 2, speakers: ['BEN'] });
    expect(patterns.map(({ phrase }) => phrase).filter((phrase) => /year|nine|two/.test(phrase))).toEqual([]);
  });
});
