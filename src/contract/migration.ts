import type { Kysely } from 'kysely';

export type Engine = 'sqlite' | 'postgres';

/** One forward step of the schema. Names sort in the order they are applied and never change afterwards. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, engine: Engine): Promise<void>;
}
