import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildChild } from '../../../../../test/support/child.ts';
import type { JsonObject } from '../../../../contract/json.ts';
import { git, makeRepo, openWorld, snapshot, tempFolder } from '../../test/support/dev.ts';
import { startGithub } from '../../test/support/github-double.ts';
import type { GithubDouble } from '../../test/support/github-shapes.ts';

/** Far more than publishing takes; the loop ends when a child gets through. */
const MAX_STEPS = 60;

const writing = (requests: readonly string[]) => requests.filter((name) => !name.startsWith('GET '));

describe('a process killed at every request of a code change on GitHub', () => {
  let folder: string;
  let bare: string;
  let clone: string;
  let github: GithubDouble;
  let config: JsonObject;

  beforeEach(async () => {
    folder = tempFolder();
    bare = join(folder, 'hub.git');
    clone = join(folder, 'clone');
    git(folder, 'clone', '-q', '--bare', makeRepo(join(folder, 'source'), { 'a.txt': 'one\n' }), bare);
    git(folder, 'clone', '-q', bare, clone);
    github = await startGithub(bare);
    config = {
      limits: { pull_requests: 1000 },
      repos: { 'acme/app': { forge: 'github', path: clone } },
      github: { base_url: github.url, token: 'tok' },
    };
  });
  afterEach(async () => {
    await github.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = () => openWorld({ cwd: '/', folder, storageUrl: join(folder, 'store.db'), config });

  /** GitHub acts on the request of this number, and its sender dies before the answer. */
  const publish = async (args: object, callId: string, turn: number): Promise<number | string> => {
    const script = await buildChild('dev-publisher');
    const argv = [script, folder, JSON.stringify(config), JSON.stringify(args), callId];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] });
    github.requests.length = 0;
    github.fault = (_name, at) => {
      if (at !== turn) return undefined;
      child.kill('SIGKILL');
      return 'act-and-drop';
    };
    const ended = await new Promise<number | string>((resolve) =>
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
    );
    github.fault = () => undefined;
    return ended;
  };

  it('is settled by reading alone, opens no second pull request, and lets the next attempt through', async () => {
    const first = await open();
    const run_id = await first.run('acme/app');
    await first.closeStore();
    const untouched = snapshot(clone);
    const settledAt = new Map<string, string>();
    let completed = false;
    for (let turn = 1; turn <= MAX_STEPS && !completed; turn += 1) {
      const head = `fix/${turn}`;
      const args = {
        run_id,
        approval_id: '1',
        base_branch: 'main',
        head_branch: head,
        commit_message: 'm',
        pr_title: head,
        files: [{ path: 'a.txt', original_content: 'one\n', modified_content: `${head}\n` }],
      };
      const ended = await publish(args, `call-${turn}`, turn);
      completed = ended === 0;
      if (!completed) expect(ended).toBe('SIGKILL');
      const step = github.requests[turn - 1] ?? 'none';
      const pulls = () => github.pulls.filter((pull) => pull.head === head);
      const branch = () => git(bare, 'for-each-ref', `refs/heads/${head}`) !== '';

      const world = await open();
      const left = { branch: branch(), pulls: pulls().length, refs: git(bare, 'for-each-ref') };
      github.requests.length = 0;
      const outcome = await world.reconcile('code_branch_pr_create', args, `call-${turn}`);
      expect(outcome.settled, step).toBe(left.pulls === 1 ? 'done' : 'not_done');
      expect(github.requests, step).not.toEqual([]);
      expect(writing(github.requests), step).toEqual([]);
      expect({ branch: branch(), pulls: pulls().length, refs: git(bare, 'for-each-ref') }, step).toEqual(
        left,
      );
      if (!completed) settledAt.set(step, `${outcome.settled}, branch ${left.branch}`);

      const again = await world.call('code_branch_pr_create', args);
      expect(again.data, step).toMatchObject({ pull_request: { state: 'open', head: { ref: head } } });
      expect((again.data as { existed?: boolean }).existed ?? false, step).toBe(left.branch);
      expect(pulls(), step).toHaveLength(1);
      expect(git(bare, 'rev-parse', `${head}^`), step).toBe(git(bare, 'rev-parse', 'main'));
      expect(git(bare, 'show', `${head}:a.txt`), step).toBe(head);
      expect(snapshot(clone), step).toBe(untouched);
      await world.closeStore();
    }
    expect(completed).toBe(true);
    // The pull request is the step that counts; all that can be left before it was reached.
    expect(settledAt.get('POST /git/commits')).toBe('not_done, branch false');
    expect(settledAt.get('POST /git/refs')).toBe('not_done, branch true');
    expect(settledAt.get('POST /pulls')).toBe('done, branch true');
  }, 300_000);
});
