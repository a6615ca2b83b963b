/**
 * The English (Porter 2) stemmer of the Snowball project, written from its published description. Words of other
 * languages pass through mostly unchanged, which is harmless: index and query are stemmed alike.
 */
export function stem(word: string): string {
  const known = memo.get(word);
  if (known !== undefined) return known;
  const made = stemEnglish(word);
  // Transcripts repeat themselves: most words of a project are among a few ten thousand.
  if (memo.size >= MEMO_LIMIT) memo.clear();
  memo.set(word, made);
  return made;
}

const MEMO_LIMIT = 50_000;
const memo = new Map<string, string>();

const WHOLE = new Map(
  [
    ...[
      'skis ski',
      'skies sky',
      'dying die',
      'lying lie',
      'tying tie',
      'idly idl',
      'gently gentl',
      'ugly ugli',
    ],
    ...['early earli', 'only onli', 'singly singl', 'sky sky', 'news news', 'howe howe', 'atlas atlas'],
    ...['cosmos cosmos', 'bias bias', 'andes andes'],
  ].map((pair) => pair.split(' ') as [string, string]),
);

const AFTER_PLURAL = new Set([
  'inning',
  'outing',
  'canning',
  'herring',
  'earring',
  'proceed',
  'exceed',
  'succeed',
]);

const VOWEL = /[aeiouy]/;
const DOUBLE = /(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;

function stemEnglish(input: string): string {
  if (input.length <= 2 || !/^[a-z']+$/.test(input)) return input;
  const whole = WHOLE.get(input);
  if (whole !== undefined) return whole;
  let word = input
    .replace(/^'/, '')
    .replace(/^y|([aeiouy])y/g, (found, vowel?: string) => (vowel ? `${vowel}Y` : found.toUpperCase()));
  const r1 = firstRegion(word);
  const r2 = r1 + regionAfter(word.slice(r1));
  word = word.replace(/'s'$|'s$|'$/, '');
  word = plural(word);
  if (AFTER_PLURAL.has(word)) return word;
  word = pastAndGerund(word, r1);
  if (/.[^aeiouy][yY]$/.test(word)) word = `${word.slice(0, -1)}i`;
  word = replaceSuffix(word, STEP_2, r1);
  word = step3(word, r1, r2);
  word = step4(word, r2);
  word = finalLetter(word, r1, r2);
  return word.toLowerCase();
}

function firstRegion(word: string): number {
  const special = /^(gener|commun|arsen|past|univers|later|emerg|organ)/.exec(word);
  return special ? special[0].length : regionAfter(word);
}

/** The region after the first non-vowel that follows a vowel. */
function regionAfter(part: string): number {
  const found = /[aeiouy][^aeiouy]/.exec(part);
  return found ? found.index + 2 : part.length;
}

const isShortSyllable = (word: string): boolean =>
  /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word) || /^[aeiouy][^aeiouy]$/.test(word) || word === 'past';

const isShort = (word: string, r1: number): boolean => r1 >= word.length && isShortSyllable(word);

function plural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (/ie[ds]$/.test(word)) return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1);
  if (/(us|ss)$/.test(word)) return word;
  if (word.endsWith('s') && VOWEL.test(word.slice(0, -2))) return word.slice(0, -1);
  return word;
}

function pastAndGerund(word: string, r1: number): string {
  const agreed = /eed(ly)?$/.exec(word);
  if (agreed) return agreed.index >= r1 ? `${word.slice(0, agreed.index)}ee` : word;
  const ending = /(ing|ed)(ly)?$/.exec(word);
  if (!ending) return word;
  const rest = word.slice(0, ending.index);
  if (!VOWEL.test(rest)) return word;
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLE.test(rest)) return /^[aeo](bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest) ? rest : rest.slice(0, -1);
  return isShort(rest, r1) ? `${rest}e` : rest;
}

const suffixes = (...pairs: string[]): (readonly [string, string])[] =>
  pairs
    .map((pair) => {
      const [from = '', to = ''] = pair.split('>');
      return [from, to] as const;
    })
    .sort((a, b) => b[0].length - a[0].length);

const STEP_2 = suffixes(
  ...[
    'tional>tion',
    'enci>ence',
    'anci>ance',
    'abli>able',
    'entli>ent',
    'izer>ize',
    'ization>ize',
    'ational>ate',
  ],
  ...['ation>ate', 'ator>ate', 'alism>al', 'aliti>al', 'alli>al', 'fulness>ful', 'ousli>ous', 'ousness>ous'],
  ...['iveness>ive', 'iviti>ive', 'biliti>ble', 'bli>ble', 'ogi>og', 'fulli>ful', 'lessli>less', 'li>'],
);
const STEP_3 = suffixes(
  'tional>tion',
  'ational>ate',
  'alize>al',
  'icate>ic',
  'iciti>ic',
  'ical>ic',
  'ful>',
  'ness>',
);
const STEP_4 = /(ement|ment|ance|ence|able|ible|ant|ent|ism|ate|iti|ous|ive|ize|ion|al|er|ic)$/;

function replaceSuffix(word: string, rules: readonly (readonly [string, string])[], region: number): string {
  const rule = rules.find(([from]) => word.endsWith(from));
  if (!rule) return word;
  const at = word.length - rule[0].length;
  if (at < region) return word;
  if (rule[0] === 'ogi' && word[at - 1] !== 'l') return word;
  if (rule[0] === 'li' && !/[cdeghkmnrt]/.test(word[at - 1] ?? '')) return word;
  return word.slice(0, at) + rule[1];
}

function step3(word: string, r1: number, r2: number): string {
  if (word.endsWith('ative')) return word.length - 5 >= r2 ? word.slice(0, -5) : word;
  return replaceSuffix(word, STEP_3, r1);
}

function step4(word: string, r2: number): string {
  const found = STEP_4.exec(word);
  if (!found || found.index < r2) return word;
  if (found[0] === 'ion' && !/[st]/.test(word[found.index - 1] ?? '')) return word;
  return word.slice(0, found.index);
}

function finalLetter(word: string, r1: number, r2: number): string {
  const at = word.length - 1;
  if (word.endsWith('e')) {
    const drops = at >= r2 || (at >= r1 && !isShortSyllable(word.slice(0, -1)));
    return drops ? word.slice(0, -1) : word;
  }
  return word.endsWith('ll') && at >= r2 ? word.slice(0, -1) : word;
}
