import { lookup } from './lookup.ts';

/** Text cut at a word to so many characters, with an ellipsis. */
export function cutWords(text: string, most: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const signs = [...line];
  if (signs.length <= most) return line;
  const cut = signs.slice(0, Math.max(0, most - 1)).join('');
  const space = cut.lastIndexOf(' ');
  // A single long word is cut inside; otherwise half a word says less than none.
  const kept = space > most * 0.6 ? cut.slice(0, space) : cut;
  return `${kept.replace(/[\s.,;:]+$/u, '')}…`;
}

/** A title with its environment at the end, which is never what is cut. */
export function fitTitle(words: string, environment: string, most: number): string {
  const place = ` (${environment})`;
  const plain = words.replace(/\s+/gu, ' ').trim();
  const own = plain.endsWith(place) ? plain.slice(0, -place.length) : plain;
  return cutTitle(own, most - place.length) + place;
}

export const cutTitle = (words: string, most: number): string => closeQuote(cutWords(words, most), most);

/** A quotation that was cut open is closed, because “Fix rounding of… (live) reads as if the place were quoted too. */
function closeQuote(text: string, most: number): string {
  const open = text.lastIndexOf('“');
  if (open < 0 || text.indexOf('”', open) >= 0) return text;
  return [...text].length < most
    ? `${text}”`
    : `${[...text]
        .slice(0, most - 2)
        .join('')
        .trimEnd()}…”`;
}

/** `timeout_ms` and `timeoutMs` as a person reads them: `Timeout ms`. */
export function humanName(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/gu, '$1 $2')
    .replace(/[_\-.]+/gu, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? name : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Inside a title: quoted, on one line, short. */
export const quoted = (text: string, most = 30): string => `“${cutWords(text, most)}”`;

const IRREGULAR: Readonly<Record<string, string>> = {
  find: 'found',
  get: 'got',
  keep: 'kept',
  plan: 'planned',
  propose: 'proposed',
  read: 'read',
  reply: 'replied',
  run: 'ran',
  send: 'sent',
  set: 'set',
  show: 'showed',
  submit: 'submitted',
  tag: 'tagged',
  try: 'tried',
  undo: 'undid',
  apply: 'applied',
  withdraw: 'withdrew',
  write: 'wrote',
};
const REGULAR = new Set(
  `add analyze annotate approve ask block bookmark cancel change check clear close code comment compare compose count create
  delete detect draft edit export fetch follow hide import like list mark merge move mute open order pause pin post publish
  quote reanchor recommend refund reject remove rename repost request resolve restore resume retry review revoke schedule
  score search star start stop suggest summarize translate unblock unbookmark unfollow unhide unlike unmute unpin update
  upload validate verify view`.split(/\s+/u),
);

/** A title that begins with a verb in the past tense: `Search posts` as `Searched posts`. Others stay as they are. */
export function toPastTense(title: string): string {
  const [, verb = '', rest = ''] = /^(\p{L}+)(.*)$/su.exec(title) ?? [];
  const known = verb.toLowerCase();
  const past = lookup(IRREGULAR, known) ?? (REGULAR.has(known) ? regularPast(known) : undefined);
  return past === undefined ? title : `${past.charAt(0).toUpperCase()}${past.slice(1)}${rest}`;
}

function regularPast(verb: string): string {
  if (verb.endsWith('e')) return `${verb}d`;
  if (/[^aeiou]y$/u.test(verb)) return `${verb.slice(0, -1)}ied`;
  // Short verbs double their last letter.
  if (/^(pin|unpin|star|stop)$/u.test(verb)) return `${verb}${verb.at(-1)}ed`;
  return `${verb}ed`;
}
