import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startUp } from '../../../../test/e2e/support.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { DevClient } from './support/client.ts';
import { git, snapshot } from './support/dev.ts';
import type { Fault, GithubDouble } from './support/github-shapes.ts';
import { doubledPlace, type Place } from './support/places.ts';

/** How a person sees one approval after the other. */
interface Shown {
  readonly state: string;
  readonly outcome?: { readonly message?: string };
}

describe('a server that dies in the middle of a change on GitHub', () => {
  let place: Place;
  let server: Server;

  beforeAll(async () => {
    place = await doubledPlace();
  });
  afterAll(async () => {
    await server.stop();
    await place.close();
  });

  /** The server dies when GitHub gets this request for the nth time, having acted on it or not. */
  const dieAt = (double: GithubDouble, request: string, fault: Fault, nth = 1) => {
    let seen = 0;
    return new Promise<void>((resolve) => {
      double.fault = (name) => {
        if (name !== request) return undefined;
        seen += 1;
        if (seen !== nth) return undefined;
        server.kill();
        resolve();
        return fault;
      };
    });
  };

  it('makes the same issue once, and of a batch only what is missing, under the permit it had', async () => {
    const { double, home } = place;
    if (!double) throw new Error('This needs the double.');
    const config = join(home.dir, 'config.toml');
    const ask = '[mcp_policy]\nrequire_approval_for = ["github_issues_batch_create"]\n';
    writeFileSync(config, readFileSync(config, 'utf8').replace('[mcp_policy]\n', ask));
    server = await startUp(place.home, '--toolkits', 'dev');
    const agent = new DevClient(await server.connect('http'), place.home);
    const run_id = await agent.run('app');
    const issues = ['one', 'two', 'three'].map((title) => ({ title, body: '' }));
    const permit = await agent.permit({ run_id, issues }, 'github_issues_batch_create');
    const killed = dieAt(double, 'POST /issues', 'act-and-drop', 2);
    const lost = agent.call('github_issues_batch_create', { run_id, issues }).catch(() => undefined);
    await killed;
    double.fault = () => undefined;
    await agent.close().catch(() => {});
    await lost;
    expect(double.issues.map(({ title }) => title)).toEqual(['one', 'two']);

    server = await startUp(place.home, '--toolkits', 'dev');
    const next = new DevClient(await server.connect('http'), place.home);
    await expect
      .poll(async () => (await next.call('github_issues_create', { run_id, title: 'two', body: '' })).ok, {
        timeout: 60_000,
        interval: 1000,
      })
      .toBe(true);
    await expect.poll(() => state(permit), { timeout: 60_000, interval: 2000 }).toBe('approved');
    const again = await next.ok('github_issues_batch_create', { run_id, issues });
    expect(again).toMatchObject({ result: { status: 'ok', replayed: 2, created_fresh: 1 } });
    expect(state(permit)).toBe('done');
    // The permit is used up now, so that nothing more is created without a person.
    expect(await next.call('github_issues_batch_create', { run_id, issues })).toMatchObject({
      result: { approval_id: expect.anything() },
    });
    expect(double.issues.map(({ title }) => title)).toEqual(['one', 'two', 'three']);
    expect(home.failing('audit', 'verify').status).toBe(0);
    await next.close();
    await server.stop();
  }, 180_000);

  const change = (run_id: string, head_branch: string): JsonObject => ({
    run_id,
    base_branch: 'main',
    head_branch,
    commit_message: 'm',
    pr_title: 't',
    files: [{ path: 'README.md', original_content: '# app\n', modified_content: `# ${head_branch}\n` }],
  });
  const shown = (approval_id: string) =>
    JSON.parse(place.home.cli('approvals', 'show', approval_id, '--json')) as Shown;
  const state = (approval_id: string) => shown(approval_id).state;
  const writing = (double: GithubDouble) => double.requests.filter((name) => !name.startsWith('GET '));

  /** What must be there in the end, however often it was interrupted. */
  const once = (double: GithubDouble, head: string) => {
    expect(double.pulls.filter((pull) => pull.head === head)).toMatchObject([
      { title: 't', state: 'open', body: expect.stringContaining('countersign:call=') },
    ]);
    expect(git(place.target ?? '', 'show', `${head}:README.md`)).toBe(`# ${head}`);
    expect(git(place.target ?? '', 'rev-parse', `${head}^`)).toBe(
      git(place.target ?? '', 'rev-parse', 'main'),
    );
  };

  it('only looks at GitHub when it starts again, and the same call under the same approval continues', async () => {
    const { double, target = '', clone = '', home } = place;
    if (!double) throw new Error('This needs the double.');
    const untouched = snapshot(clone);
    const cases: [request: string, fault: Fault, head: string, branch: boolean, settled: string][] = [
      ['POST /git/commits', 'act-and-drop', 'fix/commit', false, 'approved'],
      ['POST /git/refs', 'act-and-drop', 'fix/branch', true, 'approved'],
      ['POST /pulls', 'drop', 'fix/pull', true, 'approved'],
      ['POST /pulls', 'act-and-drop', 'fix/all', true, 'done'],
    ];
    const interrupted: { args: JsonObject; approval_id: string }[] = [];
    for (const [request, fault, head, branch] of cases) {
      server = await startUp(home, '--toolkits', 'dev');
      const agent = new DevClient(await server.connect('http'), home);
      const args = change(await agent.run('app'), head);
      const approval_id = await agent.permit(args);
      const killed = dieAt(double, request, fault);
      const lost = agent.call('code_branch_pr_create', { ...args, approval_id }).catch(() => undefined);
      await killed;
      await agent.close().catch(() => {});
      await lost;
      double.fault = () => undefined;
      expect(git(target, 'for-each-ref').includes(head), request).toBe(branch);
      interrupted.push({ args, approval_id });
    }
    const left = git(target, 'for-each-ref');

    // Nothing may happen while everything is paused, and looking is all that does.
    home.cli('pause');
    double.requests.length = 0;
    server = await startUp(home, '--toolkits', 'dev');
    const next = new DevClient(await server.connect('http'), home);
    for (const [at, [request, , head, branch, settled]] of cases.entries()) {
      const { args = {}, approval_id = '' } = interrupted[at] ?? {};
      await expect.poll(() => state(approval_id), { timeout: 90_000, interval: 2000 }).toBe(settled);
      // The person sees which branch is where, as long as it has no pull request.
      const word = `The branch ${head} exists on GitHub in acme/app at ${branch ? git(target, 'rev-parse', '--short=12', head) : ''}`;
      expect(shown(approval_id).outcome?.message?.includes(word) ?? false, request).toBe(
        branch && settled !== 'done',
      );
      if (settled !== 'done')
        expect((await next.refused('code_branch_pr_create', { ...args, approval_id })).code).toBe('paused');
    }
    expect(double.requests).not.toEqual([]);
    expect(writing(double)).toEqual([]);
    expect(git(target, 'for-each-ref')).toBe(left);

    home.cli('resume');
    for (const [at, [request, , head, branch, settled]] of cases.entries()) {
      const { args = {}, approval_id = '' } = interrupted[at] ?? {};
      const again = { ...args, approval_id };
      if (settled === 'done')
        expect((await next.refused('code_branch_pr_create', again)).code).toBe('approval_invalid');
      else {
        const { result } = await next.ok('code_branch_pr_create', again);
        expect(result.existed ?? false, request).toBe(branch);
        expect(state(approval_id)).toBe('done');
      }
      once(double, head);
      expect(await next.ok('qa_test', { run_id: args.run_id ?? null })).toMatchObject({
        result: {
          status: 'pass',
          report: { stdout: `# ${head}\n`, commit: git(target, 'rev-parse', head) },
        },
      });
    }
    await next.close();
    await server.stop();
    expect(snapshot(clone)).toBe(untouched);
    expect(home.failing('audit', 'verify').status).toBe(0);
  }, 480_000);

  it('gives the approval back when an answer is lost on the way, and the same call continues', async () => {
    const { double, home } = place;
    if (!double) throw new Error('This needs the double.');
    server = await startUp(home, '--toolkits', 'dev');
    const agent = new DevClient(await server.connect('http'), home);
    const run_id = await agent.run('app');
    const lost: { request: string; head: string; again: JsonObject; approval_id: string }[] = [];
    for (const request of ['POST /git/commits', 'POST /git/refs', 'POST /pulls']) {
      const head = `lost/${request.slice(request.lastIndexOf('/') + 1)}`;
      const args = change(run_id, head);
      const approval_id = await agent.permit(args);
      let left = 1;
      double.fault = (name) => (name === request && left-- > 0 ? 'drop' : undefined);
      double.requests.length = 0;
      const again = { ...args, approval_id };
      const error = await agent.refused('code_branch_pr_create', again);
      // A branch or a pull request may still appear; a commit that nothing points at does not matter.
      const code = request === 'POST /git/commits' ? 'unavailable' : 'indeterminate';
      expect(error.code, request).toBe(code);
      // Nothing was written after the request whose answer was lost.
      expect(writing(double).at(-1), request).toBe(request);
      lost.push({ request, head, again, approval_id });
    }
    // Once GitHub can no longer act, the next look gives the approval back.
    for (const { request, head, again, approval_id } of lost) {
      await expect.poll(() => state(approval_id), { timeout: 90_000, interval: 2000 }).toBe('approved');
      const { result } = await agent.ok('code_branch_pr_create', again);
      expect(result.existed ?? false, request).toBe(request === 'POST /pulls');
      expect(state(approval_id), request).toBe('done');
      once(double, head);
    }
    await agent.close();
    expect(home.failing('audit', 'verify').status).toBe(0);
  }, 300_000);
});
