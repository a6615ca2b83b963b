import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRepo } from '../../src/toolkits/dev/test/support/dev.ts';
import { seriousFindings } from './axe.ts';
import { roomActs } from './pages-support.ts';
import { decide, launchBrowser, startWeb, type WebServer } from './support.ts';

const MONEY = 'export function round(value: number): number {\n  return Math.round(value);\n}\n';
const TALK = 'Ada: I worry about money every single day. My sister calls on Sundays.';
const WORRY = 'I worry about money every single day';
const SCRIPT = '<script>window.hacked = 1</script><img src=x onerror="window.hacked=2">';

let folder: string;
let server: WebServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-views-'));
  makeRepo(join(folder, 'shop'), { 'src/money.ts': MONEY });
  const config = [
    '[mcp_policy]',
    'template = "none"',
    'require_approval_for = ["x_post_tweet", "x_quote_tweet", "x_post_thread", "compose_tweet", "github_issues_batch_create"]',
    '[dev.repos.shop]',
    `path = ${JSON.stringify(join(folder, 'shop'))}`,
    'forge = "local"',
    '',
  ].join('\n');
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,dev,research,governance', config }),
  ]);
  const { page: opened, context } = await server.signIn(browser);
  page = opened;
  page.setDefaultTimeout(15_000);
  const { person } = await roomActs(server, context);
  await person('create_project', { path: join(folder, 'study.qda') });
  await person('add_source', { name: `ada \u202Etxt.exe ${SCRIPT}`, content: TALK });
  await person('create_code', { name: 'Anxiety', color: '#EE6677' });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Reply = Record<string, Record<string, unknown>>;
const idOf = (reply: Record<string, unknown>): number => {
  const { data, result } = reply as Reply;
  const id = (data ?? result ?? reply).approval_queue_id;
  if (typeof id !== 'number') throw new Error(`Nothing was queued: ${JSON.stringify(reply)}`);
  return id;
};
const item = (id: number) => page.getByRole('article', { name: `Approval ${id}`, exact: true });

async function propose(tool: string, args: object): Promise<number> {
  return idOf(await server.call(tool, args));
}

async function open(id: number): Promise<string> {
  await page.goto(`${server.url}/inbox/${id}`);
  await item(id).waitFor();
  return (await item(id).textContent()) ?? '';
}

