import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { toolkit as research } from '../../src/toolkits/research/toolkit.ts';
import { toolkit as x } from '../../src/toolkits/x/toolkit.ts';
import { argsOf, type CallWorld } from '../support/calls/x.ts';
import { apiBase, launchBrowser, startWeb, type WebServer } from './support.ts';

const CONFIG = `
profile = "admin"
[mcp_policy]
template = "none"
max_mutations_per_hour = 1000
[[mcp_policy.rules]]
id = "everything-asks"
effects = ["change", "destroy"]
action = "ask"
[limits]
max_tweets_per_day = 500
max_replies_per_day = 500
max_threads_per_week = 50
`;
const TALK = 'Ada: I worry about money.\n\nBob: So do I.\n\nAda: Every day.\n\nBob: Yes.\n';

let folder: string;
let server: WebServer;
let browser: Browser;
let page: Page;
let context: BrowserContext;
let csrf: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-undo-'));
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,research', config: CONFIG }),
  ]);
  ({ page, context } = await server.signIn(browser));
  page.setDefaultTimeout(15_000);
  csrf = String((await get('/session')).csrf);
  await run('create_project', { path: join(folder, 'study.qda') });
  await run('add_source', { name: 'talk.txt', content: TALK });
  await run('create_code', { name: 'Money' });
  await run('create_code', { name: 'Cash' });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function get(path: string): Promise<JsonObject> {
  return (
    await context.request.get(`${await apiBase(context, server.url)}${path}`)
  ).json() as Promise<JsonObject>;
}

async function post(path: string, data: object = {}): Promise<JsonObject> {
  const headers = { 'x-csrf-token': csrf };
  const response = await context.request.post(`${await apiBase(context, server.url)}${path}`, {
    headers,
    data,
  });
  return response.json() as Promise<JsonObject>;
}

/** Does it immediately, as the person. */
async function run(tool: string, args: object): Promise<JsonObject> {
  const reply = await post(`/tools/${tool}`, { arguments: args, approve: true });
  expect(reply, tool).toMatchObject({ status: 'ok' });
  return reply.data as JsonObject;
}

/** The call waits, is approved and done; its item. */
async function approved(tool: string, args: object): Promise<{ id: number; data: JsonObject }> {
  const asked = await post(`/tools/${tool}`, { arguments: args });
  expect(asked, tool).toMatchObject({ status: 'routed' });
  const item = await post(`/inbox/${asked.approval_id}/approve`);
  expect(item, tool).toMatchObject({ state: 'done', result: { status: 'ok' } });
  return { id: Number(asked.approval_id), data: (item.result as JsonObject).data as JsonObject };
}

const findPost = async (query: string): Promise<string> => {
  const { data } = (await server.call('x_search_tweets', { query })) as unknown as {
    data: { tweets?: { id: string }[]; data?: { id: string }[] };
  };
  const found = (data.tweets ?? data.data ?? [])[0];
  if (!found) throw new Error(`No post has ${query}: ${JSON.stringify(data)}`);
  return found.id;
};

const passage = { source_id: 1, start_position: 5, end_position: 12 };
const coding = () => run('batch_apply_codes', { operations: [{ code_id: 2, ...passage }] });

/** Arguments for a call of every tool of `research` that can be undone; some need something to be there first. */
const CASES: Readonly<Record<string, () => Promise<object> | object>> = {
  add_source: () => ({ name: 'more.txt', content: 'More.' }),
  create_code: () => ({ name: 'Short-lived' }),
  update_code: () => ({ code_id: 1, name: 'Renamed' }),
  delete_code: async () => ({ code_id: (await run('create_code', { name: 'To delete' })).code_id }),
  merge_codes: async () => {
    const { code_id } = await run('create_code', { name: 'To merge' });
    return { source_code_id: code_id, target_code_id: 1 };
  },
  apply_code: () => ({ code_id: 1, source_id: 1, start_pos: 0, end_pos: 4 }),
  code_quote: () => ({ code_id: 1, quote: 'every day' }),
  batch_apply_codes: () => ({ operations: [{ code_id: 1, ...passage }] }),
  remove_coding: async () => {
    const { results } = (await coding()) as { results: { segment_id: number }[] };
    return { segment_id: results[0]?.segment_id };
  },
  auto_code_pattern: () => ({ code_id: 1, pattern: 'worry' }),
  auto_code_speaker: () => ({ source_id: 1 }),
  reanchor_segments: async () => {
    const { source_id } = await run('add_source', { name: 'edited.txt', content: 'Words about rent.' });
    await run('apply_code', { code_id: 1, source_id, start_pos: 6, end_pos: 16 });
    // Another program edits the text, and the segment stands elsewhere now.
    const file = new Database(join(folder, 'study.qda', 'data.qda'));
    file.prepare("update source set fulltext = 'Edited. ' || fulltext where id = ?").run(source_id);
    file.close();
    return { source_id };
  },
  update_coding: async () => {
    const { results } = (await coding()) as { results: { segment_id: number }[] };
    return { segment_id: results[0]?.segment_id, memo: 'Clear enough.' };
  },
  update_memo: () => ({ target: 'source', id: 1, memo: 'The first talk.' }),
  add_annotation: () => ({ source_id: 1, start_pos: 0, end_pos: 4, memo: 'Read again.' }),
  add_journal_entry: () => ({ name: 'First day', entry: 'Began to code.' }),
  create_category: () => ({ name: 'Worries', code_ids: [1] }),
  update_source_metadata: () => ({ source_id: 1, language: 'en' }),
};
/** What must have been done before these can be. */
const FIRST: Readonly<Record<string, string>> = {
  x_unlike_tweet: 'x_like_tweet',
  x_unretweet: 'x_retweet',
  x_unbookmark_tweet: 'x_bookmark_tweet',
  x_unfollow_user: 'x_follow_user',
};

