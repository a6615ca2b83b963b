import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { git, snapshot } from '../support/dev.ts';
import { DevClient } from '../support/dev-client.ts';
import { doubledPlace, type Place } from '../support/dev-places.ts';
import type { Fault, GithubDouble } from '../support/github-double.ts';
import { type Server, startUp } from './support.ts';

/** How a person sees one approval after the other. */
interface Shown {
  readonly state: string;
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

  it('makes the same issue once, and of a batch only what is missing', async () => {
    const { double } = place;
    if (!double) throw new Error('This needs the double.');
    server = await startUp(place.home, '--toolkits', 'dev');
    const agent = new DevClient(await server.connect('http'), place.home);
    const run_id = await agent.run('app');
    const issues = ['one', 'two', 'three'].map((title) => ({ title, body: '' }));
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
    const again = await next.ok('github_issues_batch_create', { run_id, issues });
    expect(again).toMatchObject({ result: { status: 'ok', replayed: 2, created_fresh: 1 } });
    expect(double.issues.map(({ title }) => title)).toEqual(['one', 'two', 'three']);
    await next.close();
    await server.stop();
  }, 180_000);

  it('settles the call by what GitHub has, opens it once, and lets the next change through', async () => {
    const { double, target = '', clone = '' } = place;
    if (!double) throw new Error('This needs the double.');
    const untouched = snapshot(clone);
    server = await startUp(place.home, '--toolkits', 'dev');
    const agent = new DevClient(await server.connect('http'), place.home);
    const run_id = await agent.run('app');
    const args: JsonObject = {
      run_id,
      base_branch: 'main',
      head_branch: 'fix/a',
      commit_message: 'm',
      pr_title: 't',
      files: [{ path: 'README.md', original_content: '# app\n', modified_content: '# other\n' }],
    };
    const approval_id = await agent.permit(args);
    const killed = dieAt(double, 'POST /pulls', 'drop');
    const lost = agent.call('code_branch_pr_create', { ...args, approval_id }).catch(() => undefined);
    await killed;
    await agent.close().catch(() => {});
    double.fault = () => undefined;
    expect(git(target, 'for-each-ref', 'refs/heads/fix')).not.toBe('');
    expect(double.pulls).toEqual([]);

    server = await startUp(place.home, '--toolkits', 'dev');
    const shown = () => JSON.parse(place.home.cli('approvals', 'show', approval_id, '--json')) as Shown;
    await expect.poll(() => shown().state, { timeout: 60_000, interval: 500 }).toBe('done');
    expect(double.pulls).toMatchObject([
      { head: 'fix/a', title: 't', body: expect.stringContaining('countersign:call=') },
    ]);

    const next = new DevClient(await server.connect('http'), place.home);
    expect(await next.ok('github_pr_get', { run_id, pr_number: double.pulls[0]?.number ?? 0 })).toMatchObject(
      {
        result: { body: '', state: 'open', head: { ref: 'fix/a', sha: git(target, 'rev-parse', 'fix/a') } },
      },
    );
    expect((await next.refused('code_branch_pr_create', { ...args, approval_id })).code).toBe(
      'approval_invalid',
    );
    const again = await next.ok('code_branch_pr_create', { ...args, approval_id: await next.permit(args) });
    expect(again).toMatchObject({
      result: { existed: true, pull_request: { number: double.pulls[0]?.number } },
    });
    expect(double.pulls).toHaveLength(1);
    expect(await next.ok('qa_test', { run_id })).toMatchObject({
      result: { status: 'pass', report: { stdout: '# other\n', commit: git(target, 'rev-parse', 'fix/a') } },
    });
    await next.close();
    await lost;
    expect(snapshot(clone)).toBe(untouched);
    expect(place.home.failing('audit', 'verify').status).toBe(0);
  }, 180_000);
});
