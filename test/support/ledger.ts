import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { ToolError } from '../../src/contract/errors.ts';
import { CHANGE_PROFILES, READ_PROFILES, toolFactory } from '../../src/contract/tool.ts';

import { defineToolkit, type Toolkit } from '../../src/contract/toolkit.ts';
import { quoted } from '../../src/lib/words.ts';

/** The remote service of the fixture: a table of its own, so that effects can be counted across processes. */
export interface LedgerServices {
  readonly db: Kysely<unknown>;
  /** Calls with `hold` wait here until the test lets them go on. */
  readonly gate: Gate;
}

export class Gate {
  readonly #opened: Promise<void>;
  #open: () => void = () => {};
  /** While true, calls that reach the gate fail in an unexpected way instead of waiting. */
  broken = false;

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  async pass(): Promise<void> {
    if (this.broken) throw new TypeError('the gate is broken');
    await this.#opened;
  }
}

const define = toolFactory<LedgerServices>();
const base = { reach: 'local', category: 'ledger', errors: [] } as const;

export async function createLedgerTable(db: Kysely<unknown>): Promise<void> {
  await sql`create table if not exists ledger (call_id text primary key, text text not null)`.execute(db);
}

export async function ledgerRows(db: Kysely<unknown>): Promise<{ call_id: string; text: string }[]> {
  const { rows } = await sql<{
    call_id: string;
    text: string;
  }>`select call_id, text from ledger order by call_id`.execute(db);
  return rows;
}

const textOf = z.object({ text: z.string().min(1) });

const read = define({
  ...base,
  name: 'ledger_read',
  title: 'Read the ledger',
  summary: 'Lists what was written.',
  effect: 'read',
  profiles: READ_PROFILES,
  input: z.object({
    echo: z.string().optional(),
    file: z.string().optional(),
    fail: z.boolean().optional(),
    hold: z.boolean().optional(),
  }),
  output: z.looseObject({ count: z.int() }),
  async run({ echo, file, fail, hold }, { services, artifact }) {
    if (hold) await services.gate.pass();
    if (fail) throw new ToolError('unavailable', 'The ledger is closed.');
    if (file !== undefined) await artifact('report.txt', 'text/plain', file);
    return { count: (await ledgerRows(services.db)).length, ...(echo === undefined ? {} : { echo }) };
  },
});

const write = define({
  ...base,
  name: 'ledger_write',
  title: 'Write to the ledger',
  summary: 'Writes one line.',
  effect: 'change',
  profiles: CHANGE_PROFILES,
  policyName: 'ledger.write',
  privateArgs: ['secret_note'],
  governanceArgs: ['dry_run'],
  input: z.object({
    text: z.string().min(1),
    run_id: z.string().optional(),
    fail: z.enum(['none', 'before', 'after', 'unknown', 'crash']).optional(),
    secret_note: z.string().optional(),
    dry_run: z.boolean().optional(),
    hold: z.boolean().optional(),
  }),
  output: z.object({ written: z.string(), by: z.string(), approved_by: z.string().nullable() }),
  present: ({ text }) => ({ title: `Write ${quoted(text)} to the ledger`, act: 'write', gist: text }),
  runOf: ({ run_id }) => run_id,
  replayScope: ({ run_id }) => (run_id === undefined ? undefined : `run:${run_id}`),
  rollback: ({ text }) => ({ tool: 'ledger_erase', args: { text } }),
  check({ text }) {
    if (text === 'unspeakable') throw new ToolError('invalid_input', 'This is not written.');
  },
  async preview({ text }) {
    return { would_write: text };
  },
  async run({ text, fail, hold }, { services, callId, principal, approval }) {
    if (hold) await services.gate.pass();
    if (fail === 'before') throw new ToolError('unavailable', 'The ledger is closed.');
    if (fail === 'crash') throw new TypeError('a bug');
    await sql`insert into ledger (call_id, text) values (${callId}, ${text})`.execute(services.db);
    if (fail === 'after') throw new ToolError('timeout', 'No answer from the ledger.', { effect: 'unknown' });
    return { written: text, by: principal.id, approved_by: approval?.approver?.id ?? null };
  },
  async reconcile({ fail }, { services, callId }) {
    if (fail === 'unknown') return { settled: 'unknown', why: 'the test says so' };
    const rows = await ledgerRows(services.db);
    const row = rows.find((one) => one.call_id === callId);
    return row
      ? { settled: 'done', data: { written: row.text, by: 'reconciled', approved_by: null } }
      : { settled: 'not_done' };
  },
});

