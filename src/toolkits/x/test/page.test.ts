import type { LLMock } from '@copilotkit/aimock';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAST_DAYS, pastCalls, pastDay, pastFollowers, writePast } from '../../../../test/web/pages-past.ts';
import { dataOf, HOSTILE, seedX } from '../../../../test/web/pages-seed.ts';
import {
  expectSound,
  expectUnharmed,
  lastCall,
  roomActs,
  tabTo,
} from '../../../../test/web/pages-support.ts';
import { apiBase, launchBrowser, startWeb, type WebServer } from '../../../../test/web/support.ts';
import { startModel } from '../../assistant/test/support/assistant.ts';

let browser: Browser;
let server: WebServer;
let page: Page;
let model: LLMock;

beforeAll(async () => {
  model = await startModel();
  model.onMessage(/lena_learns/, {
    content: 'A small checker that tells the truth beats a big one that sleeps.',
  });
  model.onMessage(/status pages/, { content: 'A status page is a promise. Keep it short and keep it.' });
  const config = [
    '[llm]',
    'provider = "compatible"',
    `base_url = "${model.url}/v1"`,
    'model = "mock"',
    '[targets]',
    'accounts = ["lena_learns", "never_seen"]',
    '[limits]',
    'max_tweets_per_day = 200',
    'max_threads_per_week = 200',
    'max_replies_per_day = 200',
    '[mcp_policy]',
    'template = "none"',
    'require_approval_for = ["x_post_tweet", "x_reply_to_tweet"]',
    '',
  ].join('\n');
  [browser, server] = await Promise.all([launchBrowser(), startWeb({ toolkits: 'x,governance', config })]);
  const first = await server.signIn(browser);
  await server.call('x_search_tweets', { query: 'uptime' });
  await server.call('x_get_user_by_username', { username: 'nobody_here' });
  await seedX(await roomActs(server, first.context));
  await first.context.close();
  await server.stop();
  writePast(server.home);
  await server.start();
  page = (await server.signIn(browser)).page;
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await model?.stop();
});

const open = (path: string) => page.goto(`${server.url}${path}`);
/** Under load a second, the default, is not much. */
const WAIT = { timeout: 10_000 };
const BY_PERSON = { principal: expect.stringMatching(/^person:/), transport: 'web', status: 'ok' };
/** Where policy wants an approval the press of the button is it, and the call runs from there. */
const APPROVED_BY_PERSON = { ...BY_PERSON, transport: 'approval' };

describe('discovery', { timeout: 30_000 }, () => {
  it('explains every score by its parts', async () => {
    await open('/x');
    await page.getByText('Sandbox · nothing reaches X').waitFor();
    const found = page.getByRole('listitem').filter({ hasText: '@lena_learns' }).first();
    await found.waitFor();
    const score = Number(await found.locator('.score strong').textContent());
    const parts = await found
      .getByRole('list', { name: 'How the score is computed' })
      .getByRole('meter')
      .evaluateAll((meters) => meters.map((meter) => (meter as HTMLMeterElement).value));
    expect(parts.length).toBe(6);
    expect(Math.round(parts.reduce((sum, part) => sum + part, 0))).toBe(score);
    await expectSound(page);
  });

  it('shows what a stranger wrote as text, a line of 100,000 characters too', async () => {
    const found = page.getByRole('listitem').filter({ hasText: '@mallory' });
    expect(await found.textContent()).toContain('<script>window.__harmed = 1</script>');
    expect(await found.textContent()).toContain('U+202E');
    await found.getByRole('button', { name: /more characters/ }).click();
    await expectUnharmed(page);
  });

  it('lets the model draft an answer that the person changes and sends, as their own recorded act', async () => {
    const found = page.getByRole('listitem').filter({ hasText: '@lena_learns' }).first();
    await found.getByRole('button', { name: 'Reply' }).click();
    await page.getByRole('button', { name: 'AI Assist' }).click();
    const answer = page.getByRole('textbox', { name: 'Your reply' });
    await expect.poll(() => answer.inputValue(), WAIT).toContain('tells the truth');
    await answer.fill(`${await answer.inputValue()} Well done.`);
    await expectSound(page);
    await page.getByRole('button', { name: 'Post the reply' }).click();
    await page.getByText('Replied.', { exact: true }).waitFor();
    await found.getByText('replied').waitFor();
    expect(await lastCall(page, 'x_reply_to_tweet')).toMatchObject(APPROVED_BY_PERSON);
    const posted = await server.call('x_search_tweets', { query: 'Well done' });
    expect(JSON.stringify(posted)).toContain('tells the truth beats a big one that sleeps. Well done.');
  });
});

