import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, it } from 'vitest';
import { createHome } from '../e2e/support.ts';
import { expectPin } from './pin.ts';

const home = createHome();
afterAll(() => home.close());

describe('a new database', () => {
  it('has the migrations and tables that are pinned', () => {
    home.cli('status');
    const db = new Database(join(home.dir, 'countersign.db'));
    const names = (query: string) => (db.prepare(query).all() as { name: string }[]).map(({ name }) => name);
    const tables = db
      .prepare('select name, sql from sqlite_master where sql is not null order by type desc, name')
      .all() as { name: string; sql: string }[];
    expectPin('store.json', {
      migrations: names('select name from schema_migrations order by rowid'),
      tables: Object.fromEntries(tables.map(({ name, sql }) => [name, sql])),
    });
    db.close();
  });
});
