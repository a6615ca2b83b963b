import { rootOf } from './likeness.ts';
import { stem } from './stem.ts';
import { normalize, wordsOf } from './words.ts';

const PAIRS = `absence/presence absent/present accept/refuse accept/reject active/passive adult/child advantage/disadvantage agree/disagree
always/never approach/avoid arrive/leave attack/defend autonomy/control bad/good before/after benefit/cost benefit/harm benefit/risk best/worst better/worse big/small birth/death
boring/exciting brave/afraid bright/dark build/destroy busy/idle buy/sell calm/anxious cause/effect cheap/expensive clean/dirty clear/complex clear/confusing clear/unclear close/distant close/open
closed/open cold/hot cold/warm comfort/discomfort competent/incompetent connect/isolate cooperation/competition cooperation/conflict courage/fear create/destroy
dead/alive decline/growth decrease/increase deficit/surplus deny/admit difficult/easy employed/unemployed empty/full end/begin end/start enemy/friend
equal/unequal exclude/include exclusion/inclusion exit/enter exit/entry expert/novice external/internal fail/succeed failure/success false/true fast/slow fear/hope
few/many first/last flexible/rigid forget/remember formal/informal forward/backward free/forced future/past gain/loss gain/lose generous/selfish give/take
guilt/innocence happiness/sadness happy/sad happy/unhappy hard/easy hate/love health/illness healthy/sick heavy/light help/hinder high/low hope/despair
hopeful/hopeless hostile/friendly ill/well import/export improve/worsen individual/collective inside/outside insider/outsider interest/boredom join/leave joy/grief joy/sorrow kind/cruel
large/small laugh/cry lead/follow learn/forget less/more liberal/conservative like/dislike local/global lonely/connected long/short lose/win loud/quiet
majority/minority male/female man/woman married/single maximum/minimum negative/positive new/old night/day noise/silence north/south objective/subjective offer/demand
offline/online optimism/pessimism optimistic/pessimistic order/chaos parent/child peace/war pleasure/pain poor/rich poverty/wealth powerful/powerless praise/blame praise/criticism
presence/absence private/public pro/con problem/solution pull/push qualitative/quantitative question/answer receive/send relax/stress respect/contempt reward/punishment
right/wrong rise/fall rural/urban safe/dangerous safety/danger same/different satisfied/dissatisfied security/threat shame/pride simple/complex
slow/quick soft/hard stability/change strength/weakness strong/weak student/teacher support/oppose support/obstacle superior/inferior supply/demand theory/practice thick/thin tight/loose together/alone top/bottom
trust/suspicion trust/doubt up/down useful/useless victory/defeat visible/hidden voluntary/compulsory weak/strong west/east winner/loser work/leisure worse/better young/old
mother/father brother/sister husband/wife son/daughter boy/girl pre/post barrier/facilitator barriers/enablers push/pull`;

const TABLE = new Set(
  PAIRS.split(/\s+/).flatMap((pair) => {
    const [a = '', b = ''] = pair.split('/');
    return [`${stem(a)}/${stem(b)}`, `${stem(b)}/${stem(a)}`];
  }),
);

const NEGATIVE_PREFIX = ['un', 'dis', 'non', 'in', 'im', 'il', 'ir', 'mis', 'anti', 'counter', 'de', 'mal'];
const SWAPPED_PREFIX = [
  ['in', 'de'],
  ['in', 'ex'],
  ['im', 'ex'],
  ['inter', 'exter'],
  ['over', 'under'],
  ['pro', 'anti'],
  ['pre', 'post'],
  ['up', 'down'],
  ['micro', 'macro'],
  ['mono', 'multi'],
  ['hyper', 'hypo'],
  ['en', 'dis'],
  ['maxi', 'mini'],
  ['centri', 'decentri'],
] as const;
const WITH_OR_WITHOUT = /^(.+?)(ful|less)(?:ness|ly)?$/;
const NEGATION = new Set([
  'no',
  'not',
  'non',
  'never',
  'without',
  'lack',
  'lacking',
  'absence',
  'absent',
  'loss',
  'missing',
  'lost',
  'dont',
  "don't",
  'zero',
  'anti',
]);

/**
 * Why two names mean contrary things though they look or embed alike ("trust" and "distrust"), or undefined. Code names that differ
 * only in a number ("Phase 1" and "Phase 2") are as little the same.
 */
export function contrast(nameA: string, nameB: string): string | undefined {
  const a = wordsOf(nameA).map((word) => normalize(word.text));
  const b = wordsOf(nameB).map((word) => normalize(word.text));
  const onlyA = a.filter((word) => !b.some((other) => stem(other) === stem(word)));
  const onlyB = b.filter((word) => !a.some((other) => stem(other) === stem(word)));
  const numbersA = onlyA.filter(isNumber);
  const numbersB = onlyB.filter(isNumber);
  if (
    numbersA.length &&
    numbersB.length &&
    onlyA.length === numbersA.length &&
    onlyB.length === numbersB.length
  ) {
    return `they differ in a number (${numbersA.join(' ')} and ${numbersB.join(' ')})`;
  }
  const negation = onlyA.some(isNegation) !== onlyB.some(isNegation);
  if (negation) return `“${[...onlyA, ...onlyB].find(isNegation)}” makes one the opposite of the other`;
  for (const one of onlyA) {
    for (const other of onlyB) {
      if (isOpposite(one, other)) return `“${one}” and “${other}” are opposites`;
    }
  }
  return undefined;
}

function isOpposite(a: string, b: string): boolean {
  if (TABLE.has(`${stem(a)}/${stem(b)}`)) return true;
  const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a];
  const bare = rootOf(shorter);
  if (NEGATIVE_PREFIX.some((prefix) => sameRoot(longer, prefix, bare, shorter))) return true;
  const [endingA, endingB] = [WITH_OR_WITHOUT.exec(a), WITH_OR_WITHOUT.exec(b)];
  if (endingA && endingB && endingA[1] === endingB[1] && endingA[2] !== endingB[2]) return true;
  return SWAPPED_PREFIX.some(([x, y]) => swaps(a, b, x, y) || swaps(a, b, y, x));
}

function sameRoot(longer: string, prefix: string, bare: string, shorter: string): boolean {
  if (!longer.startsWith(prefix) || shorter.length < 3) return false;
  const rest = longer.slice(prefix.length);
  return stem(rest) === stem(shorter) || (bare.length >= 4 && rootOf(rest) === bare);
}

const swaps = (a: string, b: string, x: string, y: string): boolean => {
  if (!a.startsWith(x) || !b.startsWith(y)) return false;
  const rest = a.slice(x.length);
  return rest.length >= 3 && stem(rest) === stem(b.slice(y.length));
};

const isNumber = (word: string): boolean =>
  /^(\d+\w?|[ivx]+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|fourth|fifth|[a-z])$/.test(
    word,
  );
const isNegation = (word: string): boolean => NEGATION.has(word);
