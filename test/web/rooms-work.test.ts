import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { git } from '../support/dev.ts';
import { seriousFindings } from './axe.ts';
import { HOSTILE, LONG_LINE, seedDev, seedFiles, seedX } from './rooms-seed.ts';
import { expectUnharmed, roomActs } from './rooms-support.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

let browser: Browser;
let server: WebServer;
let page: Page;
let acts: Awaited<ReturnType<typeof roomActs>>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-rooms-'));
  const config = seedFiles(folder);
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,dev,governance,assistant', config }),
  ]);
  const signedIn = await server.signIn(browser, { acceptDownloads: true });
  page = signedIn.page;
  acts = await roomActs(server, signedIn.context);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (path: string) => page.goto(`${server.url}${path}`);
const tab = (name: string) => page.getByRole('tab', { name }).click();

async function expectSound(): Promise<void> {
  await expectUnharmed(page);
  expect(await seriousFindings(page)).toEqual([]);
}

describe('the X room', { timeout: 30_000 }, () => {
  it('says what to do next while it is empty', async () => {
    await open('/x');
    await page.getByText('Nothing was discovered yet.').waitFor();
    await page.getByText('sandbox: nothing reaches X').waitFor();
    await tab('Write');
    await page.getByText('No drafts.').waitFor();
    await page.getByText('AI Assist needs a language model').waitFor();
    expect(await page.getByRole('button', { name: 'Write a draft' }).isDisabled()).toBe(true);
    await expectSound();
  });

  it('finds posts and explains what their scores are made of', async () => {
    await seedX(acts);
    await tab('Discover');
    await page.getByRole('searchbox', { name: 'Search X for posts' }).fill('rust');
    await page.keyboard.press('Enter');
    const found = page.getByRole('listitem').filter({ hasText: '@lena_learns' }).first();
    await found.waitFor();
    const signals = found.getByRole('list', { name: 'What the score is made of' });
    expect(await signals.getByRole('listitem').count()).toBe(6);
    await expectSound();
  });

  it('keeps a draft and shows hostile ones as text', async () => {
    await tab('Write');
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('Written on the page.');
    await page.getByText('20 of 280').waitFor();
    await page.getByRole('button', { name: 'Keep as a draft' }).click();
    await page.getByRole('article').filter({ hasText: 'Written on the page.' }).waitFor();
    await page.getByRole('article').filter({ hasText: '<script>window.__harmed = 1</script>' }).waitFor();
    await expectSound();
  });

  it('moves a scheduled post by keyboard and by dragging', async () => {
    await tab('Calendar');
    const post = page.getByRole('button', { name: /Release notes for 0\.2/ });
    const dayOf = () => post.evaluate((button) => button.closest('li')?.getAttribute('data-day'));
    await post.waitFor();
    const before = await dayOf();
    await post.focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(dayOf).not.toBe(before);
    const moved = new Date(String(await dayOf())).getTime() - new Date(String(before)).getTime();
    expect(moved).toBe(7 * 86_400_000);
    await post.dragTo(page.locator(`li[data-day="${before}"]`));
    await expect.poll(dayOf).toBe(before);
    await expectSound();
  });

  it('switches the mode for every process', async () => {
    await page.getByRole('button', { name: 'Switch to composer' }).click();
    await page.getByRole('button', { name: 'Switch to autopilot' }).waitFor();
    expect(JSON.stringify(await server.call('get_mode', {}))).toContain('composer');
    await page.getByRole('button', { name: 'Switch to autopilot' }).click();
    await page.getByRole('button', { name: 'Switch to composer' }).waitFor();
    await tab('Targets');
    await page.getByText('@lena_learns').waitFor();
    await tab('Figures');
    await page.getByRole('region', { name: 'Use of the X API' }).getByText('GET search_recent').waitFor();
    await expectSound();
  });
});

describe('the dev room', { timeout: 30_000 }, () => {
  it('shows a pull request with its diff and merges it when the person presses the button', async () => {
    await open('/dev');
    await page.getByText('No open pull requests.').waitFor();
    await seedDev(acts);
    await page.reload();
    const diff = page.getByRole('region', { name: 'Lines of greet.js' });
    await diff.getByText('export function greet(name) {').waitFor();
    expect(await diff.textContent()).toContain('⟦U+202E⟧');
    await expectSound();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('Merged into main.').waitFor();
    expect(git(join(folder, 'demo'), 'show', 'main:greet.js')).toContain('greet(name)');
  });

  it('closes an issue, shows a report as text and hands out the bundle of a run', async () => {
    await tab('Issues');
    const issue = page.getByRole('listitem').filter({ hasText: 'Say goodbye too' });
    await issue.getByRole('button', { name: 'Close issue' }).click();
    await issue.waitFor({ state: 'detached' });
    await page
      .getByRole('listitem')
      .filter({ hasText: HOSTILE.slice(0, 40) })
      .first()
      .waitFor();
    await expectSound();
    await tab('QA reports');
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.getByRole('region', { name: 'Standard output' }).getByText('<b>2 tests</b> failed').waitFor();
    await expectSound();
    await tab('Runs');
    await page.getByText('Mend the greeting.').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the bundle' }).click(),
    ]);
    const bundle = readFileSync(await download.path(), 'utf8');
    expect(bundle).toContain('code_branch_pr_create');
    await expectSound();
  });
});

describe('the assistant room', { timeout: 30_000 }, () => {
  it('shows an order and its answer while the page is open', async () => {
    await open('/assistant');
    await page.getByText('Nobody has given the assistant an order yet.').waitFor();
    await expectSound();
    await server.call('order_clawdbot', { message: `Look at this. ${HOSTILE} ${LONG_LINE}` });
    const answer = page.getByRole('listitem').filter({ hasText: 'I looked at it: Look at this.' });
    await answer.first().waitFor();
    await page.getByText('U+202E').first().waitFor();
    await expectSound();
  });

  it('and every other room fit a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['/assistant', '/x', '/x/write', '/x/calendar', '/x/figures', '/dev', '/dev/issues']) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('load');
      await expectUnharmed(page);
    }
  });
});
