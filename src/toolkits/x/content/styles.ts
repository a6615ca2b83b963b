/** How a reply can take up a post, with how often each is chosen when the caller leaves it open. */
export const ARCHETYPES = {
  agree_and_expand: { weight: 30, guide: 'Agree, then add one point the author did not make.' },
  ask_question: { weight: 25, guide: 'Ask one short, specific question about what the author said.' },
  share_experience: {
    weight: 20,
    guide: 'Tell one short experience that fits; invent none that the persona lacks.',
  },
  add_data: { weight: 15, guide: 'Add one concrete fact or figure you are sure of.' },
  respectful_disagree: { weight: 10, guide: 'Disagree with one point, politely, and give the reason.' },
} as const;

export type Archetype = keyof typeof ARCHETYPES;
export const ARCHETYPE_NAMES = Object.keys(ARCHETYPES) as [Archetype, ...Archetype[]];

export const FORMATS = {
  list: 'A short list of three to five points, one per line.',
  contrarian_take: 'State an opinion most of the field does not share, and the reason.',
  most_people_think_x: 'Open with what most people think, then say what is true instead.',
  storytelling: 'A very short story with a turn.',
  before_after: 'Contrast how it was before with how it is now.',
  question: 'One question readers will want to answer.',
  tip: 'One practical tip that can be used today.',
} as const;

export type Format = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as [Format, ...Format[]];

export const STRUCTURES = {
  transformation: 'From a starting point, over the steps taken, to the result.',
  framework: 'Name a framework, explain each part, show how to apply it.',
  mistakes: 'One common mistake per part, each with what to do instead.',
  analysis: 'Take one case apart: what happened, why, what follows from it.',
} as const;

export type Structure = keyof typeof STRUCTURES;
export const STRUCTURE_NAMES = Object.keys(STRUCTURES) as [Structure, ...Structure[]];

export const isFormat = (name: string): name is Format => Object.hasOwn(FORMATS, name);

export function pickArchetype(random: () => number): Archetype {
  const total = ARCHETYPE_NAMES.reduce((sum, name) => sum + ARCHETYPES[name].weight, 0);
  let left = random() * total;
  for (const name of ARCHETYPE_NAMES) {
    left -= ARCHETYPES[name].weight;
    if (left < 0) return name;
  }
  return ARCHETYPE_NAMES[0];
}

export const pickOne = <T>(items: readonly [T, ...T[]], random: () => number): T =>
  items[Math.min(items.length - 1, Math.floor(random() * items.length))] ?? items[0];
