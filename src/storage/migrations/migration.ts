import type { Kysely } from 'kysely';
import type { Engine } from '../../kernel/database.ts';

/** One forward step of the schema. Names sort in the order they are applied and never change afterwards. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, engine: Engine): Promise<void>;
}
