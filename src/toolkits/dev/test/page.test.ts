import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dataOf,
  GREET,
  HOSTILE,
  LONG_LINE,
  openPull,
  seedDev,
  seedFiles,
} from '../../../../test/web/pages-seed.ts';
import {
  expectSound,
  expectUnharmed,
  lastCall,
  missingPages,
  roomActs,
  tabTo,
} from '../../../../test/web/pages-support.ts';
import { launchBrowser, startWeb, type WebServer } from '../../../../test/web/support.ts';
import { git } from './support/dev.ts';

let browser: Browser;
let server: WebServer;
let page: Page;
let acts: Awaited<ReturnType<typeof roomActs>>;
let folder: string;
let run: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-pages-'));
  const config = seedFiles(folder);
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,dev,governance,assistant', config }),
  ]);
  const signedIn = await server.signIn(browser, { acceptDownloads: true });
  page = signedIn.page;
  page.setDefaultTimeout(10_000);
  acts = await roomActs(server, signedIn.context);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (path: string) => page.goto(`${server.url}${path}`);
const tab = (name: string) => page.getByRole('tab', { name }).click();
const BY_PERSON = { principal: expect.stringMatching(/^person:/), status: 'ok' };

describe('pages with nothing in them', { timeout: 30_000 }, () => {
  it('say what to do next', async () => {
    await open('/x');
    await page.getByText('No discovered posts yet').waitFor();
    await page.getByText('Sandbox · nothing reaches X').waitFor();
    await tab('Write');
    await page.getByText('No drafts').waitFor();
    await page.getByText('AI Assist needs a language model').waitFor();
    expect(await page.getByRole('button', { name: 'Write a draft' }).isDisabled()).toBe(true);
    await expectSound(page);
    await tab('Calendar');
    await page.getByText('No scheduled posts.').waitFor();
    await open('/dev');
    await page.getByText('No open pull requests').waitFor();
    await tab('Issues');
    await page.getByText('No issues').waitFor();
    await tab('Runs');
    await page.getByText('No runs yet').waitFor();
    await tab('QA reports');
    await page.getByText('No test or lint runs yet').waitFor();
    await expectSound(page);
  });
});

