import type { JsonObject } from '../contract/json.ts';
import { type Definition, pinOf } from './definition.ts';
import { proposedEffect } from './effects.ts';
import type { GatewayDb } from './store.ts';

/** How much of what no person has trusted is stored for one server: it decides what it lists, and how often that changes. */
export interface ListingLimits {
  /** Tools of one listing. */
  readonly tools: number;
  /** Characters of one definition. */
  readonly definition: number;
  /** Characters of all definitions of one listing, and of all that earlier ones left. */
  readonly bytes: number;
  /** Versions of one tool. */
  readonly versions: number;
  /** Definitions that earlier listings left. */
  readonly earlier: number;
}

export const LISTING_LIMITS: ListingLimits = {
  tools: 2_000,
  definition: 256 * 1024,
  bytes: 16 * 1024 * 1024,
  versions: 4,
  earlier: 2_000,
};

const ROWS_PER_STATEMENT = 100;

export interface Remembered {
  readonly kept: readonly Definition[];
  /** Tools that are beyond the limits: they are neither stored nor offered. */
  readonly ignored: number;
}

/**
 * Remembers a listing, within limits. What a person trusted always stays, as does the evidence in the audit log; of the
 * rest the newest stays, and a definition that returns is recognised by its hash.
 */
export async function rememberListing(
  db: GatewayDb,
  server: string,
  target: string,
  definitions: readonly Definition[],
  facts: { readonly era: JsonObject; readonly offers: JsonObject },
  at: Date,
  limits: ListingLimits = LISTING_LIMITS,
): Promise<Remembered> {
  const listedAt = at.toISOString();
  const { rows, ignored } = select(definitions, await readTrusted(db, server, target), limits);
  const row = {
    target,
    era: JSON.stringify(facts.era),
    offers: JSON.stringify({ ...facts.offers, ...(ignored > 0 ? { ignored } : {}) }),
    listed_at: listedAt,
  };
  await db
    .insertInto('gateway_servers')
    .values({ server, ...row, restart_at: null })
    .onConflict((conflict) => conflict.column('server').doUpdateSet(row))
    .execute();
  // In one order, so that two processes that list the same server do not wait for each other in a circle.
  const sorted = rows.toSorted((one, other) => (one.tool < other.tool ? -1 : 1));
  for (let from = 0; from < sorted.length; from += ROWS_PER_STATEMENT) {
    await db
      .insertInto('gateway_definitions')
      .values(
        sorted.slice(from, from + ROWS_PER_STATEMENT).map(({ tool, hash, text, effect }) => ({
          server,
          target,
          tool,
          hash,
          definition: text,
          state: 'seen',
          effect,
          seen_at: listedAt,
          decided_at: null,
          decided_by: null,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['server', 'target', 'tool', 'hash']).doUpdateSet({ seen_at: listedAt }),
      )
      .execute();
  }
  await forgetEarlier(db, server, target, listedAt, limits);
  return { kept: rows.map(({ definition }) => definition), ignored };
}

export const describeIgnored = (server: string, ignored: number): string =>
  `${ignored} of the tools that ${server} lists ${ignored === 1 ? 'is' : 'are'} ignored: more than ${LISTING_LIMITS.tools} untrusted tools, ` +
  `${LISTING_LIMITS.definition / 1024} kB for one or ${LISTING_LIMITS.bytes / 1024 / 1024} MB for all are not stored.`;

async function readTrusted(db: GatewayDb, server: string, target: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('gateway_definitions')
    .select(['tool', 'hash'])
    .where('server', '=', server)
    .where('target', '=', target)
    .where('state', '=', 'trusted')
    .execute();
  return new Set(rows.map(({ tool, hash }) => keyOf(tool, hash)));
}

const keyOf = (tool: string, hash: string): string => `${hash} ${tool}`;

function select(definitions: readonly Definition[], trusted: ReadonlySet<string>, limits: ListingLimits) {
  let tools = 0;
  let bytes = 0;
  const rows = definitions.flatMap((definition) => {
    const text = JSON.stringify(definition);
    // Hashing costs more than counting, and is not done for what is refused by its length alone.
    const isLong = text.length > limits.definition;
    if (isLong && trusted.size === 0) return [];
    const tool = definition.name;
    const row = { definition, tool, text, hash: pinOf(definition), effect: proposedEffect(definition) };
    if (trusted.has(keyOf(tool, row.hash))) return [row];
    if (isLong || tools >= limits.tools || bytes + text.length > limits.bytes) return [];
    tools += 1;
    bytes += text.length;
    return [row];
  });
  return { rows, ignored: definitions.length - rows.length };
}

/** Deletes the oldest of what was only seen, of any program that had this name. */
async function forgetEarlier(
  db: GatewayDb,
  server: string,
  target: string,
  listedAt: string,
  limits: ListingLimits,
): Promise<void> {
  const seen = await db
    .selectFrom('gateway_definitions')
    .select(({ fn }) => [
      'target',
      'tool',
      'hash',
      'seen_at',
      fn<number>('length', ['definition']).as('size'),
    ])
    .where('server', '=', server)
    .where('state', '=', 'seen')
    .orderBy('seen_at', 'desc')
    .execute();
  const versions = new Map<string, number>();
  let count = 0;
  let bytes = 0;
  for (const one of seen) {
    const key = `${one.target} ${one.tool}`;
    const version = (versions.get(key) ?? 0) + 1;
    versions.set(key, version);
    if (one.target === target && one.seen_at === listedAt) continue;
    const size = Number(one.size);
    if (version <= limits.versions && count < limits.earlier && bytes + size <= limits.bytes) {
      count += 1;
      bytes += size;
      continue;
    }
    await db
      .deleteFrom('gateway_definitions')
      .where('server', '=', server)
      .where('target', '=', one.target)
      .where('tool', '=', one.tool)
      .where('hash', '=', one.hash)
      // A person may have trusted it since.
      .where('state', '=', 'seen')
      .execute();
  }
}
