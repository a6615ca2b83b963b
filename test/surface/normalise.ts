/** The key of an assistant's session. */
const SESSION_KEY = /\bmcp-\d{13}-[0-9a-f]{24}\b/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?/g;
/** The id of a post; it carries the time of the post. */
const POST_ID = /\b\d{19}\b/g;
const DURATION = /\b\d+(?= ?ms\b)/g;
/** The salt of a hash whose value was never stored. */
const SALT = /\bunkept:[0-9a-f]{16}\b/g;
/** The token of an agent, where a configuration contains it. */
const TOKEN = /\bcs_[\w-]{43}/g;
/** An ID as a page shortens it. */
const SHORT_ID = /\b[0-9a-f]{3}…[0-9a-f]{4}\b/g;
const HEX = /\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b/g;

/** A log's name, alone or with the id of one of its keys. */
const LOG_NAME = /\bcountersign\/[0-9a-f]{16}(\+[0-9a-f]{8}(\+[\w+/]{44})?)?/g;

export interface Normalising {
  /** Other text that differs from run to run, by what to write instead. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Fields whose value differs from run to run whatever it looks like. */
  readonly fields?: RegExp;
  /** Fields whose value differs where it is a fraction: it counts the seconds since something happened. */
  readonly fractions?: RegExp;
  /** Fields that stay as they are. */
  readonly kept?: RegExp;
}

/**
 * Replaces what differs from run to run. The same id becomes the same number, so that a pin still shows which entries
 * belong together.
 */
export function normaliser({ texts = {}, fields, fractions, kept }: Normalising = {}) {
  const ids = new Map<string, string>();
  const numbered = (found: string): string => {
    const known = ids.get(found) ?? `<id ${ids.size + 1}>`;
    ids.set(found, known);
    return known;
  };
  const text = (value: string): string => {
    let result = value;
    for (const [from, to] of Object.entries(texts)) result = result.replaceAll(from, to);
    return result
      .replace(TOKEN, '<token>')
      .replace(SESSION_KEY, numbered)
      .replace(UUID, numbered)
      .replace(POST_ID, numbered)
      .replace(TIME, '<time>')
      .replace(DURATION, '<n>')
      .replace(HEX, '<hash>')
      .replace(SHORT_ID, '<short id>')
      .replace(SALT, 'unkept:<salt>')
      .replace(LOG_NAME, nameOrKey);
  };
  const field = (key: string, value: unknown): unknown => {
    if (kept?.test(key)) return value;
    if (fields?.test(key) && value !== null) return '<varies>';
    // An entry of the log stands in proofs as its exact text.
    if (key === 'body' && typeof value === 'string' && value.startsWith('{'))
      return normalise(JSON.parse(value));
    if (typeof value === 'number' && !Number.isInteger(value) && fractions?.test(key)) return '<fraction>';
    return normalise(value);
  };
  const normalise = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return shortened(value.map(normalise));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), field(key, inner)]));
  };
  return normalise;
}

const nameOrKey = (_found: string, key?: string): string => (key ? '<log key>' : '<log>');

/** How many hashes a proof needs depends on the size of the log. */
const shortened = (items: unknown[]): unknown =>
  items.length > 0 && items.every((item) => item === '<hash>') ? ['<hash>', '…'] : items;
