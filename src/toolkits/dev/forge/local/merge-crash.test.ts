import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DevWorld, git, makeRepo, openWorld, tempFolder } from '../../../../../test/support/dev.ts';
import { openStorage } from '../../../../storage/open.ts';
import type { DevTables } from '../../tables.ts';

const ADA = { kind: 'person', id: 'ada' } as const;

describe('a merge that was cut off', () => {
  let world: DevWorld;
  let repo: string;
  let storageUrl: string;
  const args = { repo: '.', pr_number: 1 };

  beforeEach(async () => {
    const folder = tempFolder();
    repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
    storageUrl = join(folder, 'store.db');
    world = await openWorld({ cwd: repo, folder, storageUrl });
    await world.call('code_branch_pr_create', {
      run_id: await world.run('.'),
      approval_id: '1',
      base_branch: 'main',
      head_branch: 'fix/a',
      commit_message: 'm',
      pr_title: 't',
      files: [{ path: 'a.txt', original_content: 'one\n', modified_content: 'two\n' }],
    });
  });
  afterEach(() => world.close());

  /** Puts the row back to what it was after the merge commit was noted. */
  const rewind = async (commit: string) => {
    const { db, close } = await openStorage({ url: storageUrl });
    const columns = {
      state: 'open',
      merge_commit: commit,
      merge_call_id: 'm1',
      closed_at: null,
      closed_by: null,
    } as const;
    await (db as unknown as Kysely<DevTables>).updateTable('dev_pulls').set(columns).execute();
    await close();
  };

  it('after the base had moved is settled as done, and stays merged', async () => {
    const { data } = await world.call(
      'dev_pr_merge',
      { ...args, method: 'squash' },
      { principal: ADA, callId: 'm1' },
    );
    await rewind((data as { merge_commit: string }).merge_commit);
    expect(await world.view('pr', { number: 1 })).toMatchObject({ pr: { merged: false } });
    expect(await world.reconcile('dev_pr_merge', args, 'm1')).toMatchObject({
      settled: 'done',
      data: { merged: true, merge_commit: git(repo, 'rev-parse', 'main') },
    });
    expect(await world.view('pr', { number: 1 })).toMatchObject({ pr: { merged: true } });
  });

  it('before the base moved is settled as not done, and can be merged again', async () => {
    const tree = git(repo, 'rev-parse', 'fix/a^{tree}');
    await rewind(git(repo, 'commit-tree', tree, '-p', 'main', '-m', 'never reached'));
    expect(await world.reconcile('dev_pr_merge', args, 'm1')).toEqual({ settled: 'not_done' });
    expect(await world.reconcile('dev_pr_merge', args, 'never heard of')).toEqual({ settled: 'not_done' });
    expect((await world.call('dev_pr_merge', args, { principal: ADA })).data).toMatchObject({ merged: true });
  });
});
