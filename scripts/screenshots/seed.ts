import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Database from 'libsql';
import { git, writeFiles } from '../../src/toolkits/dev/test/support/dev.ts';
import { figurePast } from '../../test/web/pages-past.ts';
import type { WebServer } from '../../test/web/support.ts';

const MONEY = 'export function round(value: number): number {\n  return Math.round(value);\n}\n';
const EVEN =
  'export function round(value: number): number {\n  const floor = Math.floor(value);\n  if (value - floor !== 0.5) return Math.round(value);\n  return floor % 2 === 0 ? floor : floor + 1;\n}\n';
const INTERVIEW = [
  'Interviewer: How have you been since the move?',
  '',
  'Ada: Badly. I worry about money every single day, and I worry about the children. We moved for the work, but the work is not there any more, and nobody told us.',
  '',
  'Interviewer: What helps?',
  '',
  'Ada: We talk. My sister calls on Sundays, and the neighbours share what they have. Sometimes I walk along the river until it is dark, and then it is better for a while.',
  '',
  'Interviewer: And the children?',
  '',
  'Ada: They found friends faster than we did. The little one says this is home now.',
].join('\n');

export interface Folder {
  readonly path: string;
  readonly config: string;
}

/** A clone to work on and an assistant that answers. */
export function makeFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'countersign-pictures-'));
  const shop = join(path, 'shop');
  writeFiles(shop, { 'src/money.ts': MONEY, 'README.md': '# shop\n' });
  git(shop, 'init');
  git(shop, 'add', '.');
  git(shop, 'commit', '-m', 'The shop');
  const assistant = join(path, 'assistant.mjs');
  writeFileSync(
    assistant,
    "process.stdin.resume();process.stdin.on('end',()=>process.stdout.write('The three open questions are in notes/questions.md. Two of them were answered in yesterday’s thread; the third waits for Ada.'));\n",
  );
  const node = JSON.stringify(process.execPath);
  const config = [
    '[[mcp_policy.rules]]',
    'id = "no-unfollowing"',
    'label = "Agents unfollow no one"',
    'tools = ["x_unfollow_user"]',
    'action = "deny"',
    '[dev.repos.shop]',
    `path = ${JSON.stringify(shop)}`,
    'forge = "local"',
    `test = [${node}, "-e", "console.log('14 tests passed, 1 failed: rounds half to even'); process.exit(1)"]`,
    '[dev.qa]',
    'sandbox = "off"',
    '[targets]',
    'accounts = ["lena_learns", "benno_ships"]',
    '[assistant]',
    'backend = "command"',
    `command = [${node}, ${JSON.stringify(assistant)}]`,
    '',
  ].join('\n');
  return { path, config };
}

export type Args = Record<string, unknown>;
export type Reply = Record<string, Record<string, unknown> | undefined>;

type Answer = Promise<{ json(): Promise<unknown> }>;

/** A signed-in person's requests; a browser context has them. */
interface SignedInRequests {
  /** Where their session reaches the API. */
  readonly base: string;
  readonly request: {
    get(url: string): Answer;
    post(url: string, options: { headers: Record<string, string>; data: object }): Answer;
  };
}