describe('writing', { timeout: 30_000 }, () => {
  it('lets the model write a draft, which goes nowhere until the person posts it', async () => {
    let answer = () => {};
    const asked = new Promise<void>((done) => {
      answer = done;
    });
    // A fast typist is done before the page knows which model there is.
    await page.route(/\/api\/pages\/x\/provider/, async (route) => {
      await asked;
      await route.continue();
    });
    await open('/x/write');
    await page.getByRole('textbox', { name: 'Topic' }).fill('status pages');
    await page.keyboard.press('Enter');
    answer();
    const draft = page.getByRole('article').filter({ hasText: 'A status page is a promise.' });
    await draft.waitFor();
    const before = await server.call('x_search_tweets', { query: 'status page is a promise' });
    expect(JSON.stringify(before)).not.toContain('Keep it short and keep it');
    expect(await lastCall(page, 'compose_tweet')).toMatchObject(BY_PERSON);
    await draft.getByRole('button', { name: 'Discard' }).click();
    await draft.waitFor({ state: 'detached' });
    expect(await lastCall(page, 'cancel_draft')).toMatchObject(BY_PERSON);
  });

  it('keeps a draft, counts its length as X does and shows hostile ones as text', async () => {
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('Written on the page.');
    await page.getByText('20 of 280').waitFor();
    await page.getByRole('button', { name: 'Save as a draft' }).click();
    await page.getByRole('article').filter({ hasText: 'Written on the page.' }).waitFor();
    await page.getByRole('article').filter({ hasText: '<script>window.__harmed = 1</script>' }).waitFor();
    await expectSound(page);
  });

  it('posts immediately when the person says so, and asks no one again', async () => {
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('Posted by a press of the button.');
    await page.getByRole('button', { name: 'Post now' }).click();
    await page.getByText('Posted.', { exact: true }).waitFor();
    // Policy wants an approval for this tool: the press was it.
    const approvals = await page.request.get(
      `${await apiBase(page.context(), server.url)}/inbox?state=done&limit=1`,
    );
    const { items } = (await approvals.json()) as { items: { tool: string; decided_by: string }[] };
    expect(items[0]).toMatchObject({ tool: 'x_post_tweet', decided_by: expect.stringMatching(/^person:/) });
    const posted = await server.call('x_search_tweets', { query: 'press of the button' });
    expect(JSON.stringify(posted)).toContain('Posted by a press of the button.');
  });

  it('says in the page why a text cannot be posted', async () => {
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('x'.repeat(300));
    await page.getByText('300 of 280').waitFor();
    await page.getByRole('button', { name: 'Post now' }).click();
    await page.getByRole('status').getByText('300 weighted characters').waitFor();
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('');
  });

  it('shows a draft that an agent makes while the page is open', async () => {
    await server.call('compose_tweet', { content: 'Prepared by an agent in the meantime.' });
    await page.getByRole('article').filter({ hasText: 'Prepared by an agent in the meantime.' }).waitFor();
  });

  it('gives a draft a time, by keyboard alone', async () => {
    await open('/x/write');
    await page.getByRole('article').filter({ hasText: 'Written on the page.' }).waitFor();
    await tabTo(page, 'Write');
    await tabTo(page, /^Edit or schedule/);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('Scheduled without a mouse.');
    const soon = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await dialog.getByLabel('Scheduled for').fill(`${soon}T10:30`);
    await tabTo(page, 'Save');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Write' }).focus();
    await page.keyboard.press('ArrowRight');
    const post = page.getByRole('button', { name: /10:30 ?Scheduled without a mouse/ });
    await post.waitFor();
    expect(await dayOf(post)).toBe(soon);
  });
});

const dayOf = (post: Locator) =>
  post.evaluate((button) => button.closest('li')?.getAttribute('data-day') ?? '');

describe('the calendar', { timeout: 30_000 }, () => {
  it('moves a scheduled post by keyboard and by dragging, through the pipeline', async () => {
    await open('/x/calendar');
    const post = page.getByRole('button', { name: /Release notes for 0\.2/ });
    await post.waitFor();
    const before = await dayOf(post);
    await post.focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(() => dayOf(post), WAIT).not.toBe(before);
    const moved = new Date(await dayOf(post)).getTime() - new Date(before).getTime();
    expect(moved).toBe(7 * 86_400_000);
    await expect.poll(() => post.evaluate((button) => button === document.activeElement), WAIT).toBe(true);
    expect(await lastCall(page, 'update_draft')).toMatchObject(BY_PERSON);
    await post.dragTo(page.locator(`li[data-day="${before}"]`));
    await expect.poll(() => dayOf(post), WAIT).toBe(before);
    await expectSound(page);
  });

  it('changes the text of a scheduled post in its dialog', async () => {
    await page.getByRole('button', { name: /Office hours/ }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill(`Office hours on Friday. ${HOSTILE}`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: /Office hours on Friday/ }).waitFor();
    await expectUnharmed(page);
  });
});

