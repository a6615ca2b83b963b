import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './axe.ts';
import { decide, launchBrowser, startWeb, type WebServer } from './support.ts';

// The limits of a careful account would stop the tests, not what they look at.
const CONFIG = `
[mcp_policy]
max_mutations_per_hour = 500
template = "none"
require_approval_for = ["x_post_tweet", "x_post_thread", "order_clawdbot"]

[limits]
max_tweets_per_day = 500
max_threads_per_week = 50
`;

let server: WebServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  server = await startWeb({ toolkits: 'x,assistant,governance', config: CONFIG });
  browser = await launchBrowser();
  page = (await server.signIn(browser)).page;
  page.setDefaultTimeout(15_000);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

interface Routed {
  readonly data: { readonly approval_queue_id: number };
}

async function propose(text: string): Promise<number> {
  const reply = (await server.call('x_post_tweet', { text })) as unknown as Routed;
  return reply.data.approval_queue_id;
}

const item = (id: number, at: Page = page) =>
  at.getByRole('article', { name: `Approval ${id}`, exact: true });
const row = (text: string, at: Page = page) => at.getByRole('link', { name: text });

async function openItem(id: number, at: Page = page): Promise<void> {
  await at.goto(`${server.url}/inbox/${id}`);
  await item(id, at).waitFor();
  await canApprove(at);
}

/** An item must have been in sight for a moment before it can be decided. */
const canApprove = (at: Page = page) =>
  at.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();

