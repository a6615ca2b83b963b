import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../../test/support/engines.ts';
import { repoId } from '../../repos/candidates.ts';
import type { DevTables } from '../../tables.ts';
import { LocalStore } from './store.ts';

describe.each(ENGINES)('LocalStore on %s', (engine) => {
  let store: TestStore;
  let db: Kysely<DevTables>;
  const now = new Date();
  const stamp = (call_id: string) => ({
    author: 'agent:local',
    run_id: 'r',
    call_id,
    created_at: now.toISOString(),
  });
  const issue = (call_id: string) => ({ title: 't', body: 'b', labels: '[]', ...stamp(call_id) });
  const pull = (call_id: string, head_ref = 'x') => ({
    title: 't',
    body: 'b',
    state: 'opening' as const,
    draft: 0,
    base_ref: 'main',
    base_commit: 'b',
    head_ref,
    head_commit: 'h',
    ...stamp(call_id),
  });

  beforeEach(async () => {
    store = await openTestStore(engine);
    db = store.database.db as unknown as Kysely<DevTables>;
  });
  afterEach(() => store.close());

  it('numbers issues and pull requests of a repository without gaps or doubles, many in parallel', async () => {
    // SQLite's driver is synchronous: a second connection in this very process would wait for itself.
    const second = engine === 'postgres' ? await store.again() : store.database;
    const other = second.db as unknown as Kysely<DevTables>;
    const id = await repoId(db, { registered: undefined, path: '/a/.git', now });
    const stores = [new LocalStore(db, id), new LocalStore(other, id)];
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const one = stores[n % 2] as LocalStore;
        return n % 3 === 0 ? one.addPull(pull(`c${n}`)) : one.addIssue(issue(`c${n}`));
      }),
    );
    expect(rows.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
  });

  it('keeps repositories apart', async () => {
    const one = new LocalStore(db, await repoId(db, { registered: undefined, path: '/a/.git', now }));
    const two = new LocalStore(db, await repoId(db, { registered: 'two', path: '/b/.git', now }));
    await one.addIssue(issue('c1'));
    expect(await two.issues('all', 10)).toEqual([]);
    expect((await two.addIssue(issue('c2'))).number).toBe(1);
    expect(await two.issueOfCall('c1')).toBeUndefined();
  });

  it('stores one issue and one comment per call in every case', async () => {
    const local = new LocalStore(db, await repoId(db, { registered: undefined, path: '/a/.git', now }));
    await local.addIssue(issue('same'));
    await expect(local.addIssue(issue('same'))).rejects.toThrow();
    await local.addComment({ pr_number: 1, body: 'b', ...stamp('same') });
    await expect(local.addComment({ pr_number: 1, body: 'b', ...stamp('same') })).rejects.toThrow();
    expect(await local.issues('all', 10)).toHaveLength(1);
  });

  it('shows a pull request only once it is open', async () => {
    const local = new LocalStore(db, await repoId(db, { registered: undefined, path: '/a/.git', now }));
    const { number } = await local.addPull(pull('c1'));
    expect(await local.pull(number)).toBeUndefined();
    expect(await local.pulls('all', 10)).toEqual([]);
    expect(await local.livePull('x', 'h')).toMatchObject({ number });
    await local.setPull(number, { state: 'open' });
    expect(await local.pull(number)).toMatchObject({ state: 'open', head_ref: 'x' });
    await local.dropOpening(number);
    expect(await local.pull(number)).toMatchObject({ number });
  });

  it('closes an open issue once', async () => {
    const local = new LocalStore(db, await repoId(db, { registered: undefined, path: '/a/.git', now }));
    const { number } = await local.addIssue(issue('c1'));
    expect(await local.closeIssue(number, 'person:ada', now.toISOString())).toBe(true);
    expect(await local.closeIssue(number, 'person:ada', now.toISOString())).toBe(false);
  });
});