describe('an item of the inbox', () => {
  it('shows a post as it will read, with its length as X counts it', async () => {
    // A link counts 23 regardless of its length, an emoji 2.
    const text = `Out now 🎉 https://example.com/${'long'.repeat(20)}`;
    const found = (await server.call('x_search_tweets', { query: 'the' })) as {
      data: { tweets: { id: string; text: string }[] };
    };
    const quoted_tweet_id = found.data.tweets[0]?.id ?? '';
    const quoted = await propose('x_quote_tweet', { text, quoted_tweet_id });
    await open(quoted);
    await item(quoted)
      .getByRole('heading', { name: /^Quote .* \(sandbox\)$/, level: 2 })
      .waitFor();
    const shown = item(quoted).getByRole('region', { name: 'As it will appear' });
    const post = shown.getByRole('article', { name: 'Post' });
    expect(await post.textContent()).toContain(text);
    await shown.getByText('34 of 280').waitFor();
    expect(await shown.getByRole('meter', { name: 'Length of the post' }).getAttribute('value')).toBe('34');
    // The post itself, not its number.
    expect(await post.locator('.quoted').textContent()).toContain(found.data.tweets[0]?.text.slice(0, 20));
    expect(await item(quoted).textContent()).not.toContain(quoted_tweet_id);
  });

  it('shows each part of a thread, and a scheduled draft, in the same way', async () => {
    const thread = await propose('x_post_thread', { tweets: ['First part.', 'Second part, longer.'] });
    await open(thread);
    await item(thread)
      .getByRole('heading', { name: /^Post a thread of 2 to @\w+ \(sandbox\)$/ })
      .waitFor();
    const parts = item(thread).getByRole('list', { name: 'Thread of 2' });
    await parts.getByText('11 of 280').waitFor();
    await parts.getByText('20 of 280').waitFor();
    expect(await parts.getByRole('article', { name: 'Post' }).allTextContents()).toEqual([
      expect.stringContaining('First part.'),
      expect.stringContaining('Second part, longer.'),
    ]);
    const at = new Date(Date.now() + 86_400_000).toISOString();
    const draft = await propose('compose_tweet', {
      content_type: 'thread',
      content: 'One.\n---\nTwo.',
      scheduled_for: at,
    });
    expect(await open(draft)).toMatch(/Schedule a thread of 2 on @\w+ \(sandbox\)/);
    // In the reader's own zone, which is named.
    const told = new Date(at).toLocaleString('en', { dateStyle: 'full', timeStyle: 'long' });
    expect(await item(draft).textContent()).toContain(`Scheduled for ${told}`);
  });

  it('shows a code change as a diff in which no character hides', async () => {
    const run = (await server.call('runs_create', { repo: 'shop', purpose: 'Round half to even' })) as Reply;
    const hidden = MONEY.replace(
      'Math.round(value)',
      'Math.round(value) /* \u202E } \u2066if (admin)\u2069 */',
    );
    const asked = await propose('approval_request', {
      tool: 'code_branch_pr_create',
      reason: `Rounding. ${SCRIPT}`,
      arguments: {
        run_id: run.result?.run_id,
        base_branch: 'main',
        head_branch: 'fix/rounding',
        commit_message: 'Round half to even',
        pr_title: 'Round half to even',
        files: [
          { path: 'src/money.ts', original_content: MONEY, modified_content: hidden },
          { path: 'src/new.ts', modified_content: `${SCRIPT}\n${'y'.repeat(100_000)}\n` },
        ],
      },
    });
    await open(asked);
    const file = item(asked).getByRole('region', { name: 'Change of src/money.ts' });
    await file.locator('.diff-code-insert').waitFor();
    expect(await file.locator('.diff-code-delete').textContent()).toBe('  return Math.round(value);');
    const added = (await file.locator('.diff-code-insert').textContent()) ?? '';
    expect(added).toContain('⟦U+202E⟧');
    expect(added).toContain('⟦U+2066⟧if (admin)⟦U+2069⟧');
    expect(added).not.toMatch(/[\u202E\u2066\u2069]/);
    expect(await item(asked).getByText('lets the agent make exactly this call, once').count()).toBe(1);
    await expectHarmless();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows a suggested coding as the passage marked in its text, with the name of the code', async () => {
    const start = TALK.indexOf(WORRY);
    await server.call('suggest_code_application', {
      source_id: 1,
      code_id: 1,
      start_pos: start,
      end_pos: start + WORRY.length,
      rationale: `Fear. ${SCRIPT}`,
      confidence: 84,
    });
    await page.goto(server.url);
    await page.getByRole('link', { name: /Apply “Anxiety/ }).click();
    const passage = page.getByRole('article').locator('.passage');
    await passage.waitFor();
    expect(await passage.locator('mark').textContent()).toBe(WORRY);
    expect(await passage.locator('blockquote').textContent()).toBe(TALK);
    expect(await passage.getByRole('list', { name: 'Codes' }).textContent()).toContain('Anxiety');
    expect(await passage.locator('figcaption').textContent()).toContain('U+202E');
    expect(await page.getByRole('article').textContent()).toContain('84 %');
    await expectHarmless();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows what has no view of its own by name, and as JSON only on demand', async () => {
    const run = (await server.call('runs_create', { repo: 'shop', purpose: 'File issues' })) as Reply;
    const issues = [{ title: `One ${SCRIPT}`, body: '[press](javascript:alert(1))\u200B' }];
    const id = await propose('github_issues_batch_create', { run_id: run.result?.run_id, issues });
    const text = await open(id);
    expect(text).toContain('[press](javascript:alert(1))U+200B');
    expect(text).not.toContain('"body"');
    await item(id).getByRole('button', { name: 'Show the exact arguments' }).click();
    const exact = await item(id).getByRole('region', { name: 'Exact arguments' }).textContent();
    expect(JSON.parse((exact ?? '').replaceAll('U+200B', '\u200B'))).toMatchObject({ issues });
    await expectHarmless();
  });
});

