import type { CodeWithExamples } from './evidence.ts';

/** Invented interview sentences with the codes a person would give them, to see how suggestions do on unseen text. */
const CODES: Record<string, string> = {
  Anxiety: 'Worry, nervousness or fear about what may come; also bodily signs such as not sleeping.',
  'Social support': 'Help, comfort or company from family, friends or colleagues.',
  'Financial strain': 'Lack of money, debts, bills that cannot be paid, fear of losing income.',
  Workload: 'Amount of work, overtime, deadlines, not enough staff.',
  Loneliness: 'Being or feeling alone, missing contact with other people.',
  'Physical exercise': 'Sport, walking, training, moving the body for health.',
  'Trust in doctors': 'Confidence in physicians and nurses and their advice.',
  Sleep: '',
};

const LABELLED: readonly (readonly [string, ...string[]])[] = [
  ['I was so worried before the exam that I felt sick.', 'Anxiety'],
  ['My heart was racing and I was afraid something terrible would happen.', 'Anxiety'],
  ['I kept lying awake at night, nervous about the results.', 'Anxiety', 'Sleep'],
  ['The fear of failing never really left me.', 'Anxiety'],
  ['I get anxious whenever the phone rings.', 'Anxiety'],
  ['Before every appointment I panic a little.', 'Anxiety'],
  ['She worries all the time about what could go wrong.', 'Anxiety'],
  ['My sister came over every day and cooked for us.', 'Social support'],
  ['My friends listened to me when nobody else did.', 'Social support'],
  ['I could always call my mother and she would help.', 'Social support'],
  ['The neighbours supported us with shopping and childcare.', 'Social support'],
  ['My colleagues stood by me when I was ill.', 'Social support'],
  ['Without the support of my family I would have given up.', 'Social support'],
  ['We could not pay the rent that month.', 'Financial strain'],
  ['The debts kept growing and the bank would not wait.', 'Financial strain'],
  ['There was simply no money left for heating.', 'Financial strain'],
  ['I lost my income and the bills did not stop.', 'Financial strain'],
  ['We had to borrow money from relatives just to eat.', 'Financial strain'],
  ['Every month we asked ourselves how to make ends meet.', 'Financial strain'],
  ['We had so many patients that nobody took a break.', 'Workload'],
  ['I worked overtime nearly every week that year.', 'Workload'],
  ['The deadlines were impossible and the team was too small.', 'Workload'],
  ['There is always more work than one person can do.', 'Workload'],
  ['Two nurses were covering the whole ward at night.', 'Workload'],
  ['My desk was full of files I never got to.', 'Workload'],
  ['In the evenings I sat alone in that flat and talked to nobody.', 'Loneliness'],
  ['I felt lonely even when people were around.', 'Loneliness'],
  ['After he died the house was empty and silent.', 'Loneliness'],
  ['I missed having someone to talk to.', 'Loneliness'],
  ['Nobody visited me for weeks.', 'Loneliness'],
  ['I started running three times a week.', 'Physical exercise'],
  ['Swimming keeps my back from hurting.', 'Physical exercise'],
  ['We go for a long walk every morning before breakfast.', 'Physical exercise'],
  ['The gym has become part of my routine.', 'Physical exercise'],
  ['I try to exercise even when I am tired.', 'Physical exercise'],
  ['Riding my bike to work changed how I feel.', 'Physical exercise'],
  ['The doctor explained everything and I believed her.', 'Trust in doctors'],
  ['I trust my physician completely.', 'Trust in doctors'],
  ['I did what the nurse advised because she knows best.', 'Trust in doctors'],
  ['The specialists there gave me confidence.', 'Trust in doctors'],
  ['I slept only three hours a night that winter.', 'Sleep'],
  ['Since the operation I sleep well again.', 'Sleep'],
  ['I wake up at four and cannot fall asleep again.', 'Sleep'],
  ['I was tired all day because the nights were so short.', 'Sleep'],
  ['We moved to the new house in spring.'],
  ['The bus stops right in front of the school.'],
  ['He asked me what year that was.'],
  ['It rained for most of the holiday.'],
  ['I like to read novels on the train.'],
  ['Our dog is called Max and he is nine.'],
  ['The form has three pages and a map.'],
  ['Then we talked about the next meeting.'],
];

/** Every third labelled sentence is kept back; the others are the earlier codings. */
export function interviews(): {
  readonly codes: CodeWithExamples[];
  readonly unseen: { readonly text: string; readonly codes: readonly string[] }[];
} {
  const known = LABELLED.filter((_, at) => at % 3 !== 2);
  const codes = Object.entries(CODES).map(([name, memo], id) => ({
    id: id + 1,
    name,
    memo,
    examples: known.flatMap(([text, ...labels], at) =>
      labels.includes(name)
        ? [
            {
              codingId: at + 1,
              sourceId: 1,
              sourceName: 'first.txt',
              start: at * 200,
              end: at * 200 + text.length,
              text,
            },
          ]
        : [],
    ),
  }));
  const unseen = LABELLED.flatMap(([text, ...labels], at) =>
    at % 3 === 2 || labels.length === 0 ? [{ text, codes: labels }] : [],
  );
  return { codes, unseen };
}
