import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { git, snapshot } from '../support/dev.ts';
import { DevClient } from '../support/dev-client.ts';
import { doubledPlace, type Place } from '../support/dev-places.ts';
import { type Server, startUp } from './support.ts';

/** How a person sees one approval after the other. */
interface Shown {
  readonly state: string;
}

describe('a server that dies while it opens a pull request on GitHub', () => {
  let place: Place;
  let server: Server;

  beforeAll(async () => {
    place = await doubledPlace();
  });
  afterAll(async () => {
    await server.stop();
    await place.close();
  });

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
    const killed = new Promise<void>((resolve) => {
      double.fault = (request) => {
        if (request !== 'POST /pulls') return undefined;
        server.kill();
        resolve();
        return 'drop';
      };
    });
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
