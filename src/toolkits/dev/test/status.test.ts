import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startUp } from '../../../../test/e2e/support.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { DevClient, type Envelope, metaOf } from './support/client.ts';
import { git } from './support/dev.ts';
import { doubledPlace, localPlace, type Place } from './support/places.ts';

const change = (run_id: string, more: JsonObject = {}): JsonObject => ({
  run_id,
  base_branch: 'main',
  head_branch: 'fix/a',
  commit_message: 'm',
  pr_title: 't',
  files: [{ path: 'README.md', original_content: '# app\n', modified_content: '# other\n' }],
  ...more,
});

/** What the record says of each call: it worked or it did not, no matter what the command or the items said. */
const recorded = (place: Place, run_id: string) =>
  (
    JSON.parse(place.home.cli('dev', 'run', run_id, '--json')) as {
      calls: { tool: string; status: string; audit_status: string }[];
    }
  ).calls.map(({ tool, audit_status }) => [tool, audit_status]);

describe('the statuses of toolkit dev, through a real client', () => {
  let place: Place;
  let agent: DevClient;

  beforeAll(async () => {
    place = await localPlace(false);
    appendFileSync(
      join(place.home.dir, 'config.toml'),
      `[[mcp_policy.rules]]\nid = "no-bad"\ntools = ["github_issues_create"]\nwhen = "args.title.startsWith('bad')"\naction = "deny"\n`,
    );
    agent = await DevClient.open(place.home);
    await agent.session.client.listTools();
  });
  afterAll(async () => {
    await agent.close();
    await place.close();
  });

  it('QA: pass, fail, timeout, error and dry_run are results of calls that worked', async () => {
    const run_id = await agent.run('app');
    expect(await agent.ok('qa_test', { run_id })).toMatchObject({
      result: { status: 'pass', report: { exit_code: 0 } },
    });
    expect(await agent.ok('qa_lint', { run_id })).toMatchObject({
      result: { status: 'fail', report: { exit_code: 3 } },
    });
    expect(await agent.ok('qa_test', { run_id, dry_run: true })).toMatchObject({
      result: { status: 'dry_run' },
    });
    const heard: string[] = [];
    await agent.session.client.callTool(
      { name: 'qa_test', arguments: { run_id } },
      { onprogress: ({ message }) => heard.push(message ?? '') },
    );
    expect(heard).toEqual(expect.arrayContaining([expect.stringMatching(/^Running /), '# app']));
    expect(recorded(place, run_id)).toEqual([
      ['runs_create', 'ok'],
      ['qa_test', 'ok'],
      ['qa_lint', 'ok'],
      ['qa_test', 'ok'],
      ['qa_test', 'ok'],
    ]);
    expect(await agent.ok('qa_test', { run_id: await agent.run('slow') })).toMatchObject({
      result: {
        status: 'timeout',
        report: { exit_code: -1 },
        summary: expect.stringMatching(/^timed out after \d+ms$/),
      },
    });
    const bare = await agent.run('bare');
    expect(await agent.ok('qa_lint', { run_id: bare })).toMatchObject({
      result: { status: 'error', error: { code: 'qa_execution_failed' }, report: { exit_code: -1 } },
    });
    expect(await agent.ok('qa_test', { run_id: bare })).toMatchObject({
      result: { status: 'error', error: { code: 'qa_command_empty' } },
    });
  });

  it('a batch: ok, partial and fail are derived from its items; the call itself worked', async () => {
    const run_id = await agent.run('app');
    const batch = async (...titles: string[]) => {
      const issues = titles.map((title) => ({ title, body: '' }));
      const { result, meta } = await agent.ok<JsonObject & { results: JsonObject[] }>(
        'github_issues_batch_create',
        { run_id, issues },
      );
      expect(meta).toEqual(metaOf(run_id));
      return result;
    };
    expect(await batch('one', 'two')).toMatchObject({ status: 'ok', errors: 0, created_fresh: 2 });
    const partial = await batch('one', 'bad', 'three');
    expect(partial).toMatchObject({ status: 'partial', errors: 1, replayed: 1, created_fresh: 1 });
    expect(partial.results[1]).toEqual({
      index: 1,
      error: { code: 'policy_denied_user_rule', message: expect.any(String) },
    });
    expect(await batch('bad', 'bad too')).toMatchObject({ status: 'fail', errors: 2, created_fresh: 0 });
    const calls = recorded(place, run_id);
    expect(calls.filter(([tool]) => tool === 'github_issues_batch_create')).toEqual(
      Array.from({ length: 3 }, () => ['github_issues_batch_create', 'ok']),
    );
    expect(
      calls.filter(([tool, status]) => tool === 'github_issues_create' && status === 'fail'),
    ).toHaveLength(3);
  });

  it('TOOL_ALLOWLIST and REPO_ALLOWLIST of the environment refuse what they do not name', async () => {
    // As lists written for ToolHub are: a run can always be started, so none of them names that.
    const env = { TOOL_ALLOWLIST: 'github.pr.get', REPO_ALLOWLIST: 'app' };
    const limited = await DevClient.open(place.home, env);
    const run_id = await limited.run('app');
    expect(await limited.refused('runs_create', { repo: 'slow', purpose: 'x' })).toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'repo_not_allowed' },
    });
    const calls: [string, JsonObject][] = [
      ['github_issues_create', { title: 't', body: '' }],
      ['github_issues_batch_create', { issues: [{ title: 't', body: '' }] }],
      ['github_pr_comment_create', { pr_number: 1, body: 'b' }],
      ['github_pr_files_list', { pr_number: 1 }],
      ['qa_test', {}],
      ['qa_lint', {}],
      ['code_patch_generate', { path: 'a', original_content: '', modified_content: 'x' }],
      ['code_branch_pr_create', { ...change(run_id), approval_id: 'x' }],
    ];
    for (const [tool, args] of calls) {
      expect(await limited.refused(tool, { run_id, ...args }), tool).toMatchObject({
        code: 'not_allowed',
        detail: { reason: 'tool_not_allowed' },
      });
    }
    expect((await limited.refused('github_pr_get', { run_id, pr_number: 1 })).code).toBe('not_found');
    await limited.close();
  });
});

