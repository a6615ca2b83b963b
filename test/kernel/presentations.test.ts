import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../../scripts/screenshots/seed.ts';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import type { ApprovalPresentation } from '../../src/contract/presentation.ts';
import { describeBody, describeFacts } from '../../src/terminal/presentation.ts';
import { FILESYSTEM, MEMORY, openPlace, PERSON, type Place, stdioServer } from '../gateway/support.ts';

const INTERVIEW = 'Interviewer: What helps?\n\nAda: We talk. My sister calls on Sundays, and we walk.\n';

/** How each call is shown, by tool. */
const shown = new Map<string, ApprovalPresentation>();
let place: Place;
let folder: ReturnType<typeof makeFolder>;

const data = async (tool: string, args: JsonObject, more = {}): Promise<JsonObject> => {
  const { outcome } = await place.call(tool, args, more);
  if (outcome.status !== 'ok') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
  return outcome.data as JsonObject;
};
const person = (tool: string, args: JsonObject): Promise<JsonObject> =>
  data(tool, args, { principal: PERSON });

/** An agent asks; the presentation is what a page would get now. */
async function ask(tool: string, args: JsonObject, reason?: string): Promise<void> {
  await show(tool, await routed(tool, args, reason));
}

async function routed(tool: string, args: JsonObject, reason?: string): Promise<number> {
  const { outcome } = await place.call(tool, args, reason ? { reason } : {});
  if (outcome.status !== 'routed') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
  return outcome.approvalId;
}

async function show(name: string, id: number): Promise<void> {
  const { approvals } = place.app.kernel;
  const approval = await approvals.get(id);
  if (!approval) throw new Error(`no approval ${id}`);
  const presentation = await approvals.present(approval);
  expect(presentation.stale, name).toBeNull();
  expect(presentation.title, name).toBe(approval.summary);
  shown.set(name, presentation);
}

beforeAll(async () => {
  folder = makeFolder();
  const rule = '[[mcp_policy.rules]]\nid = "agents-ask"\nlabel = "Changes by agents require approval"\n';
  place = await openPlace(
    `toolkits = ["x", "dev", "research", "assistant", "files", "memory"]\n${folder.config}${rule}effects = ["change", "destroy"]\nprincipals = ["agent"]\naction = "ask"\n${stdioServer('files', FILESYSTEM, folder.path)}environment = "local"\n${stdioServer('memory', MEMORY)}`,
    { MEMORY_FILE_PATH: join(folder.path, 'memory.json') },
  );
  await place.trust('files');
  await place.trust('memory');
  await askX();
  await askDev();
  await askResearch();
  await ask('order_clawdbot', { message: 'Which questions are open?' });
  await askServers();
}, 240_000);

afterAll(async () => {
  await place.close();
  rmSync(folder.path, { recursive: true, force: true });
});

async function askX(): Promise<void> {
  const { tweets } = await data('x_search_tweets', { query: 'the', max_results: 10 });
  const found = (tweets as JsonObject[])[0] ?? {};
  const [tweet_id, user] = [String(found.id), String(found.author_id)];
  await ask('x_post_tweet', { text: 'Acme Sync 2.4 is out.' }, 'The release is tagged.');
  await ask('x_reply_to_tweet', { text: 'Thank you, that helps.', in_reply_to_id: tweet_id });
  await ask('x_quote_tweet', { text: 'Worth a read.', quoted_tweet_id: tweet_id });
  await ask('x_post_thread', { tweets: ['First the news.', 'Then the details.'] });
  await ask('x_like_tweet', { tweet_id });
  await ask('x_retweet', { tweet_id });
  await ask('x_follow_user', { target_user_id: user });
  await ask('x_v2_dm_send_to_participant', {
    participant_id: user,
    text: 'Hello, the refund is on its way.',
  });
  await ask('x_v2_mutes_create', { user_id: 'me', target_user_id: user });
  await ask('x_v2_lists_create', { name: 'People who ship', private: true });
  const at = new Date(Date.now() + 86_400_000).toISOString();
  await ask('compose_tweet', { content: 'Office hours move to Thursday.', scheduled_for: at });
  const { id } = await approveAndRead('x_post_tweet', { text: 'A post that will be deleted again.' });
  await ask('x_delete_tweet', { tweet_id: String(id) });
  await ask('x_post', { endpoint: '/2/tweets', body: '{"text":"A raw request."}' });
}

