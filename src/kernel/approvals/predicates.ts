import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ArgumentPredicate, StandingDraft } from '../../contract/standing.ts';
import { canonicalJson } from '../../lib/canonical.ts';
import { linksIn, linksOnlyTo } from '../../lib/links.ts';
import { lookup } from '../../lib/lookup.ts';

/** Why a call's arguments are not covered; undefined when they are. */
export function uncovered(predicates: readonly ArgumentPredicate[], args: JsonObject): string | undefined {
  const known = new Set(predicates.map(({ arg }) => arg));
  for (const name of Object.keys(args)) if (!known.has(name)) return `${name} is given`;
  for (const predicate of predicates) {
    const value = lookup(args, predicate.arg);
    if (!holds(predicate, value)) return `${predicate.arg} is different`;
  }
  return undefined;
}

function holds(predicate: ArgumentPredicate, value: JsonValue | undefined): boolean {
  // An argument that may be anything may also be left out; any other must be there.
  if (predicate.op === 'any') return true;
  if (value === undefined) return false;
  switch (predicate.op) {
    case 'equals':
      return same(value, predicate.value);
    case 'one_of':
      return predicate.values.some((one) => same(value, one));
    case 'starts_with':
      return typeof value === 'string' && beginsWith(value, predicate.text);
    case 'at_most':
      return typeof value === 'number' && value <= predicate.number;
    case 'links_only':
      return typeof value === 'string' && linksOnlyTo(value, predicate.hosts);
  }
  predicate satisfies never;
  // A condition that a newer version stored covers nothing here.
  return false;
}

const same = (a: JsonValue, b: JsonValue): boolean => canonicalJson(a) === canonicalJson(b);

/**
 * True for a text that begins so, unless what follows leaves what was approved: a path that climbs out of the prefix, or a
 * prefix that ends in a link which the rest turns into a link to another host.
 */
function beginsWith(text: string, prefix: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const inPath = Math.max(prefix.lastIndexOf('/'), prefix.lastIndexOf('\\')) + 1;
  if (climbs(text.slice(inPath))) return false;
  const inWord = /\S*$/u.exec(prefix)?.index ?? 0;
  const word = /^\S*/u.exec(text.slice(inWord))?.[0] ?? '';
  const approved = linksIn(prefix.slice(inWord));
  return approved.length === 0 || linksIn(word).every((host) => host !== null && approved.includes(host));
}

/** Forms of a dot and of a slash that some program takes for one; `%25` is a percent sign written once more. */
const DOT = /%(?:25)*(?:2e|c0%(?:25)*ae|e0%(?:25)*80%(?:25)*ae)/gi;
const SLASH = /%(?:25)*(?:2f|5c|c0%(?:25)*af|c1%(?:25)*9c)|[\\\u2044\u2215\u29f5\u29f8]/gi;

/** True where some program would take a part of a path for the folder above. */
function climbs(path: string): boolean {
  const plain = path
    .normalize('NFKC')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]|%(?:25)*00/gu, '')
    .replace(DOT, '.')
    .replace(SLASH, '/');
  // Windows drops blanks and dots at the end of a name, and some servers what follows a semicolon.
  return plain.split('/').some((part) => /^\s*\.\.[\s.]*(?:;|$)/u.test(part));
}

/** Every value exactly as it is: what a person starts from, each widening being a step of its own. */
export const exactPredicates = (args: JsonObject): ArgumentPredicate[] =>
  Object.entries(args).map(([arg, value]) => ({ arg, op: 'equals', value }));

/** The whole standing approval as one sentence. */
export function standingSentence(draft: StandingDraft): string {
  const who = draft.agent.replace(/^agent:/u, '');
  const name = who === 'local' ? 'any client without a token' : who;
  const what =
    draft.predicates.length === 0 ? 'without arguments' : `with ${draft.predicates.map(clause).join(', ')}`;
  const times = draft.uses === 1 ? 'once' : `at most ${draft.uses} times`;
  const until = `${draft.until.slice(0, 16).replace('T', ' ')} UTC`;
  return `Allow ${name} to call ${draft.tool} ${what}, ${times}, until ${until}.`;
}

function clause(predicate: ArgumentPredicate): string {
  const { arg } = predicate;
  switch (predicate.op) {
    case 'equals':
      return `${arg} exactly ${show(predicate.value)}`;
    case 'one_of':
      return `${arg} one of ${predicate.values.map(show).join(', ')}`;
    case 'starts_with':
      return `${arg} starting with “${predicate.text}”`;
    case 'at_most':
      return `${arg} at most ${predicate.number}`;
    case 'links_only':
      return predicate.hosts.length === 0
        ? `any ${arg} without links`
        : `any ${arg} with links only to ${predicate.hosts.join(', ')}`;
    case 'any':
      return `any ${arg}`;
    default:
      predicate satisfies never;
      return `${arg} under an unknown condition`;
  }
}

/** Whole: a person decides by this sentence what no one is asked about any more. */
const show = (value: JsonValue): string => (typeof value === 'string' ? `“${value}”` : JSON.stringify(value));
