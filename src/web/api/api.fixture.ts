import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import {
  createLedgerTable,
  type LedgerServices,
  ledgerRows,
  ledgerToolkit,
} from '../../../test/support/ledger.ts';
import { type App, openApp } from '../../app/app.ts';
import { webPorts } from '../../app/web-ports.ts';
import type { JsonObject } from '../../contract/json.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { Toolkit } from '../../contract/toolkit.ts';
import { defineView, serve } from '../../contract/view.ts';
import type { CallResult } from '../../kernel/call/call.ts';
import { createWebApp } from '../server.ts';
import { createSignInLink } from '../sign-in.ts';

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** The web application on a real kernel, asked as a signed-in page would. */
export interface WebWorld {
  readonly app: App;
  get(path: string): Promise<Reply>;
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Reply>;
  /** The bare answer, with headers of the test's own instead of the page's. */
  raw(path: string, init?: RequestInit): Promise<Response>;
  readonly cookie: string;
  /** A call by an agent. */
  call(tool: string, args: JsonObject): Promise<CallResult>;
  /** Asks for approval of one line; its number. */
  ask(text: string): Promise<number>;
  lines(): Promise<string[]>;
  close(): Promise<void>;
}

const views = {
  lines: defineView({
    params: z.object({ limit: z.int().max(10).default(5) }),
    output: z.object({ limit: z.number(), person: z.string(), lines: z.array(z.string()) }),
  }),
};

const CONFIG = 'toolkits = ["ledger"]\n[mcp_policy]\nrequire_approval_for = ["ledger_write"]\n';

export async function openWebWorld(): Promise<WebWorld> {
  const home = mkdtempSync(join(tmpdir(), 'countersign-api-'));
  writeFileSync(join(home, 'config.toml'), CONFIG);
  const toolkit = {
    ...ledgerToolkit(),
    views: serve<LedgerServices, typeof views>(views, {
      lines: async ({ limit }, { services, person }) => ({
        limit,
        person: person.id,
        lines: (await ledgerRows(services.db)).map(({ text }) => text),
      }),
    }),
  } as unknown as Toolkit;
  const app = await openApp({
    env: { COUNTERSIGN_HOME: home, HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' },
    extraToolkits: [{ id: 'ledger', load: async () => toolkit }],
  });
  const db = app.database.db as unknown as Kysely<unknown>;
  await createLedgerTable(db);
  const web = createWebApp(webPorts(app));
  const link = new URL(await createSignInLink(app.database, app.person, 'http://localhost', app.now()));
  const signedIn = await web.request(`${link.pathname}${link.search}`);
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const raw = async (path: string, init?: RequestInit): Promise<Response> => web.request(`/api${path}`, init);
  const read = async (response: Response): Promise<Reply> => ({
    status: response.status,
    body: await response.json(),
  });
  const get = async (path: string): Promise<Reply> => read(await raw(path, { headers: { cookie } }));
  const { csrf } = (await get('/session')).body as { csrf: string };
  const call: WebWorld['call'] = async (tool, args) => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    return app.kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test' });
  };
  return {
    app,
    cookie,
    raw,
    get,
    call,
    send: async (method, path, body) =>
      read(
        await raw(path, {
          method,
          headers: { cookie, 'x-csrf-token': csrf, 'content-type': 'application/json' },
          body: body === undefined ? undefined : JSON.stringify(body),
        }),
      ),
    async ask(text) {
      const { outcome } = await call('ledger_write', { text });
      if (outcome.status !== 'routed') throw new Error(`It was ${outcome.status}.`);
      return outcome.approvalId;
    },
    lines: async () => (await ledgerRows(db)).map(({ text }) => text),
    async close() {
      await app.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