describe('published posts', { timeout: 30_000 }, () => {
  const entries = () => page.locator('ul[aria-label="Published posts"] > li');
  const first = () => entries().first();

  it('are listed newest first, a thread as one entry with its parts in order', async () => {
    await server.call('x_post_thread', { tweets: ['Seaside thread begins', 'Seaside thread ends'] });
    await open('/x/published');
    await first().getByText('Seaside thread begins').waitFor();
    const thread = page.getByRole('list', { name: 'Thread of 2' }).first();
    expect(await thread.getByRole('listitem').allTextContents()).toEqual([
      'Seaside thread begins',
      'Seaside thread ends',
    ]);
    expect(await first().textContent()).toContain('Not measured yet');
    await expectSound(page);
  });

  it('are sorted by engagement, with their figures, what was not measured last', async () => {
    const shown = async () =>
      (await entries().allTextContents())
        .map((text) => /(\d+) likes · (\d+) replies · (\d+) reposts · [\d,]+ impressions/.exec(text))
        .map((figures) => figures?.slice(1).reduce((sum, count) => sum + Number(count), 0) ?? -1);
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('engagement');
    await expect.poll(async () => (await shown())[0], WAIT).toBeGreaterThan(20);
    const sums = await shown();
    expect(sums).toEqual([...sums].sort((a, b) => b - a));
    expect(sums.at(-1)).toBe(-1);
  });

  it('are found by a word of their text, whatever its case', async () => {
    await page.getByRole('searchbox', { name: 'Search published posts' }).fill('SEASIDE');
    await expect.poll(() => page.getByRole('status').allTextContents(), WAIT).toContain('1 of 1');
    expect(await first().textContent()).toContain('Thread of 2');
    await page.getByRole('searchbox', { name: 'Search published posts' }).fill('no such word');
    await page.getByText('No post matches.').waitFor();
    await page.getByRole('searchbox', { name: 'Search published posts' }).fill('best of all');
    await first().getByText('<script>window.__harmed = 1</script>').waitFor();
    await expectUnharmed(page);
  });
});

describe('pending approvals', { timeout: 30_000 }, () => {
  it('stand on the page and in the calendar, with links to the inbox', async () => {
    const at = new Date(Date.now() + 3 * 86_400_000).toISOString();
    const asked = (await server.call('approval_request', {
      tool: 'compose_tweet',
      arguments: { content: 'Planned by an agent.', scheduled_for: at },
      reason: 'For the launch.',
    })) as Record<string, unknown>;
    const id = Number(dataOf(asked).approval_queue_id);
    await open('/x/calendar');
    const planned = page.getByRole('link', { name: /Pending approval Planned by an agent/ });
    await planned.waitFor();
    expect(await planned.getAttribute('href')).toBe(`/inbox/${id}`);
    const section = page.getByRole('region', { name: /pending approval/ });
    await section.getByText('Planned by an agent.').waitFor();
    await expectSound(page);
    await section.getByRole('link', { name: /Planned by an agent/ }).click();
    await page.waitForURL(new RegExp(`/inbox/${id}`));
    await server.cli('approvals', 'reject', String(id));
    await open('/x/calendar');
    await page.getByRole('button', { name: 'Today' }).waitFor();
    await expect.poll(() => page.getByText('Planned by an agent.').count(), WAIT).toBe(0);
  });
});

