import type { JsonValue } from '../contract/json.ts';
import type { Effect } from '../contract/tool.ts';
import { isObject } from '../lib/is-object.ts';
import type { Definition } from './definition.ts';

type ServerEffect = Extract<Effect, 'read' | 'change' | 'destroy'>;

interface Deed {
  /** As a person reads it behind “its name speaks of”. */
  readonly of: string;
  /** The least that is proposed for a tool that does it. */
  readonly effect: 'change' | 'destroy';
  /** Verbs that count in any name and in a description. */
  readonly verbs: readonly string[];
  /** Words that count only in a name that does not begin by looking: `get_payment` pays nothing, `create_payment` may. */
  readonly inNames: readonly string[];
}

const DEEDS = {
  deletes: {
    of: 'deleting',
    effect: 'destroy',
    verbs: [
      ...['delete', 'remove', 'destroy', 'erase', 'purge', 'wipe', 'truncate', 'unlink', 'uninstall'],
      ...['overwrite', 'revoke'],
    ],
    inNames: [
      ...['drop', 'deletion', 'removal', 'del', 'rm', 'rmdir', 'trash', 'clear', 'reset', 'discard'],
      ...['terminate', 'kill', 'cancel'],
    ],
  },
  pays: {
    of: 'paying',
    effect: 'destroy',
    verbs: ['pay', 'reimburse', 'remit'],
    inNames: [
      ...[
        'payment',
        'payout',
        'refund',
        'charge',
        'transfer',
        'invoice',
        'purchase',
        'checkout',
        'withdrawal',
      ],
      ...['withdraw', 'deposit', 'buy', 'sell', 'donate'],
    ],
  },
  sends: {
    of: 'sending',
    effect: 'change',
    verbs: ['send', 'reply', 'forward', 'notify', 'dispatch'],
    inNames: ['email', 'mail', 'message', 'sms', 'dm', 'invite'],
  },
  publishes: {
    of: 'publishing',
    effect: 'change',
    verbs: ['publish', 'tweet', 'broadcast', 'announce', 'deploy'],
    inNames: ['post', 'release', 'share', 'upload', 'submit', 'merge', 'push'],
  },
} as const satisfies Record<string, Deed>;

type DeedName = keyof typeof DEEDS;

/** A name that begins with one of these speaks of what it looks at. */
const LOOKING = new Set([
  ...[
    'get',
    'list',
    'read',
    'search',
    'find',
    'show',
    'describe',
    'fetch',
    'count',
    'check',
    'view',
    'query',
  ],
  ...['lookup', 'browse', 'inspect', 'has', 'is', 'preview', 'validate', 'verify', 'retrieve', 'download'],
]);

/** `pay`, `pays`, `payments`; not `paid` or `deleted`, which say what was done before. */
function formsOf(words: readonly string[], deed: DeedName): [string, DeedName][] {
  return words.flatMap((word) => {
    const plural = /(s|sh|ch|x)$/.test(word) ? `${word}es` : word.replace(/([^aeiou])y$/, '$1ie').concat('s');
    return [word, plural].map((form): [string, DeedName] => [form, deed]);
  });
}

const names = Object.keys(DEEDS) as DeedName[];
const VERBS = new Map(names.flatMap((deed) => formsOf(DEEDS[deed].verbs, deed)));
const IN_NAMES = new Map(names.flatMap((deed) => formsOf(DEEDS[deed].inNames, deed)));

/** Parts of snake, kebab and camel case, of paths and of prose. */
const wordsOf = (text: string): string[] =>
  text
    .slice(0, MAX_TEXT)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter(Boolean);

const MAX_TEXT = 100_000;

const deedsIn = (words: readonly string[], ...tables: ReadonlyMap<string, DeedName>[]): Set<DeedName> =>
  new Set(words.flatMap((word) => tables.flatMap((table) => table.get(word) ?? [])));

const STRICTNESS = { read: 0, change: 1, destroy: 2 } as const;
const strictest = (...effects: ServerEffect[]): ServerEffect =>
  effects.reduce((most, one) => (STRICTNESS[one] > STRICTNESS[most] ? one : most));

/** What the server's own annotations say: a claim. */
export function claimedEffect({ annotations }: Definition): ServerEffect {
  if (!isObject<JsonValue>(annotations)) return 'change';
  if (annotations.readOnlyHint === true) return 'read';
  return annotations.destructiveHint === true ? 'destroy' : 'change';
}

function spokenOf({ name, description }: Definition): {
  readonly inName: ReadonlySet<DeedName>;
  readonly inText: ReadonlySet<DeedName>;
} {
  const parts = wordsOf(name);
  const text = typeof description === 'string' ? wordsOf(description) : [];
  const isLooking = LOOKING.has(parts[0] ?? '');
  return { inName: deedsIn(parts, VERBS, ...(isLooking ? [] : [IN_NAMES])), inText: deedsIn(text, VERBS) };
}

/**
 * A proposal only: a person confirms the effect. A server's words may be wrong, so they only ever make it stricter than
 * its annotations. Many descriptions of reads mention what they do not do; against `readOnlyHint` the name alone counts.
 */
export function proposedEffect(definition: Definition): ServerEffect {
  const claimed = claimedEffect(definition);
  const { inName, inText } = spokenOf(definition);
  const counted = claimed === 'read' ? [...inName] : [...inName, ...inText];
  return strictest(claimed, ...counted.map((deed) => DEEDS[deed].effect));
}

/** For a definition that changed: the effect that a person confirmed, unless the new one speaks of more than the old. */
export function effectAfter(before: Definition, confirmed: Effect, now: Definition): Effect {
  const proposed = proposedEffect(now);
  const isMore = STRICTNESS[proposed] > STRICTNESS[proposedEffect(before)];
  return isMore ? strictest(proposed, confirmed as ServerEffect) : confirmed;
}

/** What a person should know of its deeds before trusting a definition. */
export function deedWarnings(definition: Definition): string[] {
  const { inName, inText } = spokenOf(definition);
  const isClaimedRead = claimedEffect(definition) === 'read';
  return names.flatMap((deed) => {
    const where = inName.has(deed) ? 'name' : inText.has(deed) ? 'description' : undefined;
    if (where === undefined) return [];
    const { of } = DEEDS[deed];
    return isClaimedRead
      ? [`Claims to be read-only, but its ${where} speaks of ${of}`]
      : [`Its ${where} speaks of ${of}`];
  });
}

/** Of such calls no standing approval is made, so words that count in names count in the description as well. */
export function soundsLikeMoney({ name, description }: Definition): boolean {
  const text = typeof description === 'string' ? description : '';
  return deedsIn(wordsOf(`${name} ${text}`), VERBS, IN_NAMES).has('pays');
}
