import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { type App, openApp } from '../../../app/app.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { LOCAL_AGENT } from '../../../contract/principal.ts';
import { previewDiff } from '../../../lib/preview-diff.ts';
import { git, makeRepo, tempFolder } from './support/dev.ts';

const ADA = { kind: 'person', id: 'ada' } as const;
const NUL = 'a\0b is what PostgreSQL cannot store as text';

describe.each(ENGINES)('the preview of an approval on %s', (engine) => {
  let store: TestStore;
  let home: string;
  let repo: string;
  let app: App;

  beforeEach(async () => {
    store = await openTestStore(engine);
    home = tempFolder();
    repo = makeRepo(join(home, 'app'), { 'a.txt': 'one\n', 'ünï.txt': 'eins\n', 'b.bin': `\0${NUL}\n` });
    writeFileSync(
      join(home, 'config.toml'),
      `toolkits = ["dev"]\n[log]\nlevel = "silent"\n[storage]\nurl = ${JSON.stringify(store.url)}\n[dev.repos.app]\npath = ${JSON.stringify(repo)}\n`,
      { mode: 0o600 },
    );
    app = await openApp({ env: { COUNTERSIGN_HOME: home, PATH: process.env.PATH } });
  });
  afterEach(async () => {
    await app.close();
    await store.close();
    rmSync(home, { recursive: true, force: true });
  });

  const call = async (name: string, args: JsonObject): Promise<JsonObject> => {
    const bound = await app.inventory.resolve(name);
    if (!bound) throw new Error(`${name} is not there.`);
    const { outcome } = await app.kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test' });
    expect(outcome.status, JSON.stringify(outcome)).toBe('ok');
    return (outcome as { data: JsonObject }).data;
  };

  it('is the git diff of the branch that is then made, read back from the database', async () => {
    const { run_id } = await call('runs_create', { repo: 'app', purpose: 'previews' });
    const args: JsonObject = {
      run_id: run_id ?? '',
      base_branch: 'main',
      head_branch: 'fix/a',
      commit_message: 'Change',
      pr_title: 'Change',
      files: [
        { path: 'a.txt', modified_content: 'two 🙂\n' },
        { path: 'grüße.txt', previous_path: 'ünï.txt', modified_content: '', keep_content: true },
        {
          path: 'b.bin',
          modified_content: Buffer.from([0, 255, 1, 10]).toString('base64'),
          encoding: 'base64',
        },
      ],
    };
    const asked = await call('approval_request', {
      tool: 'code_branch_pr_create',
      arguments: args,
      reason: 'please',
    });
    const uuid = String(asked.approval_id);
    const approval = await app.kernel.approvals.get(Number(asked.approval_queue_id));
    const shown = approval && (await app.kernel.approvals.present(approval));
    const diff = shown?.body.find((block) => block.type === 'diff');
    await app.kernel.approvals.approve(uuid, ADA);
    await call('code_branch_pr_create', { ...args, approval_id: uuid });
    expect(diff && previewDiff(diff).toString().trim()).toBe(git(repo, 'diff', '--binary', 'main', 'fix/a'));
  });
});
