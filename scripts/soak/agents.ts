import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from './cluster.ts';

export interface Traffic {
  /** Milliseconds of every call that was answered. */
  readonly latencies: { readonly read: number[]; readonly change: number[] };
  /** What became of each change, by its text. */
  readonly changes: Map<string, string>;
  /** Answers by tool and status or error code. */
  readonly answers: Map<string, number>;
  /** Requests that no server answered, because it was killed. */
  lost: number;
  calls: number;
  /** What was answered as `internal`: each names a cause that has no words of its own yet. */
  readonly internal: string[];
}

export const newTraffic = (): Traffic => ({
  latencies: { read: [], change: [] },
  changes: new Map(),
  answers: new Map(),
  lost: 0,
  calls: 0,
  internal: [],
});

interface Reply {
  readonly error?: { readonly code: string; readonly retryable: boolean };
  readonly routed_to_approval?: boolean;
}

const ATTEMPTS = 8;

/** One agent: calls one after the other, like a client that repeats what was not answered under the same key. */
export async function runAgent(
  name: string,
  token: string,
  nodes: readonly Node[],
  traffic: Traffic,
  signal: AbortSignal,
): Promise<void> {
  let home = Number(name.replace(/\D/g, ''));
  const call = async (tool: string, args: object, key?: string): Promise<Reply | 'lost'> => {
    const node = nodes[home % nodes.length] as Node;
    const started = performance.now();
    traffic.calls += 1;
    try {
      const response = await fetch(`http://127.0.0.1:${node.port}/tools/${tool}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        body: JSON.stringify({ arguments: args }),
        signal: AbortSignal.timeout(180_000),
      });
      const reply = (await response.json()) as Reply & { error_code?: string };
      const code = reply.error?.code ?? reply.error_code;
      const what = code ?? (reply.routed_to_approval ? 'routed' : 'ok');
      if (code === 'internal') traffic.internal.push(`${node.name}: ${JSON.stringify(reply)}`);
      traffic.answers.set(`${tool} ${what}`, (traffic.answers.get(`${tool} ${what}`) ?? 0) + 1);
      traffic.latencies[tool === 'soak_read' ? 'read' : 'change'].push(performance.now() - started);
      return reply.error_code ? { error: { code: reply.error_code, retryable: true } } : reply;
    } catch {
      traffic.lost += 1;
      home += 1;
      await sleep(100);
      return 'lost';
    }
  };
  for (let at = 0; !signal.aborted; at += 1) {
    const choice = Math.random();
    if (choice < 0.6) await call('soak_read', choice < 0.03 ? { unknown: 1 } : {});
    else if (choice < 0.63) await call('soak_blocked', { text: `${name} blocked ${at}` });
    else {
      const tool = choice < 0.68 ? 'soak_ask' : 'soak_write';
      const text = `${name} ${at}`;
      traffic.changes.set(text, 'sent');
      traffic.changes.set(text, await persist(() => call(tool, { text }, text)));
    }
    await sleep(Math.random() * 20);
  }
}

/** Repeats under the same key what may be repeated. */
async function persist(send: () => Promise<Reply | 'lost'>): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const reply = await send();
    if (reply === 'lost') continue;
    if (!reply.error) return reply.routed_to_approval ? 'routed' : 'ok';
    if (!reply.error.retryable) return reply.error.code;
    await sleep(200);
  }
  return 'given up';
}
