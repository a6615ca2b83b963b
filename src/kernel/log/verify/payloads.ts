import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { AuditPayloadsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { fits, wasKept } from '../log.ts';
import { checkPayload } from '../rows/payload-row.ts';
import type { Problems } from './report.ts';

interface Reference {
  readonly seq: number;
  readonly call: string;
  readonly kind: string;
  readonly hash: string;
  readonly at: string;
  /** Found as it should be. */
  sound: boolean;
}

/** Compares the payloads that entries of a page refer to with what is stored. */
export class PayloadCheck {
  readonly #database: Database;
  readonly #problems: Problems;
  /** By the text of the row's columns as they are when nothing happened to it. */
  #expected = new Map<string, Reference>();
  /** Erasures as the log records them, and as the rows do: time → how many. */
  readonly #logged = new Map<string, number>();
  readonly #seen = new Map<string, { count: number; readonly seq: number }>();
  #verified = 0;
  #unkept = 0;
  #erased = 0;

  constructor(database: Database, problems: Problems) {
    this.#database = database;
    this.#problems = problems;
  }

  get counts(): { verified: number; unkept: number; erased: number } {
    return { verified: this.#verified, unkept: this.#unkept, erased: this.#erased };
  }

  get total(): number {
    return this.#verified + this.#unkept + this.#erased;
  }

  /** Payloads that were found in order elsewhere. */
  add(verified: number, unkept: number): void {
    this.#verified += verified;
    this.#unkept += unkept;
  }

  take(seq: number, { kind, call, at, args, result, extra }: Entry): void {
    if (kind === 'erasure') {
      const count = typeof extra?.payloads === 'number' ? extra.payloads : 0;
      this.#logged.set(at, (this.#logged.get(at) ?? 0) + count);
    }
    if (call === undefined) return;
    if (args !== undefined) this.#expect({ seq, call, kind: 'args', hash: args, at, sound: false });
    if (result !== undefined) this.#expect({ seq, call, kind: 'result', hash: result, at, sound: false });
  }

  #expect(reference: Reference): void {
    const { call, kind, hash, at } = reference;
    this.#expected.set(`${call}|${kind}|${hash}|${at}|`, reference);
  }

  async checkPage(): Promise<void> {
    const expected = this.#expected;
    if (expected.size === 0) return;
    this.#expected = new Map();
    const { columns, salted } = await this.#pageText(expected);
    let sound = 0;
    columns.forEach((line, index) => {
      const reference = expected.get(line);
      if (!reference || reference.sound || !fits(reference.hash, salted[index] ?? '')) return;
      reference.sound = true;
      sound += 1;
      if (wasKept(reference.hash)) this.#verified += 1;
      else this.#unkept += 1;
    });
    if (sound < expected.size) await this.#inspect([...expected.values()].filter((one) => !one.sound));
  }

  /** Rows that say they were erased must be the ones that the log says were. */
  finish(later: readonly Entry[]): void {
    for (const [at, { count, seq }] of this.#seen) {
      const logged = this.#logged.get(at);
      if (logged === count || later.some((entry) => entry.at === at)) continue;
      const message =
        logged === undefined
          ? `A payload of entry ${seq} says it was erased at ${at}, but the log has no record of an erasure at that time.`
          : `${count} payloads say they were erased at ${at}, but the log says ${logged} were.`;
      this.#problems.add('payload', seq, message);
    }
  }

  /** Two texts with one line per payload, as pages of entries are read. */
  async #pageText(
    expected: ReadonlyMap<string, Reference>,
  ): Promise<{ columns: readonly string[]; salted: readonly string[] }> {
    const calls = new Set<string>();
    for (const { call } of expected.values()) calls.add(call);
    const list = JSON.stringify([...calls]);
    const isPostgres = this.#database.engine === 'postgres';
    const joined = (text: RawBuilder<unknown>) =>
      isPostgres
        ? sql<string>`string_agg(${text}, chr(10) order by call_id, kind)`
        : sql<string>`group_concat(${text}, char(10))`;
    // The cross join keeps SQLite from walking the whole table when the list is long.
    const wanted = isPostgres
      ? sql`jsonb_array_elements_text(${list}::jsonb) as wanted (value)`
      : sql`json_each(${list}) as wanted`;
    const line = sql`call_id || '|' || kind || '|' || hash || '|' || at || '|' || coalesce(erased_at, '')`;
    const { rows } = await sql<{ columns: string | null; salted: string | null }>`
      select ${joined(line)} as columns, ${joined(sql`salt || coalesce(body, '')`)} as salted
      from ${wanted} cross join audit_payloads where call_id = wanted.value
    `.execute(this.#database.db);
    const split = (text: string | null | undefined) => text?.split('\n') ?? [];
    return { columns: split(rows[0]?.columns), salted: split(rows[0]?.salted) };
  }

  /** The slow way, for what is not simply in order: erased payloads, ids with line breaks, and damage. */
  async #inspect(references: readonly Reference[]): Promise<void> {
    const rows = new Map<string, AuditPayloadsTable>();
    const calls = [...new Set(references.map(({ call }) => call))];
    while (calls.length > 0) {
      const found = await this.#database.db
        .selectFrom('audit_payloads')
        .selectAll()
        .where('call_id', 'in', calls.splice(0, 500))
        .execute();
      for (const row of found) rows.set(`${row.call_id}|${row.kind}`, row);
    }
    for (const reference of references) {
      const { seq, call, kind } = reference;
      const fault = this.#check(reference, rows.get(`${call}|${kind}`));
      if (fault)
        this.#problems.add('payload', seq, `Entry ${seq}: the ${kind} payload of call ${call} ${fault}.`);
    }
  }

  #check(reference: Reference, row: AuditPayloadsTable | undefined): string | undefined {
    const verdict = checkPayload(reference, row);
    if (verdict.state === 'wrong') return verdict.why;
    if (verdict.state === 'verified') this.#verified += 1;
    else if (verdict.state === 'unkept') this.#unkept += 1;
    else this.#countErased(reference.seq, row?.erased_at ?? '');
    return undefined;
  }

  #countErased(seq: number, at: string): void {
    this.#erased += 1;
    const seen = this.#seen.get(at);
    if (seen) seen.count += 1;
    else this.#seen.set(at, { count: 1, seq });
  }
}
