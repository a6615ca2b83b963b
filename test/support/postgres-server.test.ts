import { existsSync } from 'node:fs';
import pg from 'pg';
import { expect, it } from 'vitest';
import { startPostgres } from './postgres-server.ts';

it('keeps PostgreSQL when it turns many clients away, and ends it with its files', async () => {
  const server = await startPostgres();
  const url = server.url('postgres');
  const knock = async (address: string): Promise<string> => {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(
      "select current_setting('data_directory') folder",
    );
    await client.end();
    return rows[0]?.folder ?? '';
  };
  const stranger = url.replace(/:[^:@]+@/, ':wrong@');
  for (let left = 150; left > 0; left -= 1) await expect(knock(stranger)).rejects.toThrow(/password/);
  const folder = await knock(url);
  expect(existsSync(folder)).toBe(true);
  await server.stop();
  expect(existsSync(folder)).toBe(false);
  await expect(knock(url)).rejects.toThrow(/ECONNREFUSED/);
});
