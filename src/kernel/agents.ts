import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '../contract/principal.ts';
import type { Database } from './database.ts';

export interface Agent {
  readonly name: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
}

export interface Agents {
  /** Creates a named agent and returns its token, which is shown this once. */
  add(name: string): Promise<string>;
  revoke(name: string): Promise<boolean>;
  list(): Promise<readonly Agent[]>;
  /** Who a token belongs to, or undefined. */
  authenticate(token: string): Promise<Principal | undefined>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i;
/** Names with a meaning of their own; nobody may obtain a token that reads like them. */
const RESERVED = new Set(['local', 'assistant', 'scheduler', 'system', 'person']);

export class AgentNameError extends Error {}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createAgents({ db }: Database, now: () => Date): Agents {
  return {
    async add(name) {
      if (!NAME.test(name)) {
        throw new AgentNameError(`"${name}" is not a usable name: use letters, digits, - and _, at most 40.`);
      }
      if (RESERVED.has(name.toLowerCase()))
        throw new AgentNameError(`"${name}" is reserved; choose another name.`);
      const token = `cs_${randomBytes(32).toString('base64url')}`;
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('agents')
        .values({ name, token_hash: hashToken(token), created_at: now().toISOString(), revoked_at: null })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) {
        throw new AgentNameError(
          `An agent named "${name}" exists already; its evidence keeps the name, so choose another.`,
        );
      }
      return token;
    },
    async revoke(name) {
      const { numUpdatedRows } = await db
        .updateTable('agents')
        .set({ revoked_at: now().toISOString() })
        .where('name', '=', name)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
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
