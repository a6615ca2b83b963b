import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { type DevWorld, makeRepo, openWorld, tempFolder } from '../test/support/dev.ts';

const issues = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, n) => ({
    title: `Issue ${n}`,
    body: `Body ${n}`,
    ...(n % 2 ? { labels: ['odd'] } : {}),
  }));

interface Summary {
  status: string;
  results: { index: number; issue?: { number: number }; replayed?: boolean; error?: { code: string } }[];
}

describe('github_issues_batch_create', () => {
  let world: DevWorld;
  let run_id: string;
  /** What the kernel does for equal calls in one run. */
  let done: Map<string, Outcome>;

  const open = async (config: JsonObject = {}, env?: Record<string, string>) => {
    const folder = tempFolder();
    world = await openWorld({ cwd: makeRepo(join(folder, 'app')), folder, config, ...(env ? { env } : {}) });
    run_id = await world.run('.');
  };
  beforeEach(() => {
    done = new Map();
  });
  afterEach(() => world.close());

  const replaying =
    (fails: (title: string) => boolean = () => false) =>
    async (_tool: string, args: JsonObject, run: () => Promise<Outcome>): Promise<Outcome> => {
      const key = JSON.stringify(args);
      const earlier = done.get(key);
      if (earlier?.status === 'ok') return { ...earlier, replayed: true };
      if (fails(String(args.title)))
        return { status: 'failed', fault: new ToolError('unavailable', 'injected') };
      const outcome = await run();
      done.set(key, outcome);
      return outcome;
    };
  const batch = async (count: number, fails?: (title: string) => boolean): Promise<Summary> =>
    (
      await world.call(
        'github_issues_batch_create',
        { run_id, issues: issues(count) },
        { inner: replaying(fails) },
      )
    ).data as unknown as Summary;

  it('creates fifty issues in order', async () => {
    await open();
    const summary = await batch(50);
    expect(summary).toMatchObject({
      status: 'ok',
      mode: 'partial',
      total: 50,
      processed: 50,
      errors: 0,
      replayed: 0,
      created_fresh: 50,
    });
    expect(summary.results.map(({ index, issue }) => [index, issue?.number])).toEqual(
      Array.from({ length: 50 }, (_, n) => [n, n + 1]),
    );
  });

  it('fails only when nothing stands, and counts what stood before as success', async () => {
    await open();
    expect(await batch(3, () => true)).toMatchObject({ status: 'fail', errors: 3, created_fresh: 0 });
    await batch(1);
    expect(await batch(3, () => true)).toMatchObject({
      status: 'partial',
      errors: 2,
      replayed: 1,
      created_fresh: 0,
    });
  });

  it('stops at the first failure in strict mode and says where', async () => {
    await open({ batch_mode: 'strict' });
    expect(await batch(5, (title) => title === 'Issue 2')).toMatchObject({
      status: 'partial',
      mode: 'strict',
      total: 5,
      processed: 3,
      stopped_at: 2,
      failed_reason: 'injected',
      results: [{ index: 0 }, { index: 1 }, { index: 2, error: { code: 'unavailable' } }],
    });
  });

  it('reports items that wait for a person, were refused or may have happened', async () => {
    await open();
    const outcomes: Outcome[] = [
      { status: 'routed', approvalId: 7, approvalUuid: 'u', reason: 'r', rule: 'x' },
      { status: 'refused', fault: new ToolError('policy_denied_blocked', 'blocked'), rule: 'x' },
      { status: 'indeterminate', fault: new ToolError('unavailable', 'lost') },
    ];
    const inner = async () => outcomes.shift() as Outcome;
    const { data } = await world.call('github_issues_batch_create', { run_id, issues: issues(3) }, { inner });
    expect(data).toMatchObject({
      status: 'fail',
      results: [
        { error: { code: 'approval_required', message: expect.stringContaining('7') } },
        { error: { code: 'policy_denied_blocked' } },
        { error: { code: 'indeterminate' } },
      ],
    });
  });

  it('says which issues stand when it is stopped on the way, and creates the others when sent again', async () => {
    await open();
    const stop = new AbortController();
    const replay = replaying();
    const { data } = await world.call(
      'github_issues_batch_create',
      { run_id, issues: issues(4) },
      {
        signal: stop.signal,
        async inner(tool, args, run) {
          const outcome = await replay(tool, args, run);
          if (args.title === 'Issue 1') stop.abort();
          return outcome;
        },
      },
    );
    expect(data).toMatchObject({
      status: 'partial',
      errors: 2,
      created_fresh: 2,
      results: [
        { issue: { number: 1 } },
        { issue: { number: 2 } },
        { index: 2, error: { code: 'cancelled', message: expect.stringContaining('Send it again') } },
        { index: 3, error: { code: 'cancelled' } },
      ],
    });
    expect(await batch(4)).toMatchObject({ status: 'ok', replayed: 2, created_fresh: 2 });
  });

  it('fails as a whole when it is stopped before the first issue', async () => {
    await open();
    const given = { signal: AbortSignal.abort(), inner: replaying() };
    await expect(
      world.call('github_issues_batch_create', { run_id, issues: issues(2) }, given),
    ).rejects.toThrow();
    expect(await world.view('issues')).toMatchObject({ issues: [] });
  });

  it('previews every item and creates none', async () => {
    await open();
    const { data } = await world.preview('github_issues_batch_create', {
      run_id,
      issues: issues(2),
      dry_run: true,
    });
    expect(data).toMatchObject({
      status: 'ok',
      created_fresh: 0,
      results: [{ issue: { would_create: { title: 'Issue 0' } } }, {}],
    });
    expect(await world.view('issues')).toMatchObject({ issues: [] });
  });

  it.each([
    ['none', []],
    ['fifty-one', issues(51)],
    ['one bad among good', [...issues(2), { title: ' ', body: '' }]],
    ['an unknown field', [{ title: 'T', body: 'B', assignee: 'x' }]],
  ])('refuses a batch with %s items before creating anything', async (_what, list) => {
    await open();
    await expect(world.call('github_issues_batch_create', { run_id, issues: list })).rejects.toThrow(
      'invalid_input',
    );
    expect(await world.view('issues')).toMatchObject({ issues: [] });
  });

  it('needs only its own name in TOOL_ALLOWLIST', async () => {
    await open(
      {},
      { TOOL_ALLOWLIST: 'runs.create,github.issues.batch_create', PATH: process.env.PATH ?? '' },
    );
    expect(await batch(2)).toMatchObject({ status: 'ok' });
    await expect(world.call('github_issues_create', { run_id, title: 'T', body: 'B' })).rejects.toMatchObject(
      {
        code: 'not_allowed',
        detail: { reason: 'tool_not_allowed' },
      },
    );
  });
});