describe('the inbox', () => {
  it('shows a call an agent makes over MCP while it is open, and the agent sees what the person decided by keyboard', async () => {
    const agent = await server.agent('desk');
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Getting started' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    const answer = await agent.callTool({ name: 'x_post_tweet', arguments: { text: 'Proposed over MCP' } });
    const { data } = answer.structuredContent as unknown as Routed & { data: { approval_uuid?: string } };
    await row('Proposed over MCP').waitFor();

    await item(data.approval_queue_id).waitFor();
    expect(await page.title()).toBe('(1) Inbox · Countersign');
    await canApprove();
    await page.keyboard.press('a');
    await item(data.approval_queue_id).getByText('Done.', { exact: true }).waitFor();

    const seen = await agent.callTool({
      name: 'approval_get',
      arguments: { approval_id: String(data.approval_queue_id) },
    });
    expect(JSON.stringify(seen.structuredContent)).toContain('"state":"done"');
    const posted = await agent.callTool({
      name: 'x_search_tweets',
      arguments: { query: 'Proposed over MCP' },
    });
    expect(JSON.stringify(posted.structuredContent)).toContain('Proposed over MCP');
  });

  it('posts the edited text, and shows what the tool has against a text that is too long', async () => {
    const id = await propose('Before the edit');
    await openItem(id);
    await page.keyboard.press('e');
    const field = page.getByRole('textbox', { name: 'text' });
    await field.fill('x'.repeat(300));
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('300 weighted characters').waitFor();
    await field.fill('After the edit');
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await item(id).getByText('Done.', { exact: true }).waitFor();
    expect(await item(id).getByRole('region', { name: 'Result' }).textContent()).toContain('After the edit');
    expect(await item(id).textContent()).toContain('Edited');
  });

  it('rejects with a reason that the agent sees', async () => {
    const id = await propose('Please do not');
    await openItem(id);
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Reason' }).fill('Not in our voice');
    await page.keyboard.press('Enter');
    await item(id).getByText('Reason: Not in our voice').waitFor();
    const agent = await server.agent();
    const seen = await agent.callTool({ name: 'approval_get', arguments: { approval_id: String(id) } });
    expect(JSON.stringify(seen.structuredContent)).toContain('Not in our voice');
  });

  it('undoes an approved post', async () => {
    const id = await propose('Soon to be gone');
    await openItem(id);
    await page.keyboard.press('a');
    await item(id).getByText('Done.', { exact: true }).waitFor();
    await page.keyboard.press('u');
    await page.getByText(`Undone: Post to @adamarsh_dev (sandbox), Soon to be gone (#${id}).`).waitFor();
    const found = await server.call('x_search_tweets', { query: 'Soon to be gone' });
    expect(JSON.stringify(found)).not.toContain('Soon to be gone');
  });

  it('informs the slower of two people that a decision was already made, and the page of the other follows', async () => {
    const id = await propose('Two pairs of eyes');
    const other = await server.signIn(browser);
    try {
      await openItem(id);
      await openItem(id, other.page);
      // The other page must not learn of it before it acts.
      await other.page.route('**/api/s/*/inbox/*', (route) =>
        route.request().method() === 'GET' ? undefined : route.continue(),
      );
      await page.keyboard.press('a');
      await item(id).getByText('Done.', { exact: true }).waitFor();
      await item(id, other.page).getByRole('button', { name: 'Approve' }).click();
      const alert = other.page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toMatch(/already/i);
    } finally {
      await other.context.close();
    }
  });

  it('does one thing when two people decide in the same moment', async () => {
    const first = await propose('Only once, please');
    const other = await server.signIn(browser);
    try {
      await Promise.all([openItem(first), openItem(first, other.page)]);
      await Promise.all([page.keyboard.press('a'), other.page.keyboard.press('a')]);
      await Promise.all(
        [page, other.page].map((at) => item(first, at).getByText('Done.', { exact: true }).waitFor()),
      );
      const found = await server.call('x_search_tweets', { query: 'Only once, please' });
      expect(JSON.stringify(found).split('"text":"Only once, please"')).toHaveLength(2);

      const second = await propose('Yes or no, not both');
      await Promise.all([openItem(second), openItem(second, other.page)]);
      await other.page.keyboard.press('r');
      await other.page.getByRole('textbox', { name: 'Reason' }).waitFor();
      await Promise.all([page.keyboard.press('a'), other.page.keyboard.press('Enter')]);
      await item(second)
        .getByText(/^(Done|Rejected)\.$/)
        .waitFor();
      const posted = await server.call('x_search_tweets', { query: 'Yes or no, not both' });
      const { state } = JSON.parse(await server.cli('--json', 'approvals', 'show', String(second))) as {
        state: string;
      };
      expect(['done', 'rejected']).toContain(state);
      expect(JSON.stringify(posted).includes('"text":"Yes or no')).toBe(state === 'done');
    } finally {
      await other.context.close();
    }
  });

  it('refuses an approval of something that was edited after the person looked', async () => {
    const id = await propose('What was read');
    await openItem(id);
    await page.route(`**/api/s/*/inbox/${id}`, (route) =>
      route.request().method() === 'GET' ? undefined : route.continue(),
    );
    await server.cli(
      'approvals',
      'edit',
      String(id),
      '--args',
      JSON.stringify({ text: 'What was never read' }),
    );
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').getByText('edited after you opened it').waitFor();
    await page.unroute(`**/api/s/*/inbox/${id}`);
    const found = await server.call('x_search_tweets', { query: 'What was never read' });
    expect(JSON.stringify(found)).not.toContain('What was never read');
  });

  it('approves several together and reports the result of each', async () => {
    await propose('One of many');
    await propose('Another of many');
    await page.goto(server.url);
    await row('One of many').waitFor();
    await page.locator('.inbox-row', { hasText: 'One of many' }).getByRole('checkbox').check();
    await page.locator('.inbox-row', { hasText: 'Another of many' }).getByRole('checkbox').check();
    await decide(page, 'a');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve 2' }).click();
    await page.getByRole('heading', { name: 'Approved 2 of 2' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await row('One of many').waitFor({ state: 'detached' });
  });

  it('shows hostile text as text', async () => {
    const script = '<script>window.hacked = 1</script><img src=x onerror="window.hacked=2">';
    const thread = await server.call('x_post_thread', {
      tweets: [`${script} [click](javascript:alert(1))`, 'abc \u202Etxt.exe \u2066end', 'second line\u200B'],
    });
    const { approval_queue_id: id } = (thread as unknown as Routed).data;
    await openItem(id);
    const text = await item(id).textContent();
    expect(text).toContain('<script>window.hacked = 1</script>');
    expect(text).toContain('[click](javascript:alert(1))');
    expect(text).toContain('U+202E');
    expect(text).toContain('U+200B');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await item(id).locator('img, script, a[href^="javascript"]').count()).toBe(0);
  });

  it('keeps a line of 100,000 characters inside its box', async () => {
    const agent = await server.agent(`desk ${'y'.repeat(300)}`);
    const message = 'w'.repeat(100_000);
    await agent.callTool({ name: 'order_clawdbot', arguments: { message } });
    await page.goto(server.url);
    await page.getByRole('link', { name: /message of 100000 characters/ }).click();
    await page
      .getByRole('article')
      .getByRole('button', { name: /show all 100,000/ })
      .click();
    const shown = await page
      .getByRole('article')
      .locator('.foreign-block', { hasText: 'www' })
      .first()
      .textContent();
    expect(shown?.length).toBeGreaterThanOrEqual(100_000);
    const wide = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(wide).toBe(0);
  });

  it('has no serious accessibility finding, with an item, a dialog and nothing open', async () => {
    const id = await propose('Looked at by axe');
    await openItem(id);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('e');
    await page.getByRole('dialog').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  it('reconnects automatically after the server was restarted', async () => {
    await page.goto(server.url);
    await page.getByText('Connected', { exact: true }).waitFor();
    await server.stop();
    await page.getByText('Reconnecting…').waitFor();
    await server.start();
    await page.getByText('Connected', { exact: true }).waitFor();
    await propose('After the restart');
    await page.getByRole('button', { name: '1 new' }).click();
    await row('After the restart').waitFor();
  });
});