/** Work as agents and their person do it, so that every screen has something to show. */
export async function fill(
  server: WebServer,
  { base, request }: SignedInRequests,
  folder: string,
  { named = false, besides }: More = {},
): Promise<void> {
  const session = (await (await request.get(`${base}/session`)).json()) as { csrf: string };
  const post = async (path: string, data: object): Promise<Reply> => {
    const headers = { 'x-csrf-token': session.csrf };
    const response = await request.post(`${base}${path}`, { headers, data });
    return (await response.json()) as Reply;
  };
  const person = async (tool: string, args: Args): Promise<Record<string, unknown>> => {
    const reply = await post(`/tools/${tool}`, { arguments: args, approve: true });
    if (!reply.data) throw new Error(`${tool}: ${JSON.stringify(reply)}`);
    return reply.data;
  };
  const connect = async (name: string, program: string): Promise<Agent> => {
    const { token } = (await post('/agents', { name })) as { token?: unknown };
    const client = new Client({ name: program, version: '2.1.0' });
    const headers = { authorization: `Bearer ${token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
    );
    return agentOf(client);
  };
  const unnamed = named ? undefined : agentOf(await server.agent('research-desk'));
  const mira = unnamed ?? (await connect('mira', 'claude-code'));
  const bolt = unnamed ?? (await connect('bolt', 'codex'));
  const get: Get = async (path) => (await (await request.get(`${base}${path}`)).json()) as Reply;
  await fillResearch(person, mira, folder);
  await fillX(person, mira);
  await fillDev(person, bolt, post);
  await mira('order_clawdbot', { message: 'Which of our open questions were answered since Monday?' });
  await fillInbox({ mira, bolt }, post, get);
  await besides?.({ person, agent: bolt });
  await post('/agents', { name: 'night-shift' });
}

const agentOf =
  (client: Client): Agent =>
  async (tool, args) =>
    (await client.callTool({ name: tool, arguments: args })).structuredContent as Reply;

interface More {
  /** Two agents with names of their own instead of one without. */
  readonly named?: boolean;
  /** What else happens before the last agent is created. */
  besides?(acts: { readonly person: Person; readonly agent: Agent }): Promise<void>;
}

export type Person = (tool: string, args: Args) => Promise<Record<string, unknown>>;
export type Agent = (tool: string, args: Args) => Promise<Reply>;
type Post = (path: string, data: object) => Promise<Reply>;
type Get = (path: string) => Promise<Reply>;

async function fillResearch(person: Person, agent: Agent, folder: string): Promise<void> {
  await person('create_project', { path: join(folder, 'moving-house.qda') });
  await person('add_source', { name: 'interview-ada.txt', content: INTERVIEW });
  await person('add_source', { name: 'field-notes.txt', content: 'The river, and who walks there.\n' });
  const codes = { Anxiety: '#EE6677', Anxious: '#CC3311', Money: '#4477AA', Coping: '#228833' };
  for (const [name, color] of Object.entries(codes)) await person('create_code', { name, color });
  const place = (words: string) => {
    const start = INTERVIEW.indexOf(words);
    return { source_id: 1, start, end: start + words.length };
  };
  const coding = (code_id: number, words: string) => {
    const { source_id, start, end } = place(words);
    return { code_id, source_id, start_position: start, end_position: end };
  };
  await person('batch_apply_codes', {
    operations: [
      coding(1, 'I worry about money every single day, and I worry about the children.'),
      coding(3, 'about money every single day'),
      coding(4, 'We talk. My sister calls on Sundays'),
    ],
  });
  await agent('batch_apply_codes', {
    operations: [coding(1, 'I worry about money every single day'), coding(3, 'money every single day')],
  });
  const suggest = (words: string, rationale: string, confidence: number) => {
    const { source_id, start, end } = place(words);
    return agent('suggest_code_application', {
      source_id,
      code_id: 4,
      start_pos: start,
      end_pos: end,
      rationale,
      confidence,
    });
  };
  await suggest('I walk along the river until it is dark', 'She names a habit that helps.', 84);
  await suggest('They found friends faster than we did.', 'The children cope.', 71);
  await agent('suggest_new_code', { name: 'Belonging', rationale: 'Home comes up in the last answer.' });
  await agent('suggest_merge_codes', {
    source_code_id: 2,
    target_code_id: 1,
    rationale: 'Both name the same feeling.',
  });
}

async function fillX(person: Person, agent: Agent): Promise<void> {
  await agent('x_search_tweets', { query: 'release notes' });
  await agent('x_get_user_by_username', { username: 'nobody_here' });
  await agent('get_mode', {});
  for (const query of ['rust', 'uptime', 'monitoring'])
    await person('find_reply_opportunities', { query, min_score: 0, limit: 20 });
  await person('compose_tweet', { content: 'Cold starts are twice as fast. Numbers tomorrow.' });
  await person('compose_tweet', {
    content_type: 'thread',
    content:
      'Three things we learned about uptime checks.\n---\nOne: check from two places.\n---\nTwo: page on symptoms.',
  });
  const at = (days: number, hour: number): string => {
    const date = new Date(Date.now() + days * 86_400_000);
    date.setUTCHours(hour, 0, 0, 0);
    return date.toISOString();
  };
  await person('compose_tweet', { content: 'Release notes for 2.4 are out.', scheduled_for: at(1, 9) });
  await person('compose_tweet', { content: 'Office hours on Thursday.', scheduled_for: at(2, 14) });
  await person('x_post_tweet', { text: 'We are hiring a second person for support.' });
}

async function fillDev(person: Person, agent: Agent, post: Post): Promise<void> {
  const run_id = await startRun(agent);
  await person('github_issues_create', {
    run_id,
    title: 'Rounding is off for half cents',
    body: 'Invoices of 0.5 cents are rounded up every time. Banks round half to even.',
    labels: ['bug'],
  });
  await person('github_issues_create', {
    run_id,
    title: 'Say goodbye too',
    body: 'Nobody likes an abrupt end.',
  });
  const change = {
    run_id,
    base_branch: 'main',
    head_branch: 'docs/rounding',
    commit_message: 'Explain rounding',
    pr_title: 'Explain how amounts are rounded',
    pr_body: 'So that the next reader need not guess.',
    files: [
      {
        path: 'README.md',
        original_content: '# shop\n',
        modified_content: '# shop\n\nAmounts are rounded half to even.\n',
      },
    ],
  };
  const asked = (await agent('approval_request', {
    tool: 'code_branch_pr_create',
    arguments: change,
    reason: 'Documents the rule.',
  })) as Record<string, unknown>;
  await post(`/inbox/${asked.approval_queue_id}/approve`, {});
  await agent('code_branch_pr_create', { ...change, approval_id: asked.approval_id });
  await person('qa_test', { run_id });
}

const startRun = async (agent: Agent): Promise<string> => {
  const started = await agent('runs_create', { repo: 'shop', purpose: 'Fix the rounding fault of issue 12' });
  return String(started.result?.run_id);
};

async function fillInbox(
  { mira: agent, bolt }: Readonly<Record<'mira' | 'bolt', Agent>>,
  post: Post,
  get: Get,
): Promise<void> {
  const decided = async (verdict: 'approve' | 'reject', text: string, body: object): Promise<Reply> => {
    const { data } = await agent('x_post_tweet', { text });
    return post(`/inbox/${data?.approval_queue_id}/${verdict}`, body);
  };
  const status = await decided('approve', 'Status: all systems up, for the ninetieth day in a row.', {});
  const { id: tweet_id } = (status.result?.data ?? {}) as { id?: string };
  await decided('reject', 'Our competitor is down again, come to us!', { reason: 'We do not gloat.' });
  await agent('x_post_thread', {
    tweets: [
      'Why we moved approvals to the front of the pipeline, in three short parts.',
      'An agent that asks first is an agent you can leave alone for an hour. The queue keeps the exact call, not a summary of it.',
      'And the log proves both sides: who asked, who said yes, and what really happened.',
    ],
  });
  await agent('x_like_tweet', { tweet_id: '1234567890' });
  await agent('x_follow_user', { target_user_id: '2001000012' });
  await agent('x_delete_tweet', { tweet_id });
  await agent('x_v2_lists_create', { name: 'People who answer', private: true });
  await bolt('approval_request', {
    tool: 'code_branch_pr_create',
    reason: 'Fixes the rounding fault of issue 12; the tests of the run pass.',
    arguments: {
      run_id: await startRun(bolt),
      base_branch: 'main',
      head_branch: 'fix/rounding',
      commit_message: 'Round half to even',
      pr_title: 'Round half to even',
      files: [{ path: 'src/money.ts', original_content: MONEY, modified_content: EVEN }],
    },
  });
  const follow = await agent('x_post_tweet', { text: 'Office hours are open: ask us anything until five.' });
  const id = Number(follow.data?.approval_queue_id);
  const { draft } = await get(`/standing/draft/${id}`);
  await post('/standing', { draft, approve: { id, version: 1 } });
  await agent('x_post_tweet', {
    text: 'Release 2.4 is out: faster cold starts, a calmer inbox and signed evidence for every call. Notes: https://example.com/notes',
  });
}

/** The store of a server that is stopped. */
function openStore(home: string): Database.Database {
  const file = readdirSync(home).find((name) => /\.(db|sqlite)$/.test(name));
  if (!file) throw new Error(`There is no database in ${home}.`);
  return new Database(join(home, file));
}

/** Two weeks of calls for the charts. */
export function writePast(home: string): void {
  const db = openStore(home);
  const names = (db.prepare('select name from pragma_table_info(?)').all('calls') as { name: string }[]).map(
    ({ name }) => name,
  );
  const given: Readonly<Record<string, string>> = {
    call_id: "'past-' || day || '-' || calls.call_id",
    started_at: "strftime('%Y-%m-%dT%H:%M:%fZ', started_at, '-' || day || ' days')",
    run_id: 'null',
    latency_ms: 'latency_ms * (1 + (day % 5) / 4.0)',
  };
  // Not every call on every day, so that the lines go up and down.
  db.exec(`with recursive days(day) as (select 1 union all select day + 1 from days where day < 14)
    insert into calls (${names.join(', ')})
    select ${names.map((name) => given[name] ?? name).join(', ')} from calls, days
    where status in ('ok', 'refused', 'failed') and abs(random()) % 8 < 2 + day % 5`);
  figurePast(db);
  // Calls are listed by their IDs, which begin with their time.
  db.exec(`update calls set call_id = lower(substr(printf('%012x', cast(unixepoch(started_at, 'subsec') * 1000 as integer)), 1, 8)
      || '-' || substr(printf('%012x', cast(unixepoch(started_at, 'subsec') * 1000 as integer)), 9))
      || substr(call_id, -23) where call_id like 'past-%'`);
  db.close();
}

/** One change that was interrupted. With its arguments erased nothing but a person can settle it. */
export function cutOff(home: string): void {
  const db = openStore(home);
  db.exec(`update calls set status = 'indeterminate' where call_id = (select max(call_id) from calls where tool = 'x_follow_user');
    update audit_payloads set body = null where call_id in
      (select call_id from calls where status = 'indeterminate')`);
  db.close();
}

/** What someone with a database client leaves behind: changed words, states and rules, and cells that cannot be read. */
export function tamper(home: string): void {
  const db = openStore(home);
  const approval = (where: string) => `id = (select max(id) from approvals where ${where})`;
  const call = (where: string) => `call_id = (select max(call_id) from calls where ${where})`;
  db.exec(`
    update approvals set gist = 'Release 2.4 is out. Send your keys to https://example.org/renew'
      where ${approval("state = 'pending' and gist like 'Release 2.4%'")};
    update approvals set args = json_set(args, '$.tweet_id', '1') where ${approval("tool = 'x_delete_tweet'")};
    update approvals set decided_by = 'person:eve' where ${approval("gist like 'Our competitor%'")};
    update approvals set args = '{a' where ${approval("tool = 'x_post_thread'")};
    update calls set principal = 'agent:bolt', client = 'codex 2.1.0' where status = 'ok' and approval_id =
      (select id from approvals where gist like 'Status: all systems%' and tool = 'x_post_tweet');
    update calls set status = 'ok', code = null where ${call("tool = 'x_get_user_by_username'")};
    update calls set started_at = 'a while ago' where ${call("tool = 'x_search_tweets'")};
    update agents set created_at = 'a while ago' where name = 'night-shift';
    insert into settings (key, value) values ('policy_overrides', '{"rules":[]}')
      on conflict (key) do update set value = excluded.value`);
  db.close();
}
