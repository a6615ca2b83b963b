/** How alike two words are by their letters alone. */

/** Edit distance with swapped neighbours as one error, or undefined as soon as it is certain to exceed `most`. */
export function editDistance(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most) return undefined;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
      smallest = Math.min(smallest, cost);
    }
    if (smallest > most) return undefined;
    before = previous;
    previous = current;
  }
  const distance = previous[b.length] ?? 0;
  return distance <= most ? distance : undefined;
}

/** A slip of the keyboard: one error in a word of five letters or more, two from nine on. */
export function isMisspelling(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  if (shorter < 5 || a === b) return false;
  return editDistance(a, b, shorter < 9 ? 1 : 2) !== undefined;
}

const SUFFIXES = [
  ...[
    'ousness',
    'iveness',
    'fulness',
    'ability',
    'ibility',
    'ization',
    'isation',
    'ational',
    'ating',
    'ation',
    'ative',
  ],
  ...[
    'iety',
    'ious',
    'ness',
    'ment',
    'tion',
    'sion',
    'ance',
    'ence',
    'ancy',
    'ency',
    'able',
    'ible',
    'less',
    'ship',
    'hood',
  ],
  ...[
    'ical',
    'ally',
    'ated',
    'ism',
    'ist',
    'ity',
    'ety',
    'ous',
    'ive',
    'ful',
    'ion',
    'ing',
    'ent',
    'ant',
    'ate',
    'al',
    'ic',
    'ed',
  ],
  ...['er', 'or', 'ly', 'es', 's'],
].sort((a, b) => b.length - a.length);
const SHORT_ROOT = new Set(['ness', 'ful', 'less', 'ly']);

/**
 * What is left of a word without its endings: anxiety and anxious meet in `anxi`, loneliness and lonely in `lone`. Cruder than a
 * stem (it also joins organ and organization), so it is a hint that needs a second witness.
 */
export function rootOf(word: string): string {
  let root = word;
  for (let round = 0; round < 3; round += 1) {
    const suffix = SUFFIXES.find(
      (end) => root.endsWith(end) && root.length - end.length >= (SHORT_ROOT.has(end) ? 3 : 4),
    );
    if (!suffix) break;
    root = root
      .slice(0, -suffix.length)
      .replace(/([^aeiou])i$/, suffix === 'ness' || suffix === 'ful' ? '$1y' : '$1i');
  }
  return root;
}

/** Endings that turn a word into another of the same meaning; each pair is what is left after the letters in common. */
const RELATED = new Set(
  `ety/ous y/iness ion/ed ion/ing ing/ed ion/ive e/ion e/ive e/ing e/ed ce/t cy/t sm/st sm/stic /ion /ive /ness /ment /ing /ed /ful /y /al
/ly /ally e/ement ed/ement ing/ement y/ied ies/ied y/ying ation/ed ation/ing`
    .split(/\s+/)
    .flatMap((pair) => [pair, pair.split('/').reverse().join('/')]),
);

/** True for words such as anxiety and anxious; false for organ and organization, which share letters only. */
export function areRelated(a: string, b: string): boolean {
  const one = a.split(' ');
  const other = b.split(' ');
  if (one.length !== other.length) return false;
  return one.every((word, at) => {
    const partner = other[at] ?? '';
    let shared = 0;
    while (shared < word.length && word[shared] === partner[shared]) shared += 1;
    return word === partner || RELATED.has(`${word.slice(shared)}/${partner.slice(shared)}`);
  });
}
