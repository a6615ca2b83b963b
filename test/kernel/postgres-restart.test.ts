import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { openTestKernel, type TestKernel } from '../support/kernel.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';

const RESTARTS = 20;
const CLIENTS = 8;

describe('a PostgreSQL server that restarts under traffic', () => {
  let server: PostgresServer;
  let database: Database;
  let test: TestKernel;
  let dataDir: string;

  beforeAll(async () => {
    // A commit that was acknowledged survives the death of the server.
    server = await startPostgres({ synchronous_commit: 'on' });
    const client = new pg.Client({ connectionString: server.url('postgres') });
    await client.connect();
    await client.query('create database restarts');
    await client.end();
    dataDir = mkdtempSync(join(tmpdir(), 'countersign-restart-'));
    database = await openStorage({ url: server.url('restarts') });
    test = await openTestKernel(database, dataDir);
  });
  afterAll(async () => {
    await database?.close();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('leaves the process running, the evidence complete and no change done twice', async () => {
    const outcomes = new Map<string, string>();
    let stopped = false;
    let answered = 0;
    const client = async (name: number): Promise<void> => {
      for (let at = 0; !stopped; at += 1) {
        const text = `client ${name}, call ${at}`;
        const { outcome } = await test.call('ledger_write', { text });
        outcomes.set(text, outcome.status);
        if (outcome.status === 'ok') answered += 1;
        await test.call('ledger_read', {});
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, name) => client(name));
    const progress = async (): Promise<void> => {
      for (const before = answered; answered < before + CLIENTS; )
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    try {
      for (let restart = 0; restart < RESTARTS; restart += 1) {
        await progress();
        await server.restart(restart % 2 === 0 ? 'SIGINT' : 'SIGKILL');
      }
      // Every client is answered again after the last restart.
      await progress();
    } finally {
      stopped = true;
    }
    await Promise.all(clients);
    await test.kernel.flush();
    await test.kernel.recover();

    const lines = await test.lines();
    expect(new Set(lines).size).toBe(lines.length);
    const written = new Set(lines);
    const wrong = [...outcomes].filter(
      ([text, status]) =>
        (status === 'ok' && !written.has(text)) || (status === 'failed' && written.has(text)),
    );
    expect(wrong).toEqual([]);
    const affected = [...outcomes.values()].filter((status) => status !== 'ok').length;
    expect(affected).toBeLessThanOrEqual(RESTARTS * CLIENTS);

    const report = await verifyLog(database, { publicKeys: [] });
    expect(report.problems).toEqual([]);
  }, 300_000);
});
