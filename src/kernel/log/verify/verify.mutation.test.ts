import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { propertyRuns } from '../../../../test/support/property-runs.ts';
import { LogScribe, writeSampleLog } from '../../../../test/support/sample-log.ts';
import type { VerifyReport } from './report.ts';
import { verifyLog } from './verify.ts';

type Row = Record<string, string | number | null>;

/**
 * Every table of the log with every column that means something, and what says which row is meant. Nodes are stored of
 * larger logs only: verify.pages.test.ts changes those.
 */
const COLUMNS = {
  audit_log: ['seq', 'hash', 'call_id', 'run_id', 'kind', 'at', 'body'],
  audit_head: ['id', 'size', 'frontier'],
  audit_checkpoints: ['size', 'root', 'note', 'at'],
  audit_payloads: ['call_id', 'kind', 'hash', 'salt', 'body', 'at', 'erased_at'],
  artifacts: ['id', 'size'],
  call_artifacts: ['call_id', 'artifact_id', 'name'],
} as const;
type TableName = keyof typeof COLUMNS;
const TABLES = Object.keys(COLUMNS) as TableName[];

/** One bit of one value. A null has no bits; anything in its place is a change as well. */
function flip(value: string | number | null, position: number, bit: number): string | number {
  if (value === null) return 'x';
  // High enough to meet no other row's key, up to the last bit that an integer column has.
  if (typeof value === 'number') return value ^ (1 << (6 + (bit % 25)));
  if (value === '') return 'x';
  const at = position % value.length;
  let code = value.charCodeAt(at);
  // Stay within what both engines can store: no NUL, nothing beyond ASCII.
  for (let turn = 0; turn < 7; turn += 1) {
    const changed = code ^ (1 << ((bit + turn) % 7));
    if (changed !== 0 && changed < 128) {
      code = changed;
      break;
    }
  }
  return value.slice(0, at) + String.fromCharCode(code) + value.slice(at + 1);
}

describe.each(ENGINES)('one flipped bit on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;
  const original = new Map<TableName, Row[]>();

  beforeAll(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
    await writeSampleLog(scribe);
    for (const table of TABLES) {
      const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(store.database.db);
      original.set(table, rows);
    }
    expect(await verify()).toMatchObject({ ok: true, problems: [] });
  });
  afterAll(() => store.close());

  const verify = () => verifyLog(store.database, { artifacts: scribe.artifacts });
  const rowsOf = (table: TableName) => original.get(table) ?? [];

  async function replace(table: TableName, rows: readonly Row[]): Promise<void> {
    await store.database.write(async (trx) => {
      await sql`delete from ${sql.table(table)}`.execute(trx);
      for (const row of rows) {
        const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
        await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(row))})`.execute(
          trx,
        );
      }
    });
  }

  async function verifyWith(
    table: TableName,
    index: number,
    column: string,
    value: string | number,
  ): Promise<VerifyReport> {
    const rows = rowsOf(table).map((row, at) => (at === index ? { ...row, [column]: value } : row));
    await replace(table, rows);
    try {
      return await verify();
    } finally {
      await replace(table, rowsOf(table));
    }
  }

  const describeReport = ({ problems }: VerifyReport) => problems.map(({ message }) => message).join('\n');

  function expectNamed(table: TableName, row: Row, report: VerifyReport): void {
    const where = `${table} ${JSON.stringify(row)}\n${describeReport(report)}`;
    expect(report.ok, where).toBe(false);
    if (table === 'audit_log') expect(report.first?.seq, where).toBe(row.seq);
    if (table === 'audit_payloads')
      expect(describeReport(report), where).toContain(`${row.kind} payload of call ${row.call_id}`);
    if (table === 'artifacts') expect(describeReport(report), where).toContain(String(row.id));
    if (table === 'call_artifacts') expect(describeReport(report), where).toContain(String(row.artifact_id));
  }

  // PostgreSQL takes far longer per try and stores the same rows: one row of each table is enough there.
  const sample = (rows: readonly Row[]) =>
    rows
      .map((_, index) => index)
      .filter((index) => engine === 'sqlite' || index === rows.length - 2 || rows.length === 1);

  for (const table of TABLES) {
    it.each(COLUMNS[table].map((column) => [column]))(
      `is named wherever it is in ${table}.%s`,
      async (column) => {
        for (const index of sample(rowsOf(table))) {
          const row = rowsOf(table)[index] ?? {};
          const value = row[column] ?? null;
          const report = await verifyWith(table, index, column, flip(value, 37 * (index + 1), index));
          expectNamed(table, row, report);
        }
      },
    );
  }

  it('is named at any place of any value', async () => {
    const place = fc.record({
      table: fc.constantFrom(...TABLES),
      row: fc.nat(),
      column: fc.nat(),
      position: fc.nat(),
      bit: fc.nat({ max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(place, async ({ table, row, column, position, bit }) => {
        const index = row % rowsOf(table).length;
        const name = COLUMNS[table][column % COLUMNS[table].length] ?? '';
        const found = rowsOf(table)[index] ?? {};
        const flipped = flip(found[name] ?? null, position, bit);
        const report = await verifyWith(table, index, name, flipped).catch((error: Error) => {
          // The key of another row: no store would hold that.
          if (/unique/i.test(error.message)) return undefined;
          throw error;
        });
        fc.pre(report !== undefined);
        if (report) expectNamed(table, found, report);
      }),
      { numRuns: propertyRuns(engine === 'sqlite' ? 150 : 15) },
    );
  });
});
