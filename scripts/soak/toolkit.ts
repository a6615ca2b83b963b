import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { CHANGE_PROFILES, READ_PROFILES, toolFactory } from '../../src/contract/tool.ts';
import { defineToolkit, type Toolkit } from '../../src/contract/toolkit.ts';

interface Services {
  readonly db: Kysely<unknown>;
}

/** The remote service of the soak: a table without any constraint on the text, so that a change done twice shows. */
export const createEffects = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create table if not exists soak_effects (call_id text not null, text text not null)`.execute(db);
  await sql`create index if not exists soak_effects_by_call on soak_effects (call_id)`.execute(db);
};

const define = toolFactory<Services>();
const base = { reach: 'local', category: 'soak', errors: [] } as const;
const change = {
  ...base,
  effect: 'change',
  profiles: CHANGE_PROFILES,
  input: z.object({ text: z.string().min(1) }),
  output: z.object({ written: z.string() }),
} as const;

/** Long enough that a kill finds changes between their effect and their outcome. */
const WORK_MS = 20;

async function write(db: Kysely<unknown>, callId: string, text: string): Promise<{ written: string }> {
  await sleep(Math.random() * WORK_MS);
  await sql`insert into soak_effects (call_id, text) values (${callId}, ${text})`.execute(db);
  await sleep(Math.random() * WORK_MS);
  return { written: text };
}

const soakRead = define({
  ...base,
  name: 'soak_read',
  title: 'Read',
  summary: 'Reads one row.',
  effect: 'read',
  profiles: READ_PROFILES,
  input: z.object({ text: z.string().optional() }),
  output: z.object({ found: z.boolean() }),
  async run(_args, { services }) {
    const { rows } = await sql`select 1 from soak_effects limit 1`.execute(services.db);
    return { found: rows.length > 0 };
  },
});

const soakWrite = define({
  ...change,
  name: 'soak_write',
  title: 'Write',
  summary: 'Writes one row and can find it again.',
  run: ({ text }, { services, callId }) => write(services.db, callId, text),
  async reconcile({ text }, { services, callId }) {
    const { rows } = await sql`select 1 from soak_effects where call_id = ${callId}`.execute(services.db);
    return rows.length > 0 ? { settled: 'done', data: { written: text } } : { settled: 'not_done' };
  },
});

/** Requires approval in the soak, and cannot tell afterwards whether it happened. */
const soakAsk = define({
  ...change,
  name: 'soak_ask',
  title: 'Write with approval',
  summary: 'Writes one row after a person approved it.',
  run: ({ text }, { services, callId }) => write(services.db, callId, text),
});

const soakBlocked = define({
  ...change,
  name: 'soak_blocked',
  title: 'Write what is blocked',
  summary: 'Is denied by policy.',
  run: ({ text }, { services, callId }) => write(services.db, callId, text),
});

export const soakToolkit = defineToolkit<Services>({
  id: 'soak',
  title: 'Soak',
  tools: [soakRead, soakWrite, soakAsk, soakBlocked],
  connect: async (host) => ({ db: host.db<unknown>() }),
}) as unknown as Toolkit;
