import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '../contract/principal.ts';
import { changeConfig } from './config-change.ts';
import type { Database } from './database.ts';

export interface Agent {
  readonly name: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
}

export interface Agents {
  /** Creates a named agent and returns its token, which is shown this once. */
  add(name: string, by: Principal): Promise<string>;
  /** False when no active agent has this name. */
  revoke(name: string, by: Principal): Promise<boolean>;
  list(): Promise<readonly Agent[]>;
  /** Who a token belongs to, or undefined. */
  authenticate(token: string): Promise<Principal | undefined>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i;
/** Names with a meaning of their own; nobody may obtain a token that reads like them. */
const RESERVED = new Set(['local', 'assistant', 'scheduler', 'system', 'person']);

export class AgentNameError extends Error {}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createAgents(database: Database, now: () => Date): Agents {
  const { db } = database;
  return {
    async add(name, by) {
      if (!NAME.test(name)) {
        throw new AgentNameError(`"${name}" is not a usable name: use letters, digits, - and _, at most 40.`);
      }
      if (RESERVED.has(name.toLowerCase()))
        throw new AgentNameError(`"${name}" is reserved; choose another name.`);
      const token = `cs_${randomBytes(32).toString('base64url')}`;
      const at = now();
      const added = await changeConfig(database, by, at, async (trx) => {
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('agents')
          .values({ name, token_hash: hashToken(token), created_at: at.toISOString(), revoked_at: null })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 0n ? undefined : { agent_added: name };
      });
      if (!added) {
        throw new AgentNameError(
          `An agent named "${name}" exists already; its evidence keeps the name, so choose another.`,
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
    async list() {
      const rows = await db
        .selectFrom('agents')
        .select(['name', 'created_at', 'revoked_at'])
        .orderBy('name')
        .execute();
      return rows.map((row) => ({
        name: row.name,
        createdAt: new Date(row.created_at),
        revokedAt: row.revoked_at === null ? undefined : new Date(row.revoked_at),
      }));
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
