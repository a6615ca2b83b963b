import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import {
  type DevWorld,
  git,
  makeRepo,
  openWorld,
  snapshot,
  tempFolder,
} from '../../src/toolkits/dev/test/support/dev.ts';
import { startGithub } from '../../src/toolkits/dev/test/support/github-double.ts';
import { toolkit as dev } from '../../src/toolkits/dev/toolkit.ts';
import { namedPosts, putMedia } from '../../src/toolkits/x/test/support/call-world.ts';
import { openXKit } from '../../src/toolkits/x/test/support/kit.ts';
import { toolkit as x } from '../../src/toolkits/x/toolkit.ts';
import { argsOf, type CallWorld } from '../support/calls/x.ts';
import { PERSON } from '../support/kernel.ts';

const writing = (requests: readonly string[]) => requests.filter((name) => !name.startsWith('GET '));
const names = (tools: readonly { readonly name: string; readonly reconcile?: unknown }[]) =>
  tools.filter(({ reconcile }) => reconcile !== undefined).map(({ name }) => name);

/** No pause, policy or limit is checked before `reconcile`, so it must not be able to do anything. */
describe('looking for what became of a call sends nothing but reads', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('to X, whether the call had arrived or not', async () => {
    await using kit = await openXKit();
    putMedia(kit.dataDir);
    const sent: string[] = [];
    const { fetch } = globalThis;
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      sent.push(`${init?.method ?? 'GET'} ${String(input)}`);
      return fetch(input, init);
    });
    const { items } = await kit.sandbox.control('look', { collection: 'posts' });
    const own = (items as { id: string; author_id: string }[]).find(
      (post) => post.author_id === '2001000001',
    );
    const world: CallWorld = {
      ids: {
        ...(await namedPosts(kit.sandbox)),
        $post: '1234567890',
        $user: '2001000012',
        $own: own?.id ?? '',
        $dir: kit.dataDir,
      },
      data: kit.data,
      callId: () => Promise.reject(new Error('not needed')),
      pending: () => Promise.reject(new Error('not needed')),
      answerOnce() {},
    };
    const looked = new Set<string>();
    const failed: string[] = [];
    const settling = x.tools.filter(({ reconcile }) => reconcile);
    // What the others work on is removed last.
    for (const tool of settling.sort(
      (a, b) => Number(a.effect === 'destroy') - Number(b.effect === 'destroy'),
    )) {
      const given =
        tool.name === 'x_post'
          ? { endpoint: '/2/tweets', body: '{"text":"Below the typed tools"}' }
          : await argsOf(world, tool.name);
      const parsed = tool.input.parse(given);
      if (!parsed.ok) throw new Error(`${tool.name}: ${JSON.stringify(parsed.issues)}`);
      const look = async (callId: string) => {
        sent.length = 0;
        await tool.reconcile?.(parsed.value as JsonObject, {
          services: kit.services,
          callId,
          startedAt: kit.clock.now(),
          signal: AbortSignal.timeout(30_000),
        });
        expect(writing(sent), tool.name).toEqual([]);
        if (sent.length > 0) looked.add(tool.name);
      };
      await look('never-ran');
      const { outcome, callId } = await kit.call(tool.name, given, { principal: PERSON });
      const ran =
        outcome.status === 'routed'
          ? (await kit.kernel.approvals.approve(outcome.approvalUuid, PERSON)).outcome
          : outcome;
      if (ran?.status !== 'ok') failed.push(tool.name);
      await look(callId);
    }
    // Only what is kept in our own store, or can never be seen, is settled without asking X.
    expect(names(x.tools).filter((name) => !looked.has(name))).toEqual([
      'compose_tweet',
      'propose_and_queue_replies',
      'x_post_thread',
      'x_upload_media',
      'x_v2_tweets_hide_reply',
      'x_v2_tweets_unhide_reply',
    ]);
    expect(failed).toEqual([]);
  }, 120_000);

  const CALLS = (run_id: string): Record<string, JsonObject> => ({
    runs_create: { repo: 'acme/app', purpose: 'again' },
    github_issues_create: { run_id, title: 'T', body: 'B' },
    github_issues_batch_create: { run_id, issues: [{ title: 'T2', body: 'B' }] },
    code_branch_pr_create: {
      run_id,
      approval_id: '1',
      base_branch: 'main',
      head_branch: 'fix/a',
      commit_message: 'm',
      pr_title: 't',
      files: [{ path: 'a.txt', original_content: 'one\n', modified_content: 'two\n' }],
    },
    github_pr_comment_create: { run_id, pr_number: 3, body: 'Hi' },
    code_branch_pr_update: {
      run_id,
      approval_id: '1',
      pr_number: 3,
      commit_message: 'more',
      files: [{ path: 'a.txt', original_content: 'two\n', modified_content: 'three\n' }],
    },
    qa_test: { run_id },
    qa_lint: { run_id },
    dev_issue_close: { repo: 'acme/app', issue_number: 1 },
    dev_pr_review: { repo: 'acme/app', pr_number: 3, state: 'commented', body: 'B' },
    dev_pr_merge: { repo: 'acme/app', pr_number: 3 },
    dev_pr_close: { repo: 'acme/app', pr_number: 3 },
  });

  /** Looks before and after each call; `seen` gives all that could have been touched. */
  const lookAtAll = async (world: DevWorld, seen: () => unknown): Promise<string[]> => {
    const calls = CALLS(await world.run('acme/app'));
    expect(Object.keys(calls).sort()).toEqual(names(dev.tools).sort());
    const settled: string[] = [];
    for (const [name, args] of Object.entries(calls)) {
      const callId = `call-${name}`;
      const look = async () => {
        const before = seen();
        const settlement = await world.reconcile(name, args, callId).catch(() => undefined);
        expect(seen(), name).toEqual(before);
        return settlement?.settled ?? 'refused';
      };
      const first = await look();
      await world.call(name, args, { callId, principal: PERSON }).catch(() => {});
      settled.push(`${name}: ${first}, ${await look()}`);
    }
    return settled;
  };

  it.each(['github', 'local'] as const)('to a repository on forge %s, nor moves a branch', async (forge) => {
    const folder = tempFolder();
    const bare = join(folder, 'hub.git');
    const clone = join(folder, 'clone');
    git(folder, 'clone', '-q', '--bare', makeRepo(join(folder, 'source'), { 'a.txt': 'one\n' }), bare);
    git(folder, 'clone', '-q', bare, clone);
    const github = await startGithub(bare);
    const world = await openWorld({
      cwd: '/',
      folder,
      config: {
        repos: { 'acme/app': { forge, path: clone, ...(forge === 'local' ? { remote: 'origin' } : {}) } },
        qa: { sandbox: 'off', test: ['true'], lint: ['true'] },
        github: { base_url: github.url, token: 'tok' },
      },
    });
    const seen = () => ({
      requests: writing(github.requests),
      refs: git(bare, 'for-each-ref'),
      clone: snapshot(clone),
    });
    const settled = await lookAtAll(world, seen);
    const people = forge === 'github' ? 'refused, refused' : 'not_done, done';
    expect(settled).toEqual([
      'runs_create: not_done, done',
      'github_issues_create: not_done, done',
      'github_issues_batch_create: not_done, not_done',
      'code_branch_pr_create: not_done, done',
      'github_pr_comment_create: not_done, done',
      'code_branch_pr_update: not_done, done',
      'qa_test: not_done, not_done',
      'qa_lint: not_done, not_done',
      `dev_issue_close: ${people}`,
      `dev_pr_review: ${people}`,
      `dev_pr_merge: ${people}`,
      `dev_pr_close: ${people === 'not_done, done' ? 'done, done' : people}`,
    ]);
    await github.close();
    await world.close();
  });
});
