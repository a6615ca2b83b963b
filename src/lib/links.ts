/** More places where a link may begin are not read: such a text cannot be judged. */
const MOST_STARTS = 500;
/** Longer than any host with its port. */
const MOST_AUTHORITY = 300;

/**
 * Every host that some reading of a text would link to; null for a link that is not a plain web address, and for what cannot
 * be judged. Services differ in what they make a link of, so this finds too much rather than too little: a check needs that,
 * a display does not.
 */
export function linksIn(text: string): (string | null)[] {
  const found = new Set<string | null>();
  for (const reading of readingsOf(text, found)) {
    const budget = { left: MOST_STARTS };
    addAddresses(reading, found, budget);
    addNames(reading, found, budget);
    if (budget.left < 0) found.add(null);
  }
  return [...found];
}

/** True where every link of a text leads to one of the hosts, and to no other part of their domain. */
export function linksOnlyTo(text: string, hosts: readonly string[]): boolean {
  const allowed = new Set(hosts.map((host) => hostOf(host)).filter((host) => host !== null));
  return linksIn(text).every((host) => host !== null && allowed.has(host));
}

/** A text as pages, markup and compatibility forms of characters may turn it into another. */
function readingsOf(text: string, found: Set<string | null>): Set<string> {
  const decoded = decodeEntities(text, found);
  // Markdown drops the backslash before a mark; a URL takes it for a slash.
  const forms = [text, decoded, decoded.replace(/\\(?=[!-/:-@[-`{-~])/g, '')];
  const joined = forms.map((form) => form.replace(ATTRIBUTE, (value) => value.replace(/[\t\n\r]/g, '')));
  const spelled = [...new Set([...forms, ...joined])].flatMap((form) => [form, form.normalize('NFKC')]);
  return new Set(
    spelled
      .flatMap((form) => ['', ' '].map((by) => form.replace(INVISIBLE, by)))
      .map((form) => form.replace(/(?<=[a-z0-9])。(?=[a-z0-9])/gi, '.')),
  );
}

/** A page drops tabs and line ends from an address in an attribute. */
const ATTRIBUTE = /=\s*(?:"[^"]*"|'[^']*')/g;

/** What a page does not show, or shows as nothing; line ends and tabs separate words. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?![\t-\r])\p{Cc}/gu;

const ENTITIES = new Map(
  Object.entries({
    amp: '&',
    apos: "'",
    bsol: '\\',
    colon: ':',
    commat: '@',
    gt: '>',
    hellip: '…',
    ldquo: '“',
    lsquo: '‘',
    lt: '<',
    mdash: '—',
    nbsp: ' ',
    ndash: '–',
    num: '#',
    period: '.',
    quest: '?',
    quot: '"',
    rdquo: '”',
    rsquo: '’',
    sol: '/',
  }),
);

/** Pages have two thousand names of characters, letters among them: one that is not known here cannot be judged. */
const decodeEntities = (text: string, found: Set<string | null>): string =>
  text.replace(
    /&(?:#(?:x([0-9a-f]{1,8})|(\d{1,8}));?|([a-z][a-z0-9]{1,31});)/gi,
    (_whole, hex, digits, name) => {
      const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
      const known = name === undefined ? fromCode(code) : ENTITIES.get(name);
      if (known === undefined) found.add(null);
      return known ?? ' ';
    },
  );

const fromCode = (code: number): string | undefined =>
  code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;

/** Schemes that need no slashes to be followed. */
const SCHEMES =
  /^(?:ftp|wss?|javascript|vbscript|data|file|blob|filesystem|intent|about|tel|sms|view-source)$/;
/** Where markup has the target of a link. */
const TARGET = /(?:\]\(\s*<?|\]:\s*<?|<|=\s*["']?)$/;

interface Budget {
  left: number;
}

/** Starts at every scheme and every pair of slashes, also inside of an earlier link. */
function addAddresses(text: string, found: Set<string | null>, budget: Budget): void {
  for (const { 0: mark, index } of text.matchAll(/:[\\/]*|[\\/]{2,}/g)) {
    const isColon = mark.startsWith(':');
    const before = isColon ? text.slice(Math.max(0, index - 40), index) : '';
    const scheme = (/[a-z][a-z0-9+.-]*$/i.exec(before)?.[0] ?? '').toLowerCase();
    const rest = text.slice(index + mark.length, index + mark.length + MOST_AUTHORITY + 1);
    const isWeb = /https?$/.test(scheme);
    if (isColon && !isWeb && mark.length < 3) {
      const isTarget = scheme !== 'mailto' && TARGET.test(before.slice(0, before.length - scheme.length));
      if (/^\S/.test(rest) && scheme !== '' && (SCHEMES.test(scheme) || isTarget)) found.add(null);
      continue;
    }
    if (scheme !== '' && !/^https?$/.test(scheme)) found.add(null);
    budget.left -= 1;
    if (budget.left < 0) return;
    addAuthority(rest, found);
  }
}

/** What cannot be part of a host name that can be registered. */
const ODD = /[^\p{L}\p{N}\p{M}-]/u;

function addAuthority(rest: string, found: Set<string | null>): void {
  const authority = /^[^\s\\/?#]*/.exec(rest)?.[0] ?? '';
  if (authority === '') return;
  const own = /^[\p{L}\p{N}\p{M}.%-]+/u.exec(authority)?.[0];
  // A name before @ is shown and not visited; brackets hold an address of numbers.
  if (authority.length > MOST_AUTHORITY || authority.includes('@') || own === undefined) {
    found.add(null);
    return;
  }
  found.add(hostOf(own));
  // Read on to the end it is a host only if its last part can be one: otherwise some mark ended the link before.
  const whole = authority.replace(/:\d*$/, '').replace(/[.。．｡]+$/u, '');
  const last = whole.split(/[.。．｡]/u).at(-1) ?? '';
  if (whole.includes('%') || !ODD.test(last)) found.add(hostOf(whole));
}

/** Names with dots, which services link without a scheme. */
function addNames(text: string, found: Set<string | null>, budget: Budget): void {
  const run = /[\p{L}\p{N}\p{M}.-]+/gu;
  const path = /(?::\d+)?[/?#][\w\p{sc=Latin}/.~%?#=&+-]*/uy;
  for (let match = run.exec(text); match && budget.left >= 0; match = run.exec(text)) {
    for (const part of match[0].split(/\.{2,}/)) {
      const labels = part.replace(/^[.-]+/, '').split('.');
      while (labels.length > 1 && !isTop(labels)) labels.pop();
      if (labels.length < 2) continue;
      budget.left -= 1;
      found.add(hostOf(labels.join('.')));
      // The rest of a link to this host belongs to it.
      if (!match[0].endsWith(labels.join('.'))) continue;
      path.lastIndex = run.lastIndex;
      if (path.test(text)) run.lastIndex = path.lastIndex;
    }
  }
}

const isTop = (labels: readonly string[]): boolean =>
  /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/iu.test(labels.at(-1) ?? '') ||
  (labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label) && Number(label) < 256));

/** The host as a browser would look it up; null for what is not a host and nothing else. */
function hostOf(name: string): string | null {
  try {
    const { hostname, username, pathname, search, hash, port } = new URL(`https://${name}`);
    const isPlain = username === '' && pathname === '/' && search === '' && hash === '' && port === '';
    return isPlain && !/[/\\?#@]/.test(name) ? hostname.replace(/\.+$/, '') : null;
  } catch {
    return null;
  }
}
