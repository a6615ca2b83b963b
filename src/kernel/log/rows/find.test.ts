import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { digest } from '../../../lib/canonical.ts';
import type { CallsTable } from '../../store/tables.ts';
import { entriesAbout } from './approval-entries.ts';
import { findDifferences, findShownDifferences } from './find.ts';

const MISSING = ['has entries, but its row is missing'];

describe('calls compared with their entries', () => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  /** The row of the call that `scribe.change` writes, with other times and evidence. */
  const insert = (more: Partial<CallsTable> = {}) =>
    store.database.db
      .insertInto('calls')
      .values({
        call_id: 'call',
        parent_id: null,
        started_at: 'other',
        finished_at: '2026-01-01T00:00:02.000Z',
        tool: 'post',
        toolkit: 'x',
        category: 'c',
        effect: 'change',
        principal: 'agent:local',
        client: null,
        transport: '',
        run_id: null,
        digest: digest('post', { text: 'post of call' }),
        status: 'ok',
        code: null,
        decision: 'allow',
        rule: null,
        latency_ms: 1,
        evidence_hash: 'other',
        approval_id: null,
        approver: null,
        replay_of: null,
        holder_host: null,
        holder_pid: null,
        lease_until: null,
        ...more,
      })
      .execute();
  const shown = async () =>
    (await findShownDifferences(store.database, ['call'], ['args', 'result'])).get('call');

  it('are all answered for, also when there are more than one statement asks for', async () => {
    const unknown = Array.from({ length: 450 }, (_, index) => `unknown-${index}`);
    await scribe.read('first');
    await scribe.read('last');
    const found = await findDifferences(store.database, ['first', ...unknown, 'last']);
    expect(found.size).toBe(452);
    expect(found.get('first')).toEqual(MISSING);
    expect(found.get('last')).toEqual(MISSING);
    expect(unknown.flatMap((call) => found.get(call) ?? ['not answered'])).toEqual([]);
    expect((await findDifferences(store.database, [])).size).toBe(0);
  });

  it('have entries that cannot be read left out', async () => {
    await scribe.read('call');
    await store.database.db.updateTable('audit_log').set({ body: '{' }).execute();
    expect((await findDifferences(store.database, ['call'])).get('call')).toEqual([]);
  });

  it('are compared with all their entries, in order', async () => {
    await scribe.change('call');
    await insert({ status: 'running' });
    expect((await findDifferences(store.database, ['call'])).get('call')).toEqual([
      'says started_at is "other", but its entries say "2026-01-01T00:00:01.000Z"',
      'says status is "running", but its entries say "ok"',
      expect.stringMatching(/^says evidence_hash is "other"/),
    ]);
  });

  it('are shown as changed when one of their entries was, and as missing without a row', async () => {
    await scribe.change('call');
    expect(await shown()).toEqual(MISSING);
    await store.database.db
      .updateTable('audit_log')
      .set({ hash: 'other' })
      .where('kind', '=', 'outcome')
      .execute();
    expect(await shown()).toEqual(['has an entry that was changed', ...MISSING]);
  });

  it('are shown without a result while they run', async () => {
    await scribe.write({ kind: 'intent', call: 'call' }, { args: { text: 'post' } });
    expect(await shown()).toEqual(MISSING);
  });

  it('are shown as without entries, or with an approval that is none, whatever their row names', async () => {
    const { db } = store.database;
    await insert({ approval_id: 1_000_000 });
    expect(await shown()).toEqual(['has a row, but no entry']);
    await scribe.change('call');
    expect(await shown()).toContain('says approval_id is "1000000", but its entries say "none"');
    await db.updateTable('calls').set({ approval_id: null }).execute();
    expect((await shown())?.filter((text) => text.includes('approval'))).toEqual([]);
  });

  it('are found by the approval that their entries are about', async () => {
    await scribe.read('other');
    const [one, two] = ['10000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000002'];
    await scribe.approve(one, 'sha256:a');
    await scribe.approve(two, 'sha256:b');
    const about = await entriesAbout(store.database.db, 'sqlite', one);
    expect(about.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(await entriesAbout(store.database.db, 'sqlite', one.replace(/1$/, '3'))).toEqual([]);
    expect(await entriesAbout(store.database.db, 'sqlite', [])).toEqual([]);
    expect(await entriesAbout(store.database.db, 'sqlite', [one, two], ['approval'])).toHaveLength(4);
    expect(await entriesAbout(store.database.db, 'sqlite', [one, two], ['edit'])).toEqual([]);
  });
});