describe('toolkit dev over HTTP and TCP', () => {
  let place: Place;
  let server: Server;

  beforeAll(async () => {
    place = await localPlace(true);
    server = await startUp(place.home, '--toolkits', 'dev');
  });
  afterAll(async () => {
    await server.stop();
    await place.close();
  });

  it.each(['http', 'tcp'] as const)(
    'takes a change from run to tested pull request over %s',
    async (transport) => {
      const agent = new DevClient(await server.connect(transport), place.home);
      await agent.session.client.listTools();
      const run_id = await agent.run('app');
      const issue = await agent.ok('github_issues_create', { run_id, title: `Over ${transport}`, body: '' });
      expect(issue).toMatchObject({ meta: metaOf(run_id), result: { title: `Over ${transport}` } });
      const args = change(run_id, { head_branch: `fix/${transport}` });
      const made = await agent.ok<{ commit_hash: string; pull_request: { number: number } }>(
        'code_branch_pr_create',
        {
          ...args,
          approval_id: await agent.permit(args),
        },
      );
      expect(git(place.target ?? '', 'rev-parse', `fix/${transport}`)).toBe(made.result.commit_hash);
      const pr_number = made.result.pull_request.number;
      expect(await agent.ok('github_pr_get', { run_id, pr_number })).toMatchObject({
        result: { state: 'open' },
      });
      expect(await agent.ok('github_pr_files_list', { run_id, pr_number })).toMatchObject({
        result: { count: 1 },
      });
      expect(await agent.ok('qa_test', { run_id })).toMatchObject({
        result: { status: 'pass', report: { stdout: '# other\n', commit: made.result.commit_hash } },
      });
      await agent.close();
    },
  );

  it('answers a bare line of JSON-RPC, as ToolHub clients send it', async () => {
    const socket = connect(server.tcpPort, '127.0.0.1');
    const call = { name: 'runs_create', arguments: { repo: 'app', purpose: 'plain JSON-RPC' } };
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: call })}\n`);
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) {
      text += chunk;
      if (text.includes('\n')) break;
    }
    const { id, result } = JSON.parse(text) as { id: number; result: { structuredContent: Envelope } };
    expect(id).toBe(7);
    expect(result.structuredContent).toMatchObject({
      ok: true,
      result: { repo: 'app', purpose: 'plain JSON-RPC' },
    });
  });
});

describe('a permit that a person gives unasked', () => {
  it('lets the named agent make this one call once, and no other agent', async () => {
    const place = await localPlace(false);
    const agent = await DevClient.open(place.home);
    await agent.session.client.listTools();
    const args = change(await agent.run('app'));
    const give = (name: string): string => {
      const argv = ['approvals', 'permit', 'code_branch_pr_create', '--args', JSON.stringify(args)];
      return (JSON.parse(place.home.cli(...argv, '--for', name, '--json')) as { uuid: string }).uuid;
    };
    place.home.cli('agents', 'add', 'somebody-else');
    const theirs = give('somebody-else');
    expect(await agent.refused('code_branch_pr_create', { ...args, approval_id: theirs })).toMatchObject({
      code: 'approval_invalid',
      message: expect.stringContaining('belongs to another agent'),
    });
    const approval_id = give('local');
    await agent.ok('code_branch_pr_create', { ...args, approval_id });
    expect((await agent.refused('code_branch_pr_create', { ...args, approval_id })).code).toBe(
      'approval_invalid',
    );
    await agent.close();
    await place.close();
  });
});

describe('a GitHub that refuses, through a real client', () => {
  let place: Place;
  let agent: DevClient;

  beforeAll(async () => {
    place = await doubledPlace();
    agent = await DevClient.open(place.home);
    await agent.session.client.listTools();
  });
  afterAll(async () => {
    await agent.close();
    await place.close();
  });
  const once = (request: string, status: number) => {
    let left = 1;
    if (place.double)
      place.double.fault = (name) => (name === request && left-- > 0 ? { status } : undefined);
  };
  const target = () => place.target ?? '';

  it('leaves no branch behind when the pull request is refused, and takes the change next time', async () => {
    const run_id = await agent.run('app');
    const args = change(run_id);
    once('POST /pulls', 422);
    expect(
      await agent.refused('code_branch_pr_create', { ...args, approval_id: await agent.permit(args) }),
    ).toMatchObject({
      code: 'invalid_input',
      detail: { reason: 'github_validation_failed' },
    });
    expect(git(target(), 'for-each-ref', 'refs/heads/fix')).toBe('');
    await agent.ok('code_branch_pr_create', { ...args, approval_id: await agent.permit(args) });
    expect(place.double?.pulls).toHaveLength(1);
  });

  it('refuses a branch that exists before a person is asked, and opens no second pull request', async () => {
    const run_id = await agent.run('app');
    for (const args of [
      change(run_id),
      change(run_id, { files: [{ path: 'README.md', modified_content: 'third\n' }] }),
    ]) {
      expect(
        await agent.refused('code_branch_pr_create', { ...args, approval_id: 'x', dry_run: true }),
      ).toMatchObject({
        code: 'conflict',
        detail: { reason: 'branch_exists' },
      });
      const asked = await agent.session.client.callTool({
        name: 'approval_request',
        arguments: { tool: 'code_branch_pr_create', arguments: args, reason: 'r' },
      });
      expect(asked.isError).toBe(true);
    }
    expect(place.double?.pulls).toHaveLength(1);
  });

  it('says why when credentials, rights or the service fail', async () => {
    const run_id = await agent.run('app');
    for (const [status, code, reason] of [
      [401, 'not_allowed', 'github_auth_failed'],
      [403, 'not_allowed', 'github_permission_denied'],
    ] as const) {
      once('GET /pulls/1', status);
      expect(await agent.refused('github_pr_get', { run_id, pr_number: 1 })).toMatchObject({
        code,
        detail: { reason },
      });
    }
    once('POST /issues', 500);
    expect((await agent.refused('github_issues_create', { run_id, title: 'lost', body: '' })).code).toBe(
      'unavailable',
    );
    expect(place.double?.issues).toEqual([]);
    await agent.ok('github_issues_create', { run_id, title: 'lost', body: '' });
    expect(place.double?.issues).toHaveLength(1);
  });
});
