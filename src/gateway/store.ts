import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { ToolError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/json.ts';
import type { ServerSettings } from '../contract/servers.ts';
import type { Effect } from '../contract/tool.ts';
import { canonicalJson } from '../lib/canonical.ts';
import type { Definition } from './definition.ts';
import { takesTasks } from './task-support.ts';

export interface GatewayTables {
  gateway_servers: {
    server: string;
    target: string;
    /** JSON: the protocol generation found, with its date. */
    era: string;
    /** JSON: resources, templates and prompts, for listings that start nothing. */
    offers: string;
    listed_at: string;
    /** A person asked for a restart at this time; the process that runs the server restarts it before the next call. */
    restart_at: string | null;
  };
  gateway_definitions: {
    server: string;
    target: string;
    tool: string;
    hash: string;
    definition: string;
    /** `seen`: listed by the server; `trusted`: a person accepted it; `retired`: it was trusted once. */
    state: string;
    effect: string;
    seen_at: string;
    decided_at: string | null;
    decided_by: string | null;
  };
}

export type GatewayDb = Kysely<GatewayTables>;

/** What a person trusts is this program or address: another one under the same name starts in quarantine. */
export const targetOf = ({ command, args, cwd, url, transport }: ServerSettings): string =>
  createHash('sha256')
    .update(canonicalJson(url === undefined ? { command, args, cwd: cwd ?? null } : { url, transport }))
    .digest('hex');

export interface Pin {
  readonly tool: string;
  readonly hash: string;
  readonly effect: Effect;
}

export interface Seen extends Pin {
  readonly definition: Definition;
  readonly state: 'seen' | 'trusted' | 'retired';
  readonly seenAt: string;
  readonly decidedAt: string | undefined;
  readonly decidedBy: string | undefined;
}

export interface Known {
  readonly server: string;
  readonly target: string;
  readonly tool: string;
  /** Of the trusted definition, else of the one seen last. */
  readonly hash: string;
  readonly effect: string;
  readonly trusted: boolean;
}

/** Every tool of every server once, without its definition: enough to know what there is. */
export async function readKnown(db: GatewayDb): Promise<Known[]> {
  const rows = await db
    .selectFrom('gateway_definitions')
    .select(['server', 'target', 'tool', 'hash', 'effect', 'state'])
    .where('state', '!=', 'retired')
    .orderBy('server')
    .orderBy('tool')
    // 'trusted' comes before 'seen' in descending order.
    .orderBy('state', 'desc')
    .orderBy('seen_at', 'desc')
    .execute();
  const known = new Map<string, Known>();
  for (const { state, ...row } of rows) {
    const key = JSON.stringify([row.server, row.target, row.tool]);
    if (!known.has(key)) known.set(key, { ...row, trusted: state === 'trusted' });
  }
  return [...known.values()];
}

/** Everything known of one server's tools, newest first. */
export async function readSeen(db: GatewayDb, server: string, target: string): Promise<Seen[]> {
  const rows = await db
    .selectFrom('gateway_definitions')
    .selectAll()
    .where('server', '=', server)
    .where('target', '=', target)
    .orderBy('tool')
    .orderBy('seen_at', 'desc')
    .execute();
  return rows.map((row) => ({
    tool: row.tool,
    hash: row.hash,
    effect: row.effect as Effect,
    definition: JSON.parse(row.definition) as Definition,
    state: row.state as Seen['state'],
    seenAt: row.seen_at,
    decidedAt: row.decided_at ?? undefined,
    decidedBy: row.decided_by ?? undefined,
  }));
}

/** Trusts exactly these definitions; earlier ones of the same tools are retired. All or none. */
export async function trust(
  db: GatewayDb,
  server: string,
  target: string,
  pins: readonly Pin[],
  by: string,
  at: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const decided = { decided_at: at.toISOString(), decided_by: by };
    for (const { tool, hash, effect } of pins) {
      const ofTool = trx
        .updateTable('gateway_definitions')
        .where('server', '=', server)
        .where('target', '=', target)
        .where('tool', '=', tool);
      await ofTool
        .set({ state: 'retired' })
        .where('state', '=', 'trusted')
        .where('hash', '!=', hash)
        .execute();
      const { numUpdatedRows } = await ofTool
        .set({ state: 'trusted', effect, ...decided })
        .where('hash', '=', hash)
        .executeTakeFirst();
      if (numUpdatedRows === 0n)
        throw new ToolError(
          'not_found',
          `${server} never listed ${tool} with the hash ${hash}. Nothing was trusted.`,
        );
    }
  });
}

/** Forgets what was trusted and seen; the audit log keeps who trusted it and when. */
export async function forget(db: GatewayDb, server: string): Promise<void> {
  await db.deleteFrom('gateway_definitions').where('server', '=', server).execute();
  await db.deleteFrom('gateway_servers').where('server', '=', server).execute();
}

export interface ServerFacts {
  readonly target: string;
  readonly era: JsonObject;
  readonly offers: JsonObject;
  readonly listedAt: string;
  readonly restartAt: string | undefined;
}

export async function readFacts(db: GatewayDb, server: string): Promise<ServerFacts | undefined> {
  const row = await db
    .selectFrom('gateway_servers')
    .selectAll()
    .where('server', '=', server)
    .executeTakeFirst();
  return (
    row && {
      target: row.target,
      era: JSON.parse(row.era) as JsonObject,
      offers: JSON.parse(row.offers) as JsonObject,
      listedAt: row.listed_at,
      restartAt: row.restart_at ?? undefined,
    }
  );
}

/** The servers that make tasks of calls. */
export async function readTaskServers(db: GatewayDb): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('gateway_servers').select(['server', 'offers']).execute();
  const found = rows.filter(
    ({ offers }) => offers.includes('tasks') && takesTasks(JSON.parse(offers).capabilities),
  );
  return new Set(found.map(({ server }) => server));
}

export async function requestRestart(db: GatewayDb, server: string, at: Date): Promise<void> {
  const restart_at = at.toISOString();
  // One that could never be listed has no row yet, and it may be the one that needs it most.
  await db
    .insertInto('gateway_servers')
    .values({ server, target: '', era: '{}', offers: '{}', listed_at: restart_at, restart_at })
    .onConflict((conflict) => conflict.column('server').doUpdateSet({ restart_at }))
    .execute();
}

export async function listServerNames(db: GatewayDb): Promise<string[]> {
  const rows = await db.selectFrom('gateway_servers').select('server').orderBy('server').execute();
  return rows.map(({ server }) => server);
}
