import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import { ApprovalRowCheck } from './approval-rows.ts';
import { CounterCheck } from './counter-rows.ts';
import { KeyRowCheck } from './key-rows.ts';
import type { Problems } from './report.ts';
import { SettingCheck } from './setting-rows.ts';
import { StandingRowCheck } from './standing.ts';

export interface RowFault {
  /** The entry that the row disagrees with. */
  readonly seq: number | undefined;
  readonly message: string;
}

/** Takes in every entry, then compares rows that change with what the entries add up to. */
export interface StateCheck {
  take(seq: number, entry: Entry): void;
  compare(database: Database): Promise<RowFault[]>;
}

const BATCH = 500;
/** While others write, rows run ahead of what was read: what stays wrong that often is wrong. */
const ROUNDS = 5;

/** Rows that say how things stand (approvals, counters, settings, agents, idempotency keys) against the log. */
export class StateRows {
  readonly #database: Database;
  readonly #problems: Problems;
  readonly #checks: readonly StateCheck[] = [
    new ApprovalRowCheck(),
    new StandingRowCheck(),
    new CounterCheck(),
    new SettingCheck(),
    new KeyRowCheck(),
  ];
  #next = 0;

  constructor(database: Database, problems: Problems) {
    this.#database = database;
    this.#problems = problems;
  }

  take(seq: number, entry: Entry): void {
    this.#next = seq + 1;
    for (const check of this.#checks) check.take(seq, entry);
  }

  /** Plain reads change none of these rows. */
  skipTo(seq: number): void {
    this.#next = seq;
  }

  async finish(): Promise<void> {
    let persistent: Map<string, RowFault> | undefined;
    for (let round = 0; round < ROUNDS; round += 1) {
      await this.#catchUp();
      const before = this.#next;
      const found = new Map<string, RowFault>();
      for (const check of this.#checks) {
        for (const fault of await check.compare(this.#database)) found.set(fault.message, fault);
      }
      const earlier = persistent;
      persistent = earlier ? new Map([...found].filter(([message]) => earlier.has(message))) : found;
      if (persistent.size === 0) return;
      await this.#catchUp();
      if (this.#next === before) break;
    }
    for (const { seq, message } of persistent?.values() ?? []) this.#problems.add('row', seq, message);
  }

  /** Entries that came while the log was being read. */
  async #catchUp(): Promise<void> {
    for (;;) {
      const rows = await this.#database.db
        .selectFrom('audit_log')
        .select(['seq', 'body'])
        .where('seq', '>=', this.#next)
        .orderBy('seq')
        .limit(BATCH)
        .execute();
      for (const { seq, body } of rows) {
        this.#next = seq + 1;
        const entry = readEntry(body);
        if (entry) for (const check of this.#checks) check.take(seq, entry);
      }
      if (rows.length < BATCH) return;
    }
  }
}

function readEntry(body: string): Entry | undefined {
  try {
    return JSON.parse(body) as Entry;
  } catch {
    return undefined;
  }
}