describe('undo', () => {
  it('undoes a call of every tool that supports undo, once', async () => {
    const world: CallWorld = {
      ids: {
        $spam: await findPost('Great question'),
        $mirrorquote: await findPost('Tidepool now runs its own status page'),
        $post: '1234567890',
        $user: '2001000012',
      },
      data: run,
      callId: () => Promise.reject(new Error('not needed')),
      pending: () => Promise.reject(new Error('not needed')),
      answerOnce() {},
    };
    for (const { name, rollback } of [...x.tools, ...research.tools]) {
      if (!rollback) continue;
      const args = research.tools.some((tool) => tool.name === name)
        ? await CASES[name]?.()
        : await argsOf(world, name);
      expect(args, `${name} needs a case`).toBeDefined();
      const first = FIRST[name];
      if (first) await run(first, args ?? {});
      const { id } = await approved(name, args ?? {});
      const { undo } = await get(`/inbox/${id}`);
      expect(undo, name).toMatchObject({ undone: false });
      expect(await post(`/inbox/${id}/undo`), name).toMatchObject({ undone: true });
      expect(await get(`/inbox/${id}`), name).toMatchObject({ undo: { undone: true } });
      expect(await post(`/inbox/${id}/undo`), name).toMatchObject({ code: 'approval_state' });
    }
  }, 120_000);

  it('deletes every part of a thread, after which the page offers it no more', async () => {
    const { id, data } = await approved('x_post_thread', { tweets: ['Part one', 'Part two', 'Part three'] });
    await page.goto(`${server.url}/inbox/${id}`);
    const item = page.getByRole('article', { name: `Approval ${id}`, exact: true });
    await item.getByText('Delete a post, 3 times').waitFor();
    await item.getByRole('button', { name: 'Undo' }).click();
    await item.getByText('Done, later undone.').waitFor();
    expect(await item.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.keyboard.press('u');
    for (const part of data.thread_tweet_ids as string[]) {
      const gone = await server.call('get_tweet_by_id', { tweet_id: part });
      expect(gone, part).toMatchObject({ success: false });
    }
  });

  it('continues where it stopped when a part was deleted already', async () => {
    const { id, data } = await approved('x_post_thread', { tweets: ['First', 'Second'] });
    const [, second] = data.thread_tweet_ids as string[];
    await run('x_delete_tweet', { tweet_id: second });
    expect(await get(`/inbox/${id}`)).toMatchObject({ undo: { undone: false, calls: 2 } });
    expect(await post(`/inbox/${id}/undo`)).toMatchObject({ undone: true, done: 2, of: 2 });
  });

  it('says why it could not, and is still offered', async () => {
    const { id } = await approved('x_post_tweet', { text: 'Undo me later' });
    await post('/pause');
    await page.goto(`${server.url}/inbox/${id}`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/^Not undone: .*paused/).waitFor();
    await post('/resume');
    await page.waitForTimeout(500);
    await page.keyboard.press('u');
    await page.getByText('Done, later undone.').waitFor();
  });

  it('takes a coding out of the project file', async () => {
    const codings = (): number => {
      const file = new Database(join(folder, 'study.qda', 'data.qda'), { readonly: true });
      const { n } = file.prepare('select count(*) as n from code_text').get() as { n: number };
      file.close();
      return n;
    };
    const before = codings();
    const { id } = await approved('apply_code', { code_id: 1, source_id: 1, start_pos: 13, end_pos: 18 });
    expect(codings()).toBe(before + 1);
    await page.goto(`${server.url}/inbox/${id}`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Done, later undone.').waitFor();
    expect(codings()).toBe(before);
  });
});
