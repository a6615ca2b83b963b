import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorageReadOnly } from '../../src/storage/open.ts';
import { freshPostgres } from '../support/engines.ts';
import { freePort, startWeb, type WebServer } from '../web/support.ts';

/** Stands between the product and PostgreSQL, and can keep everything to itself. */
class HeldWire {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isFrozen = false;
  /** What clients sent. */
  sent = '';

  constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => {});
        from.on('close', () => to.destroy());
        from.on('data', (chunk) => {
          if (from === client) this.sent += chunk.toString('latin1');
          if (!this.#isFrozen) to.write(chunk);
        });
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    if (!isFrozen) for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

const through = async (proxy: HeldWire, url: string): Promise<string> => {
  const own = new URL(url);
  own.port = String(await proxy.listen());
  return own.href;
};

describe('a PostgreSQL server that stops answering', () => {
  let proxy: HeldWire;
  let server: WebServer;
  beforeAll(async () => {
    const url = await freshPostgres();
    proxy = new HeldWire(new URL(url));
    server = await startWeb({ toolkits: 'x', env: { COUNTERSIGN_STORAGE__URL: await through(proxy, url) } });
  });
  afterAll(async () => {
    proxy.freeze(false);
    await server?.close();
    proxy?.close();
  });

  it('gives 503 on /health and a clear error to calls, and is used again once it answers', async () => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    proxy.freeze(true);
    // Both end without an answer of the server; today's drivers would wait for minutes.
    const [health, call] = await Promise.all([
      fetch(`${server.url}/health`),
      server.call('x_like_tweet', { tweet_id: '1' }),
    ]);
    expect(health.status).toBe(503);
    expect(JSON.stringify(call)).toMatch(/PostgreSQL does not answer/);
    proxy.freeze(false);
    await expect.poll(async () => (await fetch(`${server.url}/health`)).status).toBe(200);
  });
});

describe('a store that is opened to be read', () => {
  const mayWrite = async (url: string): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query("insert into settings (key, value) values ('probe', '1')");
      await client.query("delete from settings where key = 'probe'");
      return true;
    } catch {
      return false;
    } finally {
      await client.end();
    }
  };

  it('refuses to write and leaves no setting behind in its session', async () => {
    const url = await freshPostgres();
    const proxy = new HeldWire(new URL(url));
    try {
      const store = await openStorageReadOnly({ url: await through(proxy, url) });
      expect(await store.db.selectFrom('settings').selectAll().execute()).toEqual([]);
      await expect(
        store.db.insertInto('settings').values({ key: 'a', value: 'b' }).execute(),
      ).rejects.toMatchObject({ code: '25006' });
      await store.close();
      expect(proxy.sent).toContain('begin transaction read only');
      expect(proxy.sent).not.toMatch(/\bset (?!local)/i);
    } finally {
      proxy.close();
    }
  });

  it('does not make the connections of a transaction pooler read-only for others', async () => {
    const url = await freshPostgres();
    const pooler = await startPooler(url);
    try {
      const reader = await openStorageReadOnly({ url: pooler.url });
      await reader.db.selectFrom('settings').selectAll().execute();
      await reader.close();
      expect(await mayWrite(pooler.url)).toBe(true);
    } finally {
      await pooler.stop();
    }
  });
});

/** PgBouncer with one server connection in transaction mode; without it a direct connection, where nothing can leak. */
async function startPooler(url: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (spawnSync('pgbouncer', ['--version']).status !== 0) return { url, stop: async () => {} };
  const target = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pgbouncer-'));
  const port = await freePort();
  const database = target.pathname.slice(1);
  const [user, password] = [decodeURIComponent(target.username), decodeURIComponent(target.password)];
  writeFileSync(join(folder, 'users.txt'), `"${user}" "${password}"\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${database} = host=${target.hostname} port=${target.port} dbname=${database} user=${user} password=${password} pool_size=1
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = plain
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
unix_socket_dir =
`,
  );
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', 'nobody', folder]);
  const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
  });
  target.port = String(port);
  await expect
    .poll(async () => {
      const client = new pg.Client({ connectionString: target.href });
      try {
        await client.connect();
        await client.end();
        return true;
      } catch {
        return false;
      }
    })
    .toBe(true);
  return {
    url: target.href,
    async stop() {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