/** Runs a call that an agent asked for, and gives its data. */
async function approveAndRead(tool: string, args: JsonObject): Promise<JsonObject> {
  const { outcome } = await place.app.kernel.approvals.approve(await routed(tool, args), PERSON);
  if (outcome?.status !== 'ok') throw new Error(`${tool}: ${JSON.stringify(outcome)}`);
  return outcome.data as JsonObject;
}

async function askDev(): Promise<void> {
  await ask('runs_create', { repo: 'shop', purpose: 'Fix the rounding of totals' });
  const { run_id } = await approveAndRead('runs_create', { repo: 'shop', purpose: 'Round half to even' });
  const run = { run_id: String(run_id) };
  await ask('github_issues_create', { ...run, title: 'Totals are off by a cent', body: 'See the cart.' });
  const issues = ['One', 'Two'].map((title) => ({ title, body: 'Text' }));
  await ask('github_issues_batch_create', { ...run, issues });
  await ask('qa_test', run);
  const { id } = await place.app.kernel.approvals.propose({
    tool: 'code_branch_pr_create',
    args: {
      ...run,
      base_branch: 'main',
      head_branch: 'fix/rounding',
      commit_message: 'Round half to even',
      pr_title: 'Fix rounding of totals in the cart and on every invoice of the shop',
      files: [{ path: 'README.md', modified_content: '# shop\n\nRounds half to even.\n' }],
    },
    requester: { kind: 'agent', id: 'local' },
    reason: 'Issue 1',
    kind: 'permit',
  });
  await show('code_branch_pr_create', id);
}

async function askResearch(): Promise<void> {
  await person('create_project', { path: join(folder.path, 'moving-house.qda') });
  await person('add_source', { name: 'interview-ada.txt', content: INTERVIEW });
  for (const name of ['Coping', 'Coping strategies', 'Family']) await person('create_code', { name });
  const start = INTERVIEW.indexOf('My sister');
  const place_ = { source_id: 1, start_position: start, end_position: start + 26 };
  await person('batch_apply_codes', { operations: [{ code_id: 1, ...place_ }] });
  await ask('create_code', { name: 'Support from neighbours', memo: 'Help by people next door.' });
  await ask('update_code', { code_id: 3, name: 'Kin' });
  await ask('delete_code', { code_id: 1, delete_segments: true });
  await ask('merge_codes', { source_code_id: 2, target_code_id: 1 });
  await ask('remove_coding', { segment_id: 1 });
  await ask('batch_apply_codes', { operations: [{ code_id: 3, ...place_ }] });
  await ask('auto_code_pattern', { code_id: 3, pattern: 'sister' });
  await ask('add_source', { name: 'notes.txt', content: 'The river, and who walks there.' });
  const suggested = await data('suggest_code_application', {
    source_id: 1,
    code_id: 3,
    start_pos: start,
    end_pos: start + 26,
    rationale: 'A sister is family.',
    confidence: 80,
  });
  const id = Object.entries(suggested).find(([name]) => name.endsWith('suggestion_id'))?.[1];
  const approval = await place.app.kernel.approvals.get(String(id));
  await show('apply_code', approval?.id ?? 0);
}

async function askServers(): Promise<void> {
  await ask('files__write_file', { path: join(folder.path, 'plan.md'), content: '# Plan\n' });
  await ask('files__move_file', {
    source: join(folder.path, 'plan.md'),
    destination: join(folder.path, 'old-plan.md'),
  });
  const entity = { name: 'Acme', entityType: 'customer', observations: ['Renews in May'] };
  await ask('memory__create_entities', { entities: [entity] });
  await ask('memory__delete_entities', { entityNames: ['0190b6a2-5f0e-7c41-9d5e-3f2a1c0b9e8d'] });
}

