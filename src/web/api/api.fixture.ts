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
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { Toolkit } from '../../contract/toolkit.ts';
import { defineView, serve } from '../../contract/view.ts';
import type { CallResult } from '../../kernel/call/call.ts';
import { createWebApp } from '../server.ts';
import { createSignInLink } from '../sign-in.ts';
import type { Holds } from './holds.ts';

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Asks as a page of a signed-in person would. */
export interface WebPage {
  get(path: string): Promise<Reply>;
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Reply>;
  readonly cookie: string;
}

/** The web application on a real kernel, with the page of its owner. */
export interface WebWorld extends WebPage {
  readonly app: App;
  /** Approved calls that wait in the server. */
  readonly holds: Holds;
  signIn(person: Principal): Promise<WebPage>;
  /** The bare answer, with headers of the test's own instead of the page's. */
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** A call by an agent. */
  call(tool: string, args: JsonObject): Promise<CallResult>;
  /** Asks for approval of one line; its number. */
  ask(text: string, tool?: string): Promise<number>;
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

export interface WorldOptions {
  readonly config?: string;
  /** What the test's own toolkit has beyond the ledger's. */
  readonly toolkit?: Partial<Toolkit>;
}

export async function openWebWorld({ config = CONFIG, toolkit: own }: WorldOptions = {}): Promise<WebWorld> {
  const home = mkdtempSync(join(tmpdir(), 'countersign-api-'));
  writeFileSync(join(home, 'config.toml'), config);
  const toolkit = {
    ...ledgerToolkit(),
    ...own,
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
  const ports = webPorts(app);
  const web = createWebApp(ports);
  const raw = async (path: string, init?: RequestInit): Promise<Response> => web.request(`/api${path}`, init);
  const signIn: WebWorld['signIn'] = async (person) => {
    const link = new URL(await createSignInLink(app.database, person, 'http://localhost', app.now()));
    const signedIn = await web.request(`${link.pathname}${link.search}`);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const get = async (path: string): Promise<Reply> => read(await raw(path, { headers: { cookie } }));
    const { csrf } = (await get('/session')).body as { csrf: string };
    const headers = { cookie, 'x-csrf-token': csrf, 'content-type': 'application/json' };
    const send: WebPage['send'] = async (method, path, body) =>
      read(await raw(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
    return { cookie, get, send };
  };
  const call: WebWorld['call'] = async (tool, args) => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    return app.kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test' });
  };
  return {
    app,
    holds: ports.holds,
    ...(await signIn(app.person)),
    signIn,
    raw,
    call,
    async ask(text, tool = 'ledger_write') {
      const { outcome } = await call(tool, { text });
      if (outcome.status !== 'routed') throw new Error(`It was ${outcome.status}.`);
      return outcome.approvalId;
    },
    lines: async () => (await ledgerRows(db)).map(({ text }) => text),
    async close() {
      await ports.holds.close();
      await app.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const read = async (response: Response): Promise<Reply> => ({
  status: response.status,
  body: await response.json(),
});
