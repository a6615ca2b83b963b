import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { toolkit as research } from '../../src/toolkits/research/toolkit.ts';
import { toolkit as x } from '../../src/toolkits/x/toolkit.ts';
import { GENERATED_CALLS } from '../support/x-generated-calls.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

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
  return (await context.request.get(`${server.url}/api${path}`)).json() as Promise<JsonObject>;
}

async function post(path: string, data: object = {}): Promise<JsonObject> {
  const headers = { 'x-csrf-token': csrf };
  const response = await context.request.post(`${server.url}/api${path}`, { headers, data });
  return response.json() as Promise<JsonObject>;
}

/** Does it at once, as the person. */
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

/** Arguments for a call of every tool that says how it is taken back; some need something to be there first. */
const CASES: Readonly<Record<string, () => Promise<object> | object>> = {
  x_post_tweet: () => ({ text: 'Undo me' }),
  x_reply_to_tweet: () => ({ text: 'Undo my reply', in_reply_to_id: '1234567890' }),
  x_quote_tweet: () => ({ text: 'Undo my quote', quoted_tweet_id: '1234567890' }),
  x_post_thread: () => ({ tweets: ['Undo one', 'Undo two', 'Undo three'] }),
  x_like_tweet: () => ({ tweet_id: '1234567890' }),
  x_unlike_tweet: async () => run('x_like_tweet', { tweet_id: '1234567890' }).then(ofTweet),
  x_retweet: () => ({ tweet_id: '1234567890' }),
  x_unretweet: async () => run('x_retweet', { tweet_id: '1234567890' }).then(ofTweet),
  x_bookmark_tweet: () => ({ tweet_id: '1234567890' }),
  x_unbookmark_tweet: async () => run('x_bookmark_tweet', { tweet_id: '1234567890' }).then(ofTweet),
  x_follow_user: () => ({ target_user_id: '2001000012' }),
  x_unfollow_user: () => ({ target_user_id: '2001000002' }),
  compose_tweet: () => ({ content: 'A draft to cancel' }),
  add_source: () => ({ name: 'more.txt', content: 'More.' }),
  create_code: () => ({ name: 'Short-lived' }),
  update_code: () => ({ code_id: 1, name: 'Renamed' }),
  delete_code: async () => ({ code_id: (await run('create_code', { name: 'To delete' })).code_id }),
  merge_codes: async () => {
    const { code_id } = await run('create_code', { name: 'To merge' });
    return { source_code_id: code_id, target_code_id: 1 };
  },
  apply_code: () => ({ code_id: 1, source_id: 1, start_pos: 0, end_pos: 4 }),
  batch_apply_codes: () => ({ operations: [{ code_id: 1, ...passage }] }),
  remove_coding: async () => {
    const { results } = (await coding()) as { results: { segment_id: number }[] };
    return { segment_id: results[0]?.segment_id };
  },
  auto_code_pattern: () => ({ code_id: 1, pattern: 'worry' }),
  auto_code_speaker: () => ({ source_id: 1 }),
  update_source_metadata: () => ({ source_id: 1, language: 'en' }),
};
const ofTweet = ({ tweet_id }: JsonObject) => ({ tweet_id });

describe('undo', () => {
  it('takes back a call of every tool that can be taken back, once', async () => {
    const spam = await findPost('Great question');
    const pinned = await findPost('Tidepool now runs its own status page');
    const names = new Map([
      ['$spam', spam],
      ['$mirrorquote', pinned],
    ]);
    const generated = new Map(
      GENERATED_CALLS.map(([name, args]): [string, JsonObject] => [
        name,
        Object.fromEntries(
          Object.entries(args).map(([key, value]) => [key, names.get(String(value)) ?? value]),
        ),
      ]),
    );
    for (const { name, rollback } of [...x.tools, ...research.tools]) {
      if (!rollback) continue;
      const args = generated.get(name) ?? (await CASES[name]?.());
      expect(args, `${name} needs a case`).toBeDefined();
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
    const item = page.getByRole('article', { name: `Item ${id}`, exact: true });
    await item.getByText('Delete a post, 3 times').waitFor();
    await item.getByRole('button', { name: 'Undo' }).click();
    await item.getByText('Done, and undone since.').waitFor();
    expect(await item.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.keyboard.press('u');
    for (const part of data.thread_tweet_ids as string[]) {
      const gone = await server.call('get_tweet_by_id', { tweet_id: part });
      expect(gone, part).toMatchObject({ success: false });
    }
  });

  it('goes on where it stopped when a part was deleted already', async () => {
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
    await page.keyboard.press('u');
    await page.getByText('Done, and undone since.').waitFor();
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
    await page.getByText('Done, and undone since.').waitFor();
    expect(codings()).toBe(before);
  });
});
