import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home } from '../../../../test/e2e/support.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { DevClient } from './support/client.ts';
import { git } from './support/dev.ts';
import { localPlace, type Place } from './support/places.ts';

interface Bundle {
  readonly run: string;
  readonly publicKey: string;
  readonly entries: { body: string }[];
  readonly artifacts: { readonly id: string; readonly name: string; content: string }[];
  readonly statements: { payload: string; readonly payloadType: string }[];
}

describe('the bundle of a run with a refusal, an approval, a QA report and an issue', () => {
  let place: Place;
  let agent: DevClient;
  let run_id: string;
  let file: string;
  let bundle: Bundle;
  /** A machine that has the file and nothing else. */
  let stranger: Home;

  beforeAll(async () => {
    place = await localPlace(false);
    agent = await DevClient.open(place.home);
    run_id = await agent.run('app');
    await agent.ok('github_issues_create', { run_id, title: 'Broken', body: 'It breaks.' });
    const args: JsonObject = {
      run_id,
      base_branch: 'main',
      head_branch: 'fix/a',
      commit_message: 'm',
      pr_title: 't',
      files: [{ path: 'README.md', original_content: '# app\n', modified_content: '# other\n' }],
    };
    await agent.refused('code_branch_pr_create', { ...args, approval_id: 'none' });
    await agent.ok('code_branch_pr_create', { ...args, approval_id: await agent.permit(args) });
    await agent.ok('qa_test', { run_id });
    await agent.close();
    file = join(place.home.dir, 'run.json');
    place.home.cli('audit', 'export', '--run', run_id, '--sign', '-o', file);
    bundle = JSON.parse(readFileSync(file, 'utf8')) as Bundle;
    stranger = createHome();
  });
  afterAll(async () => {
    stranger.close();
    await place.close();
  });

  const check = (changed: unknown, ...options: string[]) => {
    const path = join(stranger.dir, 'changed.json');
    writeFileSync(path, JSON.stringify(changed));
    return stranger.failing('audit', 'check', path, ...options);
  };
  const statements = () =>
    bundle.statements.map(
      ({ payload }) =>
        JSON.parse(Buffer.from(payload, 'base64').toString()) as JsonObject & {
          predicateType: string;
          predicate: JsonObject & { entries: JsonObject[] };
        },
    );
  /** The same text with one bit of one character turned, in base64 that still decodes. */
  const flipped = (base64: string): string => {
    const bytes = Buffer.from(base64, 'base64');
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes.toString('base64');
  };

  it('verifies without the database, alone and against the key one trusts', () => {
    expect(check(bundle)).toMatchObject({ status: 0 });
    expect(check(bundle, '--key', bundle.publicKey)).toMatchObject({ status: 0 });
    const other = check(bundle, '--key', stranger.cli('audit', 'key').trim().split('\n')[0] ?? '');
    expect(other.status).toBe(1);
  });

  it('records the refusal and who approved what', () => {
    const run = statements().find(({ predicateType }) => predicateType.startsWith('urn:countersign:'));
    const told = run?.predicate.entries.map(({ kind, tool, status }) => [kind, tool, status]) ?? [];
    expect(told).toEqual(
      expect.arrayContaining([
        ['outcome', 'runs_create', 'ok'],
        ['outcome', 'github_issues_create', 'ok'],
        ['refusal', 'code_branch_pr_create', 'refused'],
        ['approval', 'code_branch_pr_create', 'pending'],
        ['approval', 'code_branch_pr_create', 'approved'],
        ['intent', 'code_branch_pr_create', undefined],
        ['outcome', 'code_branch_pr_create', 'ok'],
        ['outcome', 'qa_test', 'ok'],
      ]),
    );
    const approved = run?.predicate.entries.find(({ status }) => status === 'approved');
    expect(approved?.approver).toMatch(/^person:/);
  });

  it('states the QA report as an in-toto test result about the tree it ran on', () => {
    const clone = place.clone ?? '';
    const test = statements().filter(({ predicateType }) => predicateType.includes('test-result'));
    expect(test).toMatchObject([
      {
        _type: 'https://in-toto.io/Statement/v1',
        subject: [{ digest: { gitTree: git(clone, 'rev-parse', 'fix/a^{tree}') } }],
        predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
        predicate: { result: 'PASSED' },
      },
    ]);
    const report = bundle.artifacts.find(({ name }) => name === 'qa.test.report.json');
    expect(JSON.parse(Buffer.from(report?.content ?? '', 'base64').toString())).toMatchObject({
      status: 'pass',
      stdout: '# other\n',
      commit: git(clone, 'rev-parse', 'fix/a'),
      tree: git(clone, 'rev-parse', 'fix/a^{tree}'),
      sandbox: expect.stringMatching(/^(bwrap|none)$/),
    });
    expect(bundle.artifacts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['qa.test.stdout.txt', 'code.branch_pr.create.patch.diff']),
    );
  });

  it('shows a flipped bit in any artifact, any statement and any entry', () => {
    const report = bundle.artifacts.findIndex(({ name }) => name === 'qa.test.report.json');
    const artifact = structuredClone(bundle);
    for (const each of artifact.artifacts.slice(report, report + 1)) each.content = flipped(each.content);
    expect(check(artifact)).toMatchObject({ status: 1 });
    expect(check(artifact).stdout + check(artifact).stderr).toMatch(/Artifact sha256:[0-9a-f]+ was changed/);
    for (const index of bundle.statements.keys()) {
      const changed = structuredClone(bundle);
      const statement = changed.statements[index];
      if (statement) statement.payload = flipped(statement.payload);
      expect(check(changed).status, `statement ${index}`).toBe(1);
    }
    const gone = structuredClone(bundle);
    gone.statements.pop();
    expect(check(gone).status).toBe(1);
    const softened = structuredClone(bundle);
    const refusal = softened.entries.find(({ body }) => body.includes('"kind":"refusal"'));
    if (!refusal) throw new Error('The refusal is not in the bundle.');
    refusal.body = refusal.body.replace('"status":"refused"', '"status":"ok"');
    expect(check(softened).status).toBe(1);
  });
});
