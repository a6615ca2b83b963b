import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildChild } from '../../../../../test/support/child.ts';
import { git, makeRepo, openWorld, snapshot, tempFolder } from '../../test/support/dev.ts';

/**
 * A git that ends its caller, as kill -9 would, right before or after the writing command of a given number. Around a command that
 * only reads, everything is as after the last one that wrote.
 */
const WRAPPER = `#!/bin/sh
case " $* " in
  *' rev-parse '*|*' show-ref '*|*' config '*|*' ls-remote '*|*' ls-tree '*|*' diff-tree '*|*' merge-base '*) exec "$REAL_PROGRAM" "$@" ;;
esac
n=$(($(cat "$STEP_FILE") + 1))
echo $n > "$STEP_FILE"
if [ "$KILL_AT" = "before-$n" ]; then kill -9 $PPID; exit 1; fi
"$REAL_PROGRAM" "$@"
code=$?
if [ "$KILL_AT" = "after-$n" ]; then kill -9 $PPID; fi
exit $code
`;
/** Far more than publishing takes; the loop ends when a child gets through. */
const MAX_STEPS = 30;
/** Scratch repository, index, objects, commit, branch and the trial merge; the branch is pushed in between. */
const WRITES = { alone: 9, 'with a remote': 10 } as const;

describe.each(['alone', 'with a remote'] as const)(
  'a process killed around every writing step of branch creation, %s',
  (kind) => {
    let folder: string;
    let repo: string;
    let config: { limits: { pull_requests: number }; repos: { app: { path: string; remote?: string } } };

    beforeEach(() => {
      folder = tempFolder();
      mkdirSync(join(folder, 'data/dev/scratch'), { recursive: true });
      repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
      config = { limits: { pull_requests: 1000 }, repos: { app: { path: repo } } };
      if (kind === 'with a remote') {
        git(folder, 'clone', '-q', '--bare', repo, 'remote.git');
        git(repo, 'remote', 'add', 'origin', join(folder, 'remote.git'));
        config.repos.app.remote = 'origin';
      }
      mkdirSync(join(folder, 'bin'));
      writeFileSync(join(folder, 'bin/git'), WRAPPER);
      chmodSync(join(folder, 'bin/git'), 0o755);
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    const publish = async (args: object, callId: string, killAt: string): Promise<number | string> => {
      const script = await buildChild('dev-publisher');
      writeFileSync(join(folder, 'step'), '0');
      const child = spawn(
        process.execPath,
        [script, folder, JSON.stringify(config), JSON.stringify(args), callId],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
          env: {
            ...process.env,
            PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
            REAL_PROGRAM: execFileSync('which', ['git']).toString().trim(),
            STEP_FILE: join(folder, 'step'),
            KILL_AT: killAt,
          },
        },
      );
      return new Promise((resolve) =>
        child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
      );
    };
    const open = () =>
      openWorld({ cwd: '/', folder, storageUrl: join(folder, 'store.db'), config: { ...config } });

    it('leaves the clone clean, is settled by reading alone, and lets the next attempt through', async () => {
      const first = await openWorld({
        cwd: '/',
        folder: tempFolder(),
        storageUrl: join(folder, 'store.db'),
        config: { ...config },
      });
      const run_id = await first.run('app');
      await first.close();
      // Between two calls of git the store is written, so both sides of a call matter; one each keeps the test short.
      const when = kind === 'alone' ? 'before' : 'after';
      let completed = 0;
      let killed = 0;
      const settledAs = new Set<string>();
      for (let step = 1; step <= MAX_STEPS && completed < 1; step += 1) {
        const head_branch = `fix/${when}-${step}`;
        const callId = `call-${when}-${step}`;
        const args = {
          run_id,
          approval_id: '1',
          base_branch: 'main',
          head_branch,
          commit_message: 'm',
          pr_title: head_branch,
          files: [{ path: 'a.txt', original_content: 'one\n', modified_content: `${head_branch}\n` }],
        };
        const before = snapshot(repo);
        const ended = await publish(args, callId, `${when}-${step}`);
        if (ended === 0) completed += 1;
        else {
          expect(ended).toBe('SIGKILL');
          killed += 1;
        }

        // The wrapper's git may outlive its caller by a moment.
        await settle(repo, before, head_branch);
        // What git notes of a push, and the branch itself, are all that may have come.
        const mine = new RegExp(`^.*refs/(heads|remotes/origin)/${head_branch}\n?`, 'gm');
        expect(snapshot(repo).replace(mine, '').trim()).toBe(before.trim());

        const world = await open();
        expect(
          readdirSync(join(folder, 'data/dev/scratch')).filter((name) => !name.startsWith(`${process.pid}-`)),
        ).toEqual([]);
        const remote = kind === 'with a remote' ? join(folder, 'remote.git') : repo;
        const left = [snapshot(repo), git(remote, 'for-each-ref')];
        const outcome = await world.reconcile('code_branch_pr_create', args, callId);
        expect([snapshot(repo), git(remote, 'for-each-ref')]).toEqual(left);
        const exists = git(repo, 'for-each-ref', `refs/heads/${head_branch}`) !== '';
        const pushed = git(remote, 'for-each-ref', `refs/heads/${head_branch}`) !== '';
        settledAs.add(`${outcome.settled}${pushed && !exists ? ', pushed' : ''}`);
        expect(outcome.settled).toBe(exists ? 'done' : 'not_done');
        // A branch that only the remote has is named to the person, and nothing else is.
        const word = `The branch ${head_branch} exists on the remote origin at `;
        expect('left' in outcome && outcome.left?.startsWith(word)).toBe(pushed && !exists);
        const again = await world.call('code_branch_pr_create', args);
        expect(again.data).toMatchObject({ pull_request: { state: 'open', head: { ref: head_branch } } });
        const { prs } = (await world.view('prs', { repo: 'app', state: 'all', limit: 100 })) as {
          prs: { title: string }[];
        };
        expect(prs.filter(({ title }) => title === head_branch)).toHaveLength(1);
        if (kind === 'with a remote') {
          expect(git(remote, 'rev-parse', head_branch)).toBe(git(repo, 'rev-parse', head_branch));
        }
        await world.closeStore();
      }
      expect({ completed, killed }).toEqual({ completed: 1, killed: WRITES[kind] });
      expect([...settledAs].sort()).toEqual([
        'done',
        'not_done',
        ...(kind === 'with a remote' ? ['not_done, pushed'] : []),
      ]);
    }, 600_000);
  },
);

/** Waits until git is through: the branch is there, or nothing changed any more. */
async function settle(repo: string, before: string, branch: string): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (git(repo, 'for-each-ref', `refs/heads/${branch}`) !== '' || snapshot(repo) === before) return;
  }
}
