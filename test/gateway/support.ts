import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type App, openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { LOCAL_AGENT, type Principal } from '../../src/contract/principal.ts';
import { type GatewayDb, readSeen } from '../../src/gateway/store.ts';
import { TRUST_TOOL, trustArgs } from '../../src/gateway/trust.ts';
import type { CallRequest } from '../../src/kernel/call/call.ts';
import { lookup } from '../../src/lib/lookup.ts';
import { serveOnHttp } from '../../src/transports/http.ts';

export const PERSON: Principal = { kind: 'person', id: 'ada' };

const packaged = (name: string, file: string): string =>
  resolve('node_modules/@modelcontextprotocol', name, 'dist', file);

/** The real servers from npm. */
export const EVERYTHING = packaged('server-everything', 'index.js');
export const FILESYSTEM = packaged('server-filesystem', 'index.js');
export const MEMORY = packaged('server-memory', 'index.js');
/** Lets every server use the model of its client, as far as it may ask. */
export const SAMPLING_RULE = `
[[mcp_policy.rules]]
id = "sampling"
categories = ["sampling"]
action = "allow"
`;
export const SCRIPTED = resolve('test/gateway/scripted-server.mjs');

export interface Place {
  readonly dir: string;
  readonly app: App;
  call(tool: string, args: JsonObject, more?: Partial<CallRequest>): ReturnType<App['kernel']['invoke']>;
  /** Starts the server, lists it and trusts what it lists. */
  trust(server: string, effects?: Record<string, 'read' | 'change' | 'destroy'>): Promise<void>;
  reopen(config?: string): Promise<void>;
  close(): Promise<void>;
}

/** An application on a data directory of its own, with the servers that the configuration names. */
export async function openPlace(config: string, env: Record<string, string> = {}): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-gateway-'));
  const open = (text: string): Promise<App> => {
    writeFileSync(join(dir, 'config.toml'), text);
    return openApp({ env: { COUNTERSIGN_HOME: dir, COUNTERSIGN_LOG__LEVEL: 'silent', ...env } });
  };
  let app = await open(config);
  return {
    dir,
    get app() {
      return app;
    },
    async call(tool, args, more) {
      const bound = await app.inventory.resolve(tool);
      if (!bound) throw new Error(`Unknown tool: ${tool}.`);
      return app.kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test', ...more });
    },
    trust: (server, effects) => trustServer(app, server, effects),
    async reopen(text = config) {
      await app.close();
      app = await open(text);
    },
    async close() {
      await app.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function trustServer(
  app: App,
  server: string,
  effects: Record<string, 'read' | 'change' | 'destroy'> = {},
): Promise<void> {
  const { gateway } = app;
  if (!gateway) throw new Error('No server is configured.');
  gateway.proposing = false;
  await (await gateway.upstream(server)).ready();
  gateway.proposing = true;
  const target = (await gateway.targetOf(server)) ?? '';
  const { live } = await gateway.upstream(server);
  const seen = await readSeen(app.database.db as unknown as GatewayDb, server, target);
  const pins = seen
    .filter(({ tool, hash }) => live.get(tool) === hash)
    .map((one) => ({ ...one, effect: lookup(effects, one.tool) ?? one.effect }));
  const bound = await app.inventory.resolve(TRUST_TOOL);
  if (!bound) throw new Error('The gateway has no tool to trust with.');
  const args = trustArgs(server, pins);
  const { outcome } = await app.kernel.invoke({ bound, args, principal: PERSON, transport: 'test' });
  if (outcome.status !== 'ok') throw new Error(JSON.stringify(outcome));
}

/** Its changes run unasked: what these tests are about comes after the decision. */
export const stdioServer = (name: string, script: string, ...args: string[]): string =>
  `[servers.${name}]\nchanges = "allow"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([script, ...args])}\n`;

export const httpServer = (name: string, url: string): string =>
  `[servers.${name}]\nchanges = "allow"\nurl = ${JSON.stringify(url)}\n`;

export async function connect(transport: Transport, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  await client.connect(transport);
  return client;
}

export const direct = (script: string, ...args: string[]): Promise<Client> =>
  connect(new StdioClientTransport({ command: process.execPath, args: [script, ...args], stderr: 'ignore' }));

/** The application over HTTP, as `countersign up` serves it. */
export async function serve(app: App, toolkits: readonly string[] = app.config.toolkits, discovery = false) {
  const served = await createServed(app, { toolkits, profile: 'write', discovery });
  const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
  const url = new URL(`http://127.0.0.1:${listening.port}/mcp`);
  return {
    url,
    connect: (options?: ClientOptions) => connect(new StreamableHTTPClientTransport(url), options),
    close: () => listening.close(),
  };
}