describe('the dev room', { timeout: 30_000 }, () => {
  it('shows a pull request with its diff, hostile text and a line of 100,000 characters as text', async () => {
    run = await seedDev(acts);
    await open('/dev');
    const diff = page.getByRole('region', { name: 'Lines of greet.js' });
    await diff.getByText('export function greet(name) {').waitFor();
    const text = (await diff.textContent()) ?? '';
    expect(text).toContain('‹U+202E›');
    expect(text).toContain('<script>window.__harmed = 1</script>');
    expect(text).toContain(LONG_LINE);
    await page.getByText('untrusted').first().waitFor();
    await expectSound(page);
  });

  it('shows whether it can be merged and what was checked, and takes the comment of a person', async () => {
    const checks = page.getByRole('region', { name: 'Checks' });
    await checks.getByText('No conflicts with main').waitFor();
    await checks
      .getByRole('listitem')
      .filter({ hasText: 'qa_test' })
      .getByText('Failed', { exact: true })
      .waitFor();
    const head = page.getByRole('region', { name: 'Comments' });
    await head.getByRole('textbox', { name: 'Your comment' }).fill(`Please greet twice. ${HOSTILE}`);
    await head.getByRole('combobox', { name: 'Kind of review' }).selectOption('Request changes');
    await head.getByRole('button', { name: 'Request changes' }).click();
    const remark = head.getByRole('listitem').filter({ hasText: 'Please greet twice.' });
    await remark.getByText('requested changes').waitFor();
    expect(await head.getByRole('textbox', { name: 'Your comment' }).inputValue()).toBe('');
    expect(await lastCall(page, 'dev_pr_review')).toMatchObject(BY_PERSON);
    await expectSound(page);
  });

  it('merges when the person presses the button, which is recorded as their act', async () => {
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('Merged into main.').waitFor();
    expect(git(join(folder, 'demo'), 'show', 'main:greet.js')).toContain('greet(name)');
    expect(await lastCall(page, 'dev_pr_merge')).toMatchObject(BY_PERSON);
  });

  it('refuses to merge what was pushed after the person looked', async () => {
    const repo = join(folder, 'demo');
    git(repo, 'reset', '-q', '--hard', 'main');
    git(repo, 'revert', '--no-edit', '-m', '1', 'HEAD');
    await openPull(acts, run, {
      head_branch: 'shout',
      pr_title: 'Shout the greeting',
      greeting: GREET.replace('hello', 'HELLO'),
    });
    await open('/dev');
    await page.getByRole('heading', { name: /Shout the greeting/ }).waitFor();
    const tree = git(repo, 'rev-parse', 'main^{tree}');
    const pushed = git(repo, 'commit-tree', '-p', 'shout', '-m', 'Something else', tree);
    git(repo, 'update-ref', 'refs/heads/shout', pushed);
    await page.getByRole('button', { name: 'Squash and merge' }).click();
    await page.locator('.toast-bad').waitFor();
    expect(git(repo, 'show', 'main:greet.js')).not.toContain('HELLO');
  });

  it('closes a pull request, and finds it again among the closed ones', async () => {
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByText('No open pull requests').waitFor();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('closed');
    await page.getByRole('button', { name: /Shout the greeting Closed/ }).waitFor();
    await page.getByRole('button', { name: /Greet by name.* Merged/ }).click();
    await page.getByRole('heading', { name: /Greet by name/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Merge', exact: true }).count()).toBe(0);
  });

  it('closes an issue by keyboard alone, and shows hostile ones as text', async () => {
    await tabTo(page, 'Pull requests', { back: true });
    await page.keyboard.press('ArrowRight');
    const issue = page.getByRole('listitem').filter({ hasText: 'Say goodbye too' });
    await issue.waitFor();
    await tabTo(page, 'Close issue');
    await page.keyboard.press('Enter');
    await issue.waitFor({ state: 'detached' });
    expect(await lastCall(page, 'dev_issue_close')).toMatchObject(BY_PERSON);
    const hostile = page.getByRole('listitem').filter({ hasText: 'Greeting is wrong' });
    expect(await hostile.textContent()).toContain(HOSTILE.slice(0, 40));
    await hostile.getByRole('button', { name: /more characters/ }).click();
    await expectSound(page);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('closed');
    await issue.getByText('closed').waitFor();
  });

  it('shows reports of tests and linters with their output, each under its own repository', async () => {
    await acts.person('qa_lint', { run_id: run });
    await tab('QA reports');
    const test = page.getByRole('listitem').filter({ hasText: 'Test: failed' });
    await test.getByRole('button', { name: 'Show output' }).click();
    const output = page.getByRole('region', { name: 'Standard output' });
    await output.getByText('<b>2 tests</b> failed').waitFor();
    await expectSound(page);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Lint: passed' })
      .getByText('Pass', { exact: true })
      .waitFor();
    await page.getByRole('combobox', { name: 'Repository' }).selectOption('other');
    await page.getByText('No test or lint runs yet').waitFor();
    await page.getByRole('combobox', { name: 'Repository' }).selectOption('demo');
    await test.waitFor();
  });

  it('hands out the bundle of a run, which anyone can verify, and no one after it was changed', async () => {
    await tab('Runs');
    await page.getByText('Fix the greeting.').waitFor();
    await expectSound(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the bundle' }).click(),
    ]);
    const bundle = readFileSync(await download.path(), 'utf8');
    expect(bundle).toContain('code_branch_pr_create');
    const file = join(folder, 'bundle.json');
    writeFileSync(file, bundle);
    expect(await server.cli('audit', 'check', file)).toContain('The bundle is valid');
    writeFileSync(file, bundle.replace('code_branch_pr_create', 'code_branch_pr_delete'));
    await expect(server.cli('audit', 'check', file)).rejects.toMatchObject({
      stdout: expect.stringContaining('INVALID: the bundle failed verification.'),
    });
  });

  it('shows a run that an agent starts while the page is open', async () => {
    const reply = await server.call('runs_create', { repo: 'demo', purpose: 'Started in the meantime.' });
    const card = page.getByRole('listitem').filter({ hasText: 'Started in the meantime.' });
    await card.waitFor();
    await card.getByText(String(dataOf(reply).run_id).slice(0, 8)).waitFor();
    await card.getByRole('link', { name: 'Its calls' }).click();
    await page.waitForURL(/\/activity\?run=/);
  });
});

describe('the assistant room', { timeout: 30_000 }, () => {
  it('follows an order from its first word to its answer although the page asks nothing by the clock', async () => {
    await open('/assistant');
    await page.getByText('No orders yet').waitFor();
    await expectSound(page);
    // Another browser, because a clock belongs to all pages of one.
    const { page: still, context } = await server.signIn(browser);
    await still.clock.install();
    await still.goto(`${server.url}/assistant`);
    await still.getByText('No orders yet').waitFor();
    await still.getByText('Connected', { exact: true }).waitFor();
    await still.clock.pauseAt(new Date(Date.now() + 2000));
    const go = join(folder, 'go');
    const answered = server.call('order_clawdbot', { message: `Look at this, WAIT ${go}` });
    const transcript = still.getByRole('region', { name: 'Transcript' });
    await transcript.getByRole('listitem').filter({ hasText: 'Look at this' }).waitFor();
    await still.getByRole('navigation', { name: 'Sessions' }).getByText('working').waitFor();
    expect(await transcript.getByRole('listitem').count()).toBe(1);
    writeFileSync(go, '');
    await answered;
    await transcript.getByRole('listitem').filter({ hasText: 'I looked at it' }).waitFor();
    await still.getByText('working').waitFor({ state: 'detached' });
    await context.close();
  });

  it('shows hostile orders and a line of 100,000 characters as text, by keyboard', async () => {
    await server.call('order_clawdbot', { message: `Second. ${HOSTILE} ${LONG_LINE}` });
    const sessions = page.getByRole('navigation', { name: 'Sessions' });
    await sessions.getByRole('button', { name: /Second/ }).waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await tabTo(page, /^Second/);
    await page.keyboard.press('Enter');
    const said = page.getByRole('listitem').filter({ hasText: 'I looked at it: Second.' });
    await said.getByText('U+202E').first().waitFor();
    await said.getByRole('button', { name: /more characters/ }).click();
    await expectSound(page);
  });

  it('takes the message of a person, who continues with their own conversation only', async () => {
    await page.getByText('belongs to local').waitFor();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByRole('textbox', { name: 'New conversation' }).fill('From the page.');
    await page.keyboard.press('Control+Enter');
    const said = page.getByRole('listitem').filter({ hasText: 'I looked at it: From the page.' });
    await said.waitFor();
    expect(await lastCall(page, 'order_clawdbot')).toMatchObject(BY_PERSON);
    await page.getByRole('textbox', { name: 'Continue this conversation' }).fill('And again.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('listitem').filter({ hasText: 'I looked at it: And again.' }).waitFor();
    await said.waitFor();
    await expectSound(page);
  });

  it('and every page it can be reached from have no link to a missing page', {
    timeout: 180_000,
  }, async () => {
    expect(await missingPages(page, server.url, ['/', '/start', '/inbox/1'])).toEqual([]);
    expect(await missingPages(page, server.url, ['/no/such/page'])).toHaveLength(1);
  });

  it('and every other room fit a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['/assistant', '/dev/pulls/3', '/dev/issues', '/dev/runs', '/dev/qa']) {
      await open(path);
      await page.getByRole('main').locator('.card, .said').first().waitFor();
      await expectUnharmed(page);
    }
  });
});