/** Everything that the default view of a page or of the command line prints. */
function texts(value: JsonValue | undefined, name = ''): string[] {
  if (typeof value === 'string') return HIDDEN.has(name) ? [] : [value];
  if (value === null || value === undefined || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap((one) => texts(one, name));
  return Object.entries(value).flatMap(([key, one]) => texts(one, key));
}
/** Tooltips, the JSON tab, and names that steer how something is drawn. */
const HIDDEN = new Set([
  'exact',
  'patch',
  'base_commit',
  'old_mode',
  'new_mode',
  'id',
  'type',
  'at',
  'key',
  'name',
]);

const RAW_ID = /\b\d{10,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|\b[0-9a-f]{20,}\b/iu;
const JSON_TEXT = /[{[]\s*"|":\s*["{[\d]/u;

describe('the calls of all toolkits and third-party servers', () => {
  it('are at least thirty', () => {
    expect(shown.size).toBeGreaterThanOrEqual(30);
  });

  it('have titles of at most 70 characters that name their environment', () => {
    for (const [name, { title, done, target }] of shown)
      for (const text of [title, done]) {
        expect([...text].length, `${name}: ${text}`).toBeLessThanOrEqual(70);
        expect(text, name).toMatch(new RegExp(`^\\S.* \\(${target.environment}\\)$`, 'u'));
        expect(text, name).not.toMatch(/[?!]/u);
      }
    const titles = Object.fromEntries([...shown].map(([name, { title }]) => [name, title]));
    expect(titles).toMatchObject({
      x_post_tweet: 'Post to @adamarsh_dev (sandbox)',
      x_delete_tweet: 'Permanently delete “A post that will be…” by @adamarsh_dev (sandbox)',
      code_branch_pr_create: 'Open “Fix rounding of totals in…” in shop (local)',
      delete_code: 'Delete code “Coping” and its segment in moving-house (local)',
      apply_code: 'Apply “Family” to interview-ada.txt in moving-house (local)',
      order_clawdbot: 'Send the assistant a message of 25 characters (local)',
      files__write_file: 'Run write_file on files (local)',
      memory__create_entities: 'Run create_entities on memory (live)',
    });
  });

  it('show no raw ID and no JSON in the default view', () => {
    for (const [name, presentation] of shown) {
      const view = texts(presentation as unknown as JsonValue);
      const terminal = `${describeFacts(presentation)}\n${describeBody(presentation.body)}`;
      for (const text of [...view, terminal]) {
        expect(text, name).not.toMatch(RAW_ID);
        // The raw request is the one tool whose argument is JSON that an agent wrote.
        if (name !== 'x_post') expect(text, name).not.toMatch(JSON_TEXT);
      }
    }
  });

  it('say where they act, what they do, whether they can be undone, and why a person is asked', () => {
    for (const [name, { target, effect, undo, rule, act }] of shown) {
      for (const text of [target.label, effect.text, undo.text, rule.title, rule.sentence, act])
        expect(text, name).toMatch(/\S/u);
      expect(rule.sentence, name).toMatch(/\.$/u);
    }
    expect(shown.get('x_post_tweet')).toMatchObject({
      target: { environment: 'sandbox' },
      reason: { text: 'The release is tagged.', by: 'agent:local' },
      rule: { title: 'Agents ask', sentence: 'Changes by agents require approval.' },
      body: [{ type: 'post', length: { used: 21, of: 280 } }],
    });
  });

  it('hide no argument: each is in the body or named as covered', () => {
    const files = shown.get('files__write_file');
    expect(files?.generic).toBe(true);
    expect(files?.body).toMatchObject([
      { type: 'diff', files: [{ path: expect.stringContaining('plan.md') }] },
      { type: 'notice', level: 'note' },
      { type: 'fields', rows: [{ name: 'path' }] },
    ]);
    expect(JSON.stringify(files?.body[0])).toContain('# Plan');
    expect(shown.get('memory__delete_entities')?.body.at(-1)).toMatchObject({
      rows: [{ text: '019…9e8d', exact: '0190b6a2-5f0e-7c41-9d5e-3f2a1c0b9e8d' }],
    });
  });

  it('refuse what cannot work before a person is asked', async () => {
    const before = await place.app.kernel.approvals.count({ states: ['pending'] });
    const refused: readonly [string, JsonObject, string][] = [
      ['x_reply_to_tweet', { text: 'Hello', in_reply_to_id: '1' }, 'not_found'],
      ['x_like_tweet', { tweet_id: '1' }, 'not_found'],
      ['x_follow_user', { target_user_id: '1' }, 'not_found'],
      ['delete_code', { code_id: 999 }, 'code_not_found'],
      ['delete_code', { code_id: 1 }, 'conflict'],
      ['remove_coding', { segment_id: 999 }, 'code_not_found'],
      ['create_code', { name: 'coping' }, 'conflict'],
    ];
    for (const [tool, args, code] of refused)
      expect((await place.call(tool, args)).outcome, tool).toMatchObject({
        status: 'failed',
        fault: { code },
      });
    expect(await place.app.kernel.approvals.count({ states: ['pending'] })).toBe(before);
  });
});
