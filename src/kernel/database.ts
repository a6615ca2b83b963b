import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

export type Engine = 'sqlite' | 'postgres';

/**
 * The store as the kernel sees it. Queries are written once, in Kysely, next to the logic that needs them;
 * what differs between the engines is behind this port.
 */
export interface Database {
  readonly engine: Engine;
  readonly db: Kysely<Tables>;
  /** A transaction that takes the write lock at once, so that two processes never upgrade against each other. */
  write<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Rows of a raw query one at a time, for scans that must not grow with the table. */
  stream<T>(query: {
    readonly sql: string;
    readonly parameters: readonly unknown[];
  }): AsyncIterable<T> | Iterable<T>;
  close(): Promise<void>;
}
