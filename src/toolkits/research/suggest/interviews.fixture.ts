import { indexText } from '../project/source-text.ts';
import type { ContentCode, Place, ProjectContent } from './content.ts';

interface Topic {
  readonly name: string;
  readonly memo: string;
  readonly question: string;
  readonly subjects: readonly string[];
  readonly verbs: readonly string[];
  readonly ends: readonly string[];
}

/** Invented interviews with allotment gardeners; the words of a topic come up in its answers and sometimes elsewhere. */
const TOPICS: readonly Topic[] = [
  {
    name: 'Soil: compost',
    memo: 'Making and using compost, manure and mulch.',
    question: 'What do you do for the ground?',
    subjects: ['The compost heap', 'Horse manure', 'My mulch', 'The worm bin'],
    verbs: ['warms up under', 'rots down beside', 'feeds'],
    ends: ['the potato bed', 'last autumn leaves', 'the clay by the fence'],
  },
  {
    name: 'Soil: digging',
    memo: 'Digging over, or leaving the ground alone.',
    question: 'What do you do for the ground?',
    subjects: ['The spade', 'Double digging', 'A broad fork', 'Turning the clods'],
    verbs: ['hurts', 'loosens', 'breaks up'],
    ends: ['my back in March', 'the clay by the fence', 'the hard pan below'],
  },
  {
    name: 'Water',
    memo: 'Watering, drought, butts and hoses.',
    question: 'How was the summer for you?',
    subjects: ['The hosepipe', 'A rain butt', 'The watering can', 'The drip line'],
    verbs: ['runs dry by', 'barely reaches', 'saves'],
    ends: ['the end of July', 'the tomatoes in a drought', 'the evening rounds'],
  },
  {
    name: 'Pests',
    memo: 'Slugs, aphids, birds and what is done about them.',
    question: 'What goes wrong?',
    subjects: ['The slugs', 'A cloud of aphids', 'The pigeons', 'Cabbage caterpillars'],
    verbs: ['ate', 'stripped', 'came back for'],
    ends: ['the lettuce overnight', 'every brassica seedling', 'the beans despite the net'],
  },
  {
    name: 'Neighbours',
    memo: 'Help, quarrels and gifts between plot holders.',
    question: 'Who else is there?',
    subjects: ['The man on plot nine', 'My neighbour', 'An old couple', 'The committee'],
    verbs: ['gave me', 'argued about', 'looked after'],
    ends: ['spare seedlings', 'the shared path', 'the key to the gate'],
  },
  {
    name: 'Harvest',
    memo: 'Picking, storing and giving away what has grown.',
    question: 'What do you bring home?',
    subjects: ['The courgettes', 'A crate of apples', 'Our onions', 'The freezer'],
    verbs: ['filled', 'lasted until', 'went to'],
    ends: ['the whole kitchen', 'the school fair', 'well after Christmas'],
  },
];

const FILLERS = [
  'You know how it is.',
  'That was the year of the wedding, I think.',
  'I do not really keep notes.',
  'It is what it is.',
];

export interface Interviews extends ProjectContent {
  readonly texts: ReadonlyMap<number, string>;
}

/** A coded study: every answer has the code of its topic, a few have two, fillers have none. */
export function interviews(documents: number, seed = 1): Interviews {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const codes: ContentCode[] = TOPICS.map(({ name, memo }, at) => ({
    id: at + 1,
    name,
    memo,
    categoryId: null,
  }));
  const texts = new Map<number, string>();
  const codings: Place[] = [];
  for (let id = 1; id <= documents; id += 1) {
    let text = `Interview ${id}\n\n`;
    for (const planned of TOPICS) {
      text += `INTERVIEWER: [00:${10 + Math.floor(random() * 40)}:05] ${planned.question}\n`;
      // One answer in six is about something else than was asked for.
      const topic = random() < 1 / 6 ? pick(TOPICS) : planned;
      text += 'GARDENER: ';
      if (random() < 0.5) text += `${pick(FILLERS)} `;
      for (let sentence = 0; sentence < 2; sentence += 1) {
        const start = text.length;
        text += `${pick(topic.subjects)} ${pick(topic.verbs)} ${pick(topic.ends)}, ${pick(['as ever', 'this time', 'not that I mind', 'more or less'])}.`;
        codings.push({ codeId: TOPICS.indexOf(topic) + 1, sourceId: id, start, end: text.length });
        text += ' ';
      }
      text = `${text.trimEnd()}\n\n`;
    }
    texts.set(id, text);
  }
  return {
    codes,
    codings,
    rejected: [],
    sourceIds: [...texts.keys()],
    texts,
    source(id) {
      const text = texts.get(id);
      return text === undefined ? undefined : { name: `garden-${id}.txt`, text: indexText(text) };
    },
  };
}

function randomFrom(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
