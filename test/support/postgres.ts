import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStorage } from '../../src/app/open-storage.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresBroker: string;
  }
}

const TEMPLATE = 'countersign_template';

/**
 * One PostgreSQL for the whole run, started by the first test that asks for it: runs that touch only SQLite pay
 * nothing. Every request makes a fresh database, by default with the current schema already in it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  let ready: Promise<unknown> | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const fresh = async (migrated: boolean): Promise<string> => {
    server ??= startPostgres();
    const { url } = await server;
    ready ??= prepareTemplate(url);
    await ready;
    const name = `test_${randomBytes(6).toString('hex')}`;
    const template = migrated ? ` template ${TEMPLATE}` : '';
    // PostgreSQL refuses to copy one template twice at the same time.
    const made = queue.then(() =>
      runSql(url('postgres'), `create database ${name}${template} strategy file_copy`),
    );
    queue = made.catch(() => {});
    await made;
    return url(name);
  };

  const broker = createServer((request, response) => {
    fresh(request.url !== '/empty').then(
      (url) => response.end(JSON.stringify({ url })),
      (error: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(error) })),
    );
  });
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  project.provide('postgresBroker', `http://127.0.0.1:${(broker.address() as AddressInfo).port}`);

  return async () => {
    await close(broker);
    await (await server?.catch(() => undefined))?.stop();
  };
}

async function prepareTemplate(url: (database: string) => string): Promise<void> {
  await runSql(url('postgres'), `create database ${TEMPLATE}`);
  const database = await openStorage({ url: url(TEMPLATE) });
  await database.close();
}

async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function close(broker: Server): Promise<void> {
  broker.closeAllConnections();
  await new Promise((resolve) => broker.close(resolve));
}
