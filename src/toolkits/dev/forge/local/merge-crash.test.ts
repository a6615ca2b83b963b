import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStorage } from '../../../../app/open-storage.ts';
import type { DevTables } from '../../tables.ts';
import { type DevWorld, git, makeRepo, openWorld, tempFolder } from '../../test/support/dev.ts';

const ADA = { kind: 'person', id: 'ada' } as const;

describe('a merge that was cut off', () => {
  let world: DevWorld;
  let repo: string;
  let storageUrl: string;
  const args = { repo: '.', pr_number: 2 };

  beforeEach(async () => {
    const folder = tempFolder();
    repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
    storageUrl = join(folder, 'store.db');
    world = await openWorld({ cwd: repo, folder, storageUrl });
    const run_id = await world.run('.');
    await world.call('github_issues_create', { run_id, title: 'one is wrong', body: '' });
    await world.call('code_branch_pr_create', {
      run_id,
      approval_id: '1',
      base_branch: 'main',
      head_branch: 'fix/a',
      commit_message: 'm',
      pr_title: 't',
      pr_body: 'Fixes #1',
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
    const tables = db as unknown as Kysely<DevTables>;
    await tables.updateTable('dev_pulls').set(columns).execute();
    await tables.updateTable('dev_issues').set({ state: 'open', closed_at: null, closed_by: null }).execute();
    await close();
  };

  it('after the base had moved is settled as done, and stays merged', async () => {
    const { data } = await world.call(
      'dev_pr_merge',
      { ...args, method: 'squash' },
      { principal: ADA, callId: 'm1' },
    );
    await rewind((data as { merge_commit: string }).merge_commit);
    expect(await world.view('pr', { number: 2 })).toMatchObject({ pr: { merged: false } });
    expect(await world.reconcile('dev_pr_merge', args, 'm1')).toMatchObject({
      settled: 'done',
      data: { merged: true, merge_commit: git(repo, 'rev-parse', 'main') },
    });
    expect(await world.view('pr', { number: 2 })).toMatchObject({ pr: { merged: true } });
  });

  it.each(['merge', 'squash'])('closes the issues it fixes when a %s is settled', async (method) => {
    const { data } = await world.call('dev_pr_merge', { ...args, method }, { principal: ADA, callId: 'm1' });
    await rewind((data as { merge_commit: string }).merge_commit);
    expect(await world.view('issue', { number: 1 })).toMatchObject({ issue: { state: 'open' } });
    await world.reconcile('dev_pr_merge', args, 'm1');
    expect(await world.view('issue', { number: 1 })).toMatchObject({ issue: { state: 'closed' } });
  });

  it('leaves issues open when the merge is settled as not done', async () => {
    const tree = git(repo, 'rev-parse', 'fix/a^{tree}');
    await rewind(git(repo, 'commit-tree', tree, '-p', 'main', '-m', 'never reached'));
    await world.reconcile('dev_pr_merge', args, 'm1');
    expect(await world.view('issue', { number: 1 })).toMatchObject({ issue: { state: 'open' } });
  });

  it('before the base moved is settled as not done, and can be merged again', async () => {
    const tree = git(repo, 'rev-parse', 'fix/a^{tree}');
    await rewind(git(repo, 'commit-tree', tree, '-p', 'main', '-m', 'never reached'));
    expect(await world.reconcile('dev_pr_merge', args, 'm1')).toEqual({ settled: 'not_done' });
    expect(await world.reconcile('dev_pr_merge', args, 'never heard of')).toEqual({ settled: 'not_done' });
    expect((await world.call('dev_pr_merge', args, { principal: ADA })).data).toMatchObject({ merged: true });
  });
});
