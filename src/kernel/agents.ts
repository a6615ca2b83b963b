import { createHash, randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { JsonObject } from '../contract/json.ts';
import { LOCAL_AGENT, type Principal, principalName } from '../contract/principal.ts';
import { changeConfig } from './log/config-change.ts';
import { parseDate } from './store/cells.ts';
import type { Database } from './store/database.ts';
import { AGENT_PAUSED, pausedAgents } from './store/pause.ts';
import type { AgentsTable } from './store/tables.ts';

export interface Agent {
  readonly name: string;
  readonly createdAt: Date;
  /** A token with an unreadable time here is revoked as well. */
  readonly revokedAt: Date | undefined;
  /** Set where a stored time cannot be read, and stands for the epoch: what to show instead. */
  readonly damaged?: string;
}

export interface Agents {
  /** Creates a named agent and returns its token, which is shown this once. */
  add(name: string, by: Principal): Promise<string>;
  /** False when no active agent has this name. */
  revoke(name: string, by: Principal): Promise<boolean>;
  list(): Promise<readonly Agent[]>;
  /** Refuses the agent's calls until it is resumed. False when it already was, or was not, paused. */
  setPaused(name: string, paused: boolean, by: Principal): Promise<boolean>;
  /** Paused agents and who paused each, names without a token included. */
  paused(): Promise<ReadonlyMap<string, string>>;
  /** True when calls can come under this name. */
  isKnown(name: string): Promise<boolean>;
  /** Who a token belongs to, or undefined. */
  authenticate(token: string): Promise<Principal | undefined>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i;
/** Names with a meaning of their own; no one may obtain a token that reads like them. */
const RESERVED = ['local', 'scheduler', 'system', 'person'];

export class AgentNameError extends Error {}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

function toAgent(row: Pick<Selectable<AgentsTable>, 'name' | 'created_at' | 'revoked_at'>): Agent {
  const times = [row.created_at, row.revoked_at].map((text) => (text === null ? undefined : parseDate(text)));
  const [createdAt, revokedAt] = times;
  const isWhole = createdAt !== undefined && (row.revoked_at === null || revokedAt !== undefined);
  return {
    name: row.name,
    createdAt: createdAt ?? new Date(0),
    revokedAt: row.revoked_at === null ? undefined : (revokedAt ?? new Date(0)),
    ...(isWhole ? {} : { damaged: `Agent ${row.name} cannot be read. Run \`countersign audit verify\`.` }),
  };
}

export function createAgents(
  database: Database,
  now: () => Date,
  ofToolkits: readonly string[] = [],
): Agents {
  const reserved = new Set([...RESERVED, ...ofToolkits]);
  const { db } = database;
  return {
    async add(name, by) {
      if (!NAME.test(name)) {
        throw new AgentNameError(`Invalid agent name "${name}". Use at most 40 letters, digits, - and _.`);
      }
      if (reserved.has(name.toLowerCase()))
        throw new AgentNameError(`"${name}" is reserved; choose another name.`);
      const token = `cs_${randomBytes(32).toString('base64url')}`;
      const at = now();
      const added = await changeConfig(database, by, at, async (trx) => {
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('agents')
          .values({ name, token_hash: hashToken(token), created_at: at.toISOString(), revoked_at: null })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 0n
          ? undefined
          : { agent_added: name, token_hash: hashToken(token) };
      });
      if (!added) {
        throw new AgentNameError(
          `Agent name "${name}" is taken. Audit entries keep a name forever, so names are never reused; choose another.`,
        );
      }
      return token;
    },
    revoke(name, by) {
      const at = now();
      return changeConfig(database, by, at, async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('agents')
          .set({ revoked_at: at.toISOString() })
          .where('name', '=', name)
          .where('revoked_at', 'is', null)
          .executeTakeFirst();
        return numUpdatedRows === 0n ? undefined : { agent_revoked: name };
      });
    },
    async isKnown(name) {
      if (name === LOCAL_AGENT.id || ofToolkits.includes(name)) return true;
      const row = await db.selectFrom('agents').select('name').where('name', '=', name).executeTakeFirst();
      return row !== undefined;
    },
    setPaused(name, paused, by) {
      const key = AGENT_PAUSED + name;
      return changeConfig(database, by, now(), async (trx): Promise<JsonObject | undefined> => {
        if (!paused) {
          const { numDeletedRows } = await trx
            .deleteFrom('settings')
            .where('key', '=', key)
            .executeTakeFirst();
          return numDeletedRows === 0n ? undefined : { agent_resumed: name };
        }
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('settings')
          .values({ key, value: principalName(by) })
          .onConflict((conflict) => conflict.column('key').doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 0n ? undefined : { agent_paused: name };
      });
    },
    paused: () => pausedAgents(db),
    async list() {
      const rows = await db
        .selectFrom('agents')
        .select(['name', 'created_at', 'revoked_at'])
        .orderBy('name')
        .execute();
      return rows.map(toAgent);
    },
    async authenticate(token) {
      const row = await db
        .selectFrom('agents')
        .select('name')
        .where('token_hash', '=', hashToken(token))
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return row && { kind: 'agent', id: row.name };
    },
  };
}