describe('the list', () => {
  it('rejects several together with one reason that each agent sees, and keeps them under decided', async () => {
    const ids = [
      await propose('x_post_tweet', { text: 'No. 1' }),
      await propose('x_post_tweet', { text: 'No. 2' }),
    ];
    await page.goto(server.url);
    for (const text of ['No. 1', 'No. 2'])
      await page.locator('.inbox-row', { hasText: text }).getByRole('checkbox').check();
    await decide(page, 'r');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Too many numbers');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Rejected 2 of 2' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('link', { name: 'No. 1' }).waitFor({ state: 'detached' });
    const agent = await server.agent();
    for (const id of ids) {
      const seen = await agent.callTool({ name: 'approval_get', arguments: { approval_id: String(id) } });
      expect(JSON.stringify(seen.structuredContent)).toContain('Too many numbers');
    }

    await page.getByRole('button', { name: 'Decided', exact: true }).click();
    await page.getByRole('heading', { name: 'Decided', level: 1 }).waitFor();
    const row = page.locator('.inbox-row', { hasText: 'No. 2' });
    await row.getByText('rejected').waitFor();
    expect(await page.locator('.inbox-row').getByRole('checkbox').count()).toBe(0);
    await row.getByRole('link').click();
    await item(ids[1] ?? 0)
      .getByText('Reason: Too many numbers')
      .waitFor();
    await page.getByRole('button', { name: 'Pending', exact: true }).click();
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    await row.waitFor({ state: 'detached' });
  });

  it('says of each what is wrong when one of the selected was already decided', async () => {
    const first = await propose('x_post_tweet', { text: 'Taken' });
    await propose('x_post_tweet', { text: 'Free' });
    await page.goto(server.url);
    for (const text of ['Taken', 'Free'])
      await page.locator('.inbox-row', { hasText: text }).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Reject 2 selected' }).click();
    await server.cli('approvals', 'reject', String(first));
    await page.getByRole('dialog').getByRole('button', { name: 'Reject 2' }).click();
    await page.getByRole('heading', { name: 'Rejected 1 of 2' }).waitFor();
    await page.getByRole('dialog').getByText('is already rejected').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  });
});

describe('the inbox on a phone', () => {
  const bottomOf = (selector: string): Promise<number> =>
    page.locator(selector).evaluate((element) => element.getBoundingClientRect().bottom);

  it('keeps the bar of the selection and that of the decision in the window, however long the rest is', async () => {
    const ids: number[] = [];
    for (const part of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'])
      ids.push(await propose('x_post_thread', { tweets: Array(9).fill(`Long part ${part}`.repeat(12)) }));
    await page.setViewportSize({ width: 390, height: 700 });
    try {
      await page.goto(server.url);
      await page.locator('.inbox-row').getByRole('checkbox').first().check({ force: true });
      await page.getByRole('button', { name: 'Reject 1 selected' }).waitFor();
      expect(await bottomOf('.inbox-foot')).toBeLessThanOrEqual(700 - 64);
      await page.goto(`${server.url}/inbox/${ids[0]}`);
      await page.locator('.item-actions').waitFor();
      expect(await bottomOf('.item-actions')).toBeLessThanOrEqual(700);
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(700);
    } finally {
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const id of ids) await server.cli('approvals', 'reject', String(id));
    }
  });
});

describe('an agent that points at a passage', () => {
  const point = async (): Promise<string> => {
    const start = TALK.indexOf(WORRY);
    const place = { source_id: 1, start_pos: start, end_pos: start + WORRY.length };
    return JSON.stringify(await server.call('navigate_to_segment', place));
  };

  it('learns that no one saw it while another page is open, and the page offers to go there', async () => {
    await page.goto(`${server.url}/activity`);
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(await point()).toContain('"shown":false');
    await page.getByText('An agent is pointing to a passage').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.locator('.reader [data-shown]').waitFor();
    expect(await page.locator('.reader [data-shown]').textContent()).toBe(WORRY);
    await expect.poll(point).toContain('"shown":true');
    expect(await page.getByText('An agent is pointing to a passage').count()).toBe(0);
  });
});

/** Nothing a stranger wrote ran, became a link or pushed the page out of its width. */
async function expectHarmless(): Promise<void> {
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(await page.locator('main :is(img, script, a[href^="javascript"])').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}
