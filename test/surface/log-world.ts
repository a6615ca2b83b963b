import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openApp } from '../../src/app/app.ts';
import { ToolError } from '../../src/contract/errors.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { CHANGE_PROFILES, READ_PROFILES, toolFactory } from '../../src/contract/tool.ts';
import { defineToolkit, type Toolkit } from '../../src/contract/toolkit.ts';

const AGENT = { kind: 'agent', id: 'local' } as const;
export const PERSON = { kind: 'person', id: 'ada' } as const;

const define = toolFactory<{ readonly gate: Promise<void> }>();
const base = { reach: 'local', category: 'pin', errors: [] } as const;

const write = define({
  ...base,
  name: 'pin_write',
  title: 'Write',
  summary: 'Writes.',
  effect: 'change',
  profiles: CHANGE_PROFILES,
  input: z.object({
    text: z.string(),
    ends: z.enum(['well', 'failed', 'unknown', 'late']).default('well'),
    found: z.enum(['done', 'not_done', 'unknown']).default('unknown'),
  }),
  output: z.object({ written: z.string() }),
  present: ({ text }) => ({ title: `Write “${text}”` }),
  async run({ text, ends }, { services }) {
    if (ends === 'late') await services.gate;
    if (ends === 'failed') throw new ToolError('unavailable', 'Closed.');
    if (ends === 'unknown') throw new ToolError('timeout', 'No answer.', { effect: 'unknown' });
    return { written: text };
  },
  async reconcile({ text, found }) {
    if (found === 'done') return { settled: 'done', data: { written: text } };
    return found === 'not_done' ? { settled: 'not_done' } : { settled: 'unknown', why: 'no answer' };
  },
});

const permitted = define({
  ...base,
  name: 'pin_permitted',
  title: 'Write with a permit',
  summary: 'Writes with a permit.',
  effect: 'change',
  profiles: CHANGE_PROFILES,
  needsPermit: true,
  governanceArgs: ['approval_id'],
  input: z.object({ text: z.string(), approval_id: z.string() }),
  output: z.object({ written: z.string() }),
  bind: async () => ({ line: 1 }),
  run: async ({ text }) => ({ written: text }),
});

const read = define({
  ...base,
  name: 'pin_read',
  title: 'Read',
  summary: 'Reads.',
  effect: 'read',
  profiles: READ_PROFILES,
  // Longer than the hour after which a read counts as lost.
  deadlineMs: 4 * 3_600_000,
  input: z.object({ late: z.boolean().default(false) }),
  output: z.object({ found: z.boolean() }),
  async run({ late }, { services }) {
    if (late) await services.gate;
    return { found: true };
  },
});

const batch = define({
  ...base,
  name: 'pin_batch',
  title: 'Write many',
  summary: 'Writes each text in a call of its own.',
  effect: 'change',
  composite: true,
  profiles: CHANGE_PROFILES,
  input: z.object({ texts: z.array(z.string()) }),
  output: z.object({ statuses: z.array(z.string()) }),
  async run({ texts }, context) {
    const statuses: string[] = [];
    for (const text of texts) statuses.push((await context.call('pin_write', { text })).status);
    return { statuses };
  },
});

/** Everything that these tools change waits for a person. */
export const CONFIG = `[mcp_policy]
require_approval_for = ["pin_write", "pin_read", "pin_batch"]
max_mutations_per_hour = 100000
`;

/** The application on a data directory, with tools that end as told, and a clock that can be moved on. */
export async function openLogWorld(home: string) {
  let ahead = 0;
  let openGate: () => void = () => {};
  const gate = new Promise<void>((open) => {
    openGate = open;
  });
  const toolkit = defineToolkit<{ readonly gate: Promise<void> }>({
    id: 'pin',
    title: 'Pins',
    tools: [write, permitted, read, batch],
    connect: async () => ({ gate }),
  }) as unknown as Toolkit;
  const app = await openApp({
    env: { COUNTERSIGN_HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' },
    extraToolkits: [{ id: 'pin', load: async () => toolkit }],
    now: () => new Date(Date.now() + ahead),
  });
  const { kernel, database } = app;

  const call = async (tool: string, args: JsonObject, more: { key?: string; person?: boolean } = {}) => {
    const bound = await app.inventory.resolve(tool);
    if (!bound) throw new Error(`No tool ${tool}`);
    const principal = more.person ? PERSON : AGENT;
    const { outcome, callId } = await kernel.invoke({
      bound,
      args,
      principal,
      transport: 'test',
      idempotencyKey: more.key,
    });
    return { outcome, callId };
  };
  const world = {
    approvals: kernel.approvals,
    settle: (callId: string, happened: boolean) => kernel.settle(callId, happened, PERSON),
    setPaused: (paused: boolean) => kernel.setPaused(paused, PERSON),
    recover: () => kernel.recover(),
    call,
    openGate: () => openGate(),
    moveOn(hours: number): void {
      ahead += hours * 3_600_000;
    },
    /** Makes a call that must wait for a person; gives the id of its approval. */
    async route(tool: string, args: JsonObject, key?: string): Promise<number> {
      const { outcome } = await call(tool, args, { key });
      if (outcome.status !== 'routed') throw new Error(`${tool} ended as ${outcome.status}`);
      return outcome.approvalId;
    },
    /** The data of a call that must succeed. */
    async data(tool: string, args: JsonObject, person = false): Promise<JsonObject> {
      const { outcome } = await call(tool, args, { person });
      if (outcome.status !== 'ok') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
      return outcome.data as JsonObject;
    },
    /** Waits until a call of the tool waits at the gate, then lets another machine take its process for dead. */
    async lose(tool: string): Promise<string> {
      for (;;) {
        const row = await database.db
          .updateTable('calls')
          .set({ holder_host: 'elsewhere', lease_until: new Date(0).toISOString() })
          .where('status', '=', 'running')
          .where('tool', '=', tool)
          .returning('call_id')
          .executeTakeFirst();
        if (row) return row.call_id;
        await sleep(20);
      }
    },
    async untilExecuting(id: number): Promise<void> {
      while ((await kernel.approvals.get(id))?.state !== 'executing') await sleep(20);
    },
    close: () => app.close(),
  };
  return world;
}

export type LogWorld = Awaited<ReturnType<typeof openLogWorld>>;