const blind = define({
  ...base,
  name: 'ledger_write_blind',
  title: 'Write without looking back',
  summary: 'Writes one line and cannot tell afterwards whether it did.',
  effect: 'change',
  profiles: CHANGE_PROFILES,
  input: textOf.extend({ fail: z.boolean().optional() }),
  output: z.object({ written: z.string() }),
  async run({ text, fail }, { services, callId }) {
    await sql`insert into ledger (call_id, text) values (${callId}, ${text})`.execute(services.db);
    if (fail) throw new ToolError('timeout', 'No answer from the ledger.', { effect: 'unknown' });
    return { written: text };
  },
});

const erase = define({
  ...base,
  name: 'ledger_erase',
  title: 'Erase from the ledger',
  summary: 'Removes every line with this text.',
  effect: 'destroy',
  profiles: CHANGE_PROFILES,
  input: textOf,
  output: z.object({ erased: z.boolean() }),
  async run({ text }, { services }) {
    await sql`delete from ledger where text = ${text}`.execute(services.db);
    return { erased: true };
  },
});

const permitted = define({
  ...base,
  name: 'ledger_permitted',
  title: 'Write with a permit',
  summary: 'Writes one line, only with a permit for exactly this line.',
  effect: 'change',
  profiles: CHANGE_PROFILES,
  needsPermit: true,
  governanceArgs: ['dry_run', 'approval_id'],
  input: textOf.extend({ approval_id: z.string(), dry_run: z.boolean().optional() }),
  output: z.object({ written: z.string() }),
  async bind(_args, { db }) {
    return { lines: (await ledgerRows(db)).length };
  },
  async preview({ text }) {
    return { would_write: text };
  },
  async run({ text }, { services, callId }) {
    await sql`insert into ledger (call_id, text) values (${callId}, ${text})`.execute(services.db);
    return { written: text };
  },
});

const batch = define({
  ...base,
  name: 'ledger_batch',
  title: 'Write many lines',
  summary: 'Writes each line as its own call.',
  effect: 'change',
  composite: true,
  profiles: CHANGE_PROFILES,
  input: z.object({
    texts: z.array(z.string()).min(1),
    look: z.boolean().optional(),
    /** Its last part has an unknown outcome. */
    doubt: z.boolean().optional(),
    /** Fails after its parts, in a way that may pass. */
    fail: z.boolean().optional(),
  }),
  output: z.object({ statuses: z.array(z.string()) }),
  async run({ texts, look, doubt, fail }, context) {
    const statuses: string[] = [];
    if (look) statuses.push((await context.call('ledger_read', {})).status);
    for (const text of texts) statuses.push((await context.call('ledger_write', { text })).status);
    if (doubt) await context.call('ledger_write_blind', { text: 'doubtful', fail: true });
    if (fail) throw new ToolError('unavailable', 'The ledger is closed.');
    return { statuses };
  },
});

const survey = define({
  ...base,
  name: 'ledger_survey',
  title: 'Look twice',
  summary: 'Reads the ledger in two calls of its own.',
  effect: 'read',
  profiles: READ_PROFILES,
  input: z.object({}),
  output: z.object({ statuses: z.array(z.string()) }),
  async run(_args, context) {
    const statuses: string[] = [];
    for (const echo of ['one', 'two']) statuses.push((await context.call('ledger_read', { echo })).status);
    return { statuses };
  },
});

const slow = define({
  ...base,
  name: 'ledger_slow',
  title: 'Wait',
  summary: 'Waits until it is told to stop.',
  effect: 'read',
  profiles: READ_PROFILES,
  deadlineMs: 200,
  input: z.object({}),
  output: z.object({}),
  async run(_args, { signal, progress }) {
    progress('waiting', 1, 2);
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    );
    return {};
  },
});

/** A small toolkit that exercises every path of the kernel. */
export const ledgerToolkit = (gate = new Gate()): Toolkit =>
  defineToolkit<LedgerServices>({
    id: 'ledger',
    title: 'Ledger',
    tools: [read, write, blind, erase, permitted, batch, survey, slow],
    async connect(host) {
      return { db: host.db<unknown>(), gate };
    },
  }) as unknown as Toolkit;