describe('targets, mode and figures', { timeout: 30_000 }, () => {
  it('shows what was exchanged with each watched account', async () => {
    await open('/x/targets');
    const lena = page.getByRole('row', { name: /@lena_learns/ });
    await lena.waitFor();
    const cells = await lena.getByRole('cell').allTextContents();
    expect(Number(cells[1])).toBeGreaterThan(0);
    expect(Number(cells[2])).toBe(1);
    const unknown = await page
      .getByRole('row', { name: /@never_seen/ })
      .getByRole('cell')
      .allTextContents();
    expect(unknown.slice(1, 5)).toEqual(['0', '0', 'never', 'never']);
    await expectSound(page);
  });

  it('watches another account and stops watching one of the configuration, through the pipeline', async () => {
    const field = page.getByRole('textbox', { name: 'Watch an account' });
    await field.fill('not a name!');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Up to 15 letters').waitFor();
    await field.fill('@benno_ships');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /@benno_ships/ }).waitFor();
    expect(await lastCall(page, 'update_target_account')).toMatchObject(BY_PERSON);
    const watched = async () => {
      const { data } = (await server.call('list_target_accounts', {})) as {
        data: { accounts: { username: string }[] };
      };
      return data.accounts.map(({ username }) => username);
    };
    expect(await watched()).toEqual(['lena_learns', 'never_seen', 'benno_ships']);
    await page.getByRole('button', { name: 'Stop watching @never_seen' }).click();
    await page.getByRole('row', { name: /@never_seen/ }).waitFor({ state: 'detached' });
    expect(await watched()).toEqual(['lena_learns', 'benno_ships']);
    // No agent is offered the tool.
    expect(
      JSON.stringify(await server.call('update_target_account', { username: 'a', watched: true })),
    ).toMatch(/not_found|not found|Unknown tool/i);
    await expectSound(page);
  });

  it('switches the mode for every process', async () => {
    await page.getByRole('button', { name: 'Switch to composer' }).click();
    await page.getByRole('button', { name: 'Switch to autopilot' }).waitFor();
    expect(JSON.stringify(await server.call('get_mode', {}))).toContain('composer');
    await page.getByRole('button', { name: 'Switch to autopilot' }).click();
    await page.getByRole('button', { name: 'Switch to composer' }).waitFor();
    expect(JSON.stringify(await server.call('get_mode', {}))).toContain('autopilot');
  });

  it('sums up followers, posts, replies, limits and cost', async () => {
    await open('/x/figures');
    const replies = page.locator('.number', { hasText: 'Replies' });
    await replies.getByText(/average score \d+/).waitFor();
    await page.getByRole('region', { name: 'Use of the X API' }).getByText('GET search_recent').waitFor();
    await page
      .getByRole('region', { name: 'Limits' })
      .getByRole('row', { name: /Replies 1 of 200/ })
      .waitFor();
    await expectSound(page);
  });
});

const chart = (name: string) => page.getByRole('region', { name, exact: true });

/** The numbers of a chart by their first column. */
async function tableOf(name: string): Promise<Map<string, string[]>> {
  await chart(name).getByRole('button', { name: 'Show table' }).click();
  const rows = await chart(name)
    .getByRole('row')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  await chart(name).getByRole('button', { name: 'Show chart' }).click();
  return new Map(rows.map(([first = '', ...rest]) => [first, rest]));
}

/** What the chart says about the point under the pointer, at a share of its width. */
async function hover(name: string, share: number): Promise<string> {
  const plot = chart(name).locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (!box) throw new Error(`${name} is not drawn.`);
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  return (await chart(name).locator('.u-legend').textContent()) ?? '';
}

