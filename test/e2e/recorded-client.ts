import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { type Home, spawnCli } from './support.ts';

export type Json = Record<string, unknown>;
export type Generation = '2025' | '2026';
export type Child = ReturnType<typeof spawnCli>;

export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'recorded', version: '1' },
};
export const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'recorded', version: '1' },
};

/** How clients were recorded to end a server that they started. */
export const DEPARTURES: Record<string, (child: Child) => Promise<void>> = {
  'Claude Code: SIGINT, SIGTERM after 100 ms, stdin open': async (child) => {
    child.kill('SIGINT');
    await sleep(100);
    child.kill('SIGTERM');
  },
  'Codex: stdin closed, SIGTERM after 2 ms': async (child) => {
    child.stdin.end();
    await sleep(2);
    child.kill('SIGTERM');
  },
  'SDK: stdin closed': async (child) => void child.stdin.end(),
  'terminal: SIGHUP': async (child) => void child.kill('SIGHUP'),
};

export interface Recorded {
  readonly child: Child;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  /** Messages without an ID, in order. */
  readonly notices: Json[];
  send(message: Json): void;
  call(id: number, name: string, args: Json, meta?: Json): Promise<Json>;
}

/** A client of one generation on the built server's own streams; it sends and reads lines, as recorded. */
export async function openRecorded(
  home: Home,
  command: readonly string[],
  generation: Generation,
): Promise<Recorded> {
  const child = spawnCli(home, command);
  child.stderr.resume();
  child.stdin.on('error', () => {});
  const waiting = new Map<unknown, (message: Json) => void>();
  const notices: Json[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Json;
    if (message.id === undefined) notices.push(message);
    waiting.get(message.id)?.(message);
  });
  const send = (message: Json): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (id: number, method: string, params: Json, meta?: Json): Promise<Json> =>
    new Promise((resolve) => {
      waiting.set(id, (message) => resolve((message.result ?? message.error) as Json));
      const _meta = generation === '2026' ? { ...ENVELOPE, ...meta } : meta;
      send({ id, method, params: _meta ? { ...params, _meta } : params });
    });
  if (generation === '2025') {
    await request(0, 'initialize', INITIALIZE);
    send({ method: 'notifications/initialized' });
  }
  return {
    child,
    notices,
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code))),
    send,
    call: (id, name, args, meta) => request(id, 'tools/call', { name, arguments: args }, meta),
  };
}

/** What the calls of a tool ended with, read while no process or another one has the file open. */
export function outcomesOf(home: Home, tool: string): string[] {
  const database = new Database(join(home.dir, 'countersign.db'), { readonly: true });
  try {
    const rows = database.prepare('select status, code from calls where tool = ? order by call_id').all(tool);
    return (rows as { status: string; code: string | null }[]).map(({ status, code }) => code ?? status);
  } finally {
    database.close();
  }
}
