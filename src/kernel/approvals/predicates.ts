import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ArgumentPredicate, StandingDraft } from '../../contract/standing.ts';
import { canonicalJson } from '../../lib/canonical.ts';

/** Why a call's arguments are not covered; undefined when they are. */
export function uncovered(predicates: readonly ArgumentPredicate[], args: JsonObject): string | undefined {
  const known = new Set(predicates.map(({ arg }) => arg));
  for (const name of Object.keys(args)) if (!known.has(name)) return `${name} is given`;
  for (const predicate of predicates) {
    const value = Object.hasOwn(args, predicate.arg) ? args[predicate.arg] : undefined;
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
      return typeof value === 'string' && value.startsWith(predicate.text);
    case 'at_most':
      return typeof value === 'number' && value <= predicate.number;
    case 'links_only':
      return typeof value === 'string' && linksOnly(value, predicate.hosts);
  }
  predicate satisfies never;
  // A condition that a newer version stored covers nothing here.
  return false;
}

const same = (a: JsonValue, b: JsonValue): boolean => canonicalJson(a) === canonicalJson(b);

/** Anything that services may turn into a link: an address with a scheme, or a bare host name with a path or without. */
const LINK =
  /\b[a-z][a-z0-9+.-]*:\/\/\S+|(?<![@\p{L}\p{N}_-])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?:[/?#:]\S*)?/giu;

const linksOnly = (text: string, hosts: readonly string[]): boolean =>
  linksIn(text).every((host) => host !== null && hosts.includes(host));

/** The hosts that a text links to; null for a link that is not a plain web address. */
export function linksIn(text: string): (string | null)[] {
  const found = text.normalize('NFKC').match(LINK) ?? [];
  return found.map((link) => {
    try {
      const { hostname, username, protocol } = new URL(link.includes('://') ? link : `https://${link}`);
      const isPlain = (protocol === 'https:' || protocol === 'http:') && username === '';
      return isPlain ? hostname.toLowerCase() : null;
    } catch {
      return null;
    }
  });
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