describe('insights', { timeout: 60_000 }, () => {
  it('draws calls, errors, latency and approvals day by day, with the same numbers in the table', async () => {
    await open('/insights');
    await page.getByText('30 days').click();
    await chart('Calls and errors').locator('canvas').waitFor();
    await expect.poll(async () => (await tableOf('Calls and errors')).size, WAIT).toBeGreaterThan(25);
    const calls = await tableOf('Calls and errors');
    expect(calls.get('Day (UTC)')).toEqual(['Calls', 'Errors']);
    for (const days of [2, 5, 10]) expect(calls.get(pastDay(days))).toEqual([String(pastCalls(days)), '0']);
    expect(calls.get(pastDay(9))).toEqual([String(pastCalls(9) + 1), '1']);
    // 20 + days + 3 n of each call, on average.
    const average = 20 + 4 + (3 * (pastCalls(4) - 1)) / 2;
    expect((await tableOf('Latency')).get(pastDay(4))?.[0]).toBe(`${average} ms`);
    const approvals = await tableOf('Approvals');
    expect(approvals.get('Day (UTC)')).toEqual(['Approved', 'Rejected', 'Pending', 'Expired or withdrawn']);
    expect(approvals.get(pastDay(6))).toEqual(['1', '1', '0', '1']);
    expect(approvals.get(pastDay(5))).toEqual(['1', '0', '0', '0']);
  });

  it('says the numbers of the day under the pointer', async () => {
    const from = [...(await tableOf('Calls and errors')).keys()].slice(1);
    const legend = await hover('Calls and errors', 1 - 5 / (from.length - 1));
    expect(legend).toContain(`Day (UTC)${pastDay(5)}`);
    expect(legend).toContain(`Calls${pastCalls(5)}`);
    expect(legend).toContain('Errors0');
    expect(await hover('Approvals', 0.999)).toMatch(/Approved[1-9]/);
  });

  it('compares tools, most used first, and lists what went wrong', async () => {
    const first = page.getByRole('region', { name: 'By tool' }).getByRole('row').nth(1);
    const expected = Array.from({ length: PAST_DAYS }, (_, at) => pastCalls(at + 1)).reduce((a, b) => a + b);
    const cells = await first.getByRole('cell').allTextContents();
    expect(cells[0]).toBe('x_search_tweets');
    expect(Number(cells[1])).toBeGreaterThan(expected);
    const failed = page.getByRole('region', { name: 'Errors' }).getByRole('row', { name: /not_found/ });
    expect(await failed.textContent()).toContain('x_get_user_by_username');
  });

  it('draws one tool alone when it is chosen', async () => {
    await page.getByRole('combobox', { name: 'Charts of' }).selectOption('x_get_user_by_username');
    await expect
      .poll(async () => (await tableOf('Calls and errors')).get(pastDay(9)), WAIT)
      .toEqual(['1', '1']);
    expect((await tableOf('Calls and errors')).get(pastDay(10))).toEqual(['0', '0']);
    expect((await tableOf('Latency')).get(pastDay(9))).toEqual(['140 ms']);
    await page.getByRole('combobox', { name: 'Charts of' }).selectOption('');
    await expect
      .poll(async () => (await tableOf('Calls and errors')).get(pastDay(10)), WAIT)
      .toEqual([String(pastCalls(10)), '0']);
  });

  it('draws followers, posts, how replies did and what the API cost', async () => {
    const followers = await tableOf('Followers');
    const known = [...followers.values()].map(([value]) => value?.replace(',', ''));
    for (const days of [1, 7, 19]) expect(known).toContain(String(pastFollowers(days)));
    const posts = await tableOf('Posts per day');
    expect(posts.get('Day (UTC)')).toEqual(['Posts', 'Replies', 'Threads', 'Quotes']);
    expect(posts.get(pastDay(12))).toEqual(['1', '0', '0', '0']);
    expect(posts.get(pastDay(13))).toEqual(['1', '2', '1', '0']);
    const replies = await tableOf('Reply performance (score)');
    // Two replies of that day, by the formula of the past: 20 + (13 · 13 + 7 n) mod 70.
    expect(replies.get(pastDay(13))?.[0]).toBe('59.5');
    expect(replies.get(pastDay(12))?.[0]).toBe('–');
    const cost = await tableOf('X API cost per day');
    expect(cost.get(pastDay(10))).toEqual(['$0.07']);
    expect((await tableOf('X API requests per day')).get(pastDay(10))).toEqual(['20']);
    expect(await hover('X API cost per day', 0.5)).toMatch(/US dollars\$0\.\d+/);
    expect(await hover('Followers', 0.4)).toMatch(/Followers1,[23]\d\d/);
    expect(await hover('Reply performance (score)', 0.99)).toMatch(/Posts\d+/);
  });

  it('shows the best posts as text, fits a phone and has no serious finding', async () => {
    const best = page.getByRole('region', { name: 'Best posts and replies' }).getByRole('row').nth(1);
    expect(await best.textContent()).toContain('<script>window.__harmed = 1</script>');
    expect(await best.textContent()).toContain('12345');
    await expectSound(page);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of [
      '/insights',
      '/x',
      '/x/write',
      '/x/calendar',
      '/x/published',
      '/x/targets',
      '/x/figures',
    ]) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      // Days without an item are hidden on a phone, except today.
      await page
        .getByRole('main')
        .locator('.card, .table, .day:not(.day-empty), .day-today')
        .first()
        .waitFor();
      await expectUnharmed(page);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('counts a call while the page is open', async () => {
    await open('/insights');
    const calls = page.locator('.number', { hasText: 'Calls' }).locator('dd');
    await calls.waitFor();
    const before = Number((await calls.textContent())?.replace(',', ''));
    await server.call('get_mode', {});
    await expect
      .poll(async () => Number((await calls.textContent())?.replace(',', '')), WAIT)
      .toBe(before + 1);
  });

  it('is used by keyboard alone', async () => {
    await page.keyboard.press('Tab');
    await tabTo(page, 'Show table');
    await page.keyboard.press('Enter');
    await chart('Calls and errors').getByRole('table').waitFor();
    await tabTo(page, 'Week', { back: true });
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.getByRole('radio', { name: '30 days' }).isChecked(), WAIT).toBe(true);
  });
});
