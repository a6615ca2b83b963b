// Takes a picture of every screen, light and dark, desktop and phone: `npm run screenshots [NAME…]`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { git, writeFiles } from '../test/support/dev.ts';
import { launchBrowser, startWeb, type WebServer } from '../test/web/support.ts';

interface Screen {
  readonly name: string;
  readonly path: string;
  /** Brings the page to the state that is worth a picture. */
  ready?(page: Page): Promise<unknown>;
}

const SCREENS: readonly Screen[] = [
  { name: 'inbox', path: '/', ready: openFirst },
  { name: 'inbox-diff', path: '/', ready: (page) => openNamed(page, /Create branch/) },
  { name: 'edit', path: '/', ready: openEdit },
  { name: 'start', path: '/start' },
  { name: 'activity', path: '/activity', ready: openCall },
  { name: 'agents', path: '/agents' },
  {
    name: 'matrix',
    path: '/agents',
    ready: (page) => page.getByRole('tab', { name: 'What they may do' }).click(),
  },
  { name: 'rule', path: '/agents', ready: writeRule },
  { name: 'insights', path: '/insights' },
  { name: 'x', path: '/x' },
  { name: 'research', path: '/research' },
  { name: 'dev', path: '/dev' },
  { name: 'assistant', path: '/assistant' },
];
const SIZES = [
  { suffix: '', viewport: { width: 1280, height: 800 } },
  { suffix: '-phone', viewport: { width: 390, height: 844 } },
] as const;
const FOLDER = process.env.SCREENSHOTS ?? join('docs', 'images');

async function openFirst(page: Page): Promise<void> {
  await page.getByRole('link', { name: /Release 2.4/ }).click();
  await page.getByRole('article').first().waitFor();
}

async function openNamed(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('link', { name }).first().click();
  await page.locator('.diff-box').first().waitFor();
}

async function openEdit(page: Page): Promise<void> {
  await openFirst(page);
  await page.getByRole('button', { name: 'Edit' }).click();
}

async function writeRule(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Rules' }).click();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('links-wait');
  await page.getByRole('combobox', { name: 'Tools' }).fill('x_like_tweet, x_follow_user');
  await page.getByText(/would have stopped/).waitFor();
}

async function openCall(page: Page): Promise<void> {
  await page.locator('.call-link').first().click();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Verified in this page').waitFor();
}

const MONEY = 'export function round(value: number): number {\n  return Math.round(value);\n}\n';

/** A clone to propose a change to. */
function makeShop(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-shop-'));
  git(folder, 'init');
  writeFiles(folder, { 'src/money.ts': MONEY });
  git(folder, 'add', '.');
  git(folder, 'commit', '-m', 'The shop');
  return folder;
}

/** Calls as agents make them, so that every screen has something to show. */
async function fill(server: WebServer): Promise<void> {
  const agent = await server.agent('research-desk');
  const call = (name: string, args: Record<string, unknown>) => agent.callTool({ name, arguments: args });
  await call('x_search_tweets', { query: 'release notes' });
  await call('x_get_user_by_username', { username: 'nobody_here' });
  await call('get_mode', {});
  await call('list_pending_approvals', {});
  await call('x_post_tweet', {
    text: 'Release 2.4 is out: faster cold starts, a calmer inbox and signed evidence for every call. Notes: https://example.com/notes',
  });
  await call('x_post_thread', {
    tweets: [
      'Why we moved approvals to the front of the pipeline, in three short parts.',
      'An agent that asks first is an agent you can leave alone for an hour. The queue keeps the exact call, not a summary of it.',
      'And the log proves both sides: who asked, who said yes, and what really happened.',
    ],
  });
  await call('x_like_tweet', { tweet_id: '1' });
  await call('x_follow_user', { target_user_id: '2' });
  await call('x_delete_tweet', { tweet_id: '1234567890' });
  const started = await call('runs_create', { repo: 'shop', purpose: 'Fix the rounding fault of issue 12' });
  const { result } = started.structuredContent as { result: { run_id: string } };
  await call('approval_request', {
    tool: 'code_branch_pr_create',
    reason: 'Fixes the rounding fault of issue 12; the tests of the run pass.',
    arguments: {
      run_id: result.run_id,
      base_branch: 'main',
      head_branch: 'fix/rounding',
      commit_message: 'Round half to even',
      pr_title: 'Round half to even',
      files: [
        {
          path: 'src/money.ts',
          original_content:
            'export function round(value: number): number {\n  return Math.round(value);\n}\n',
          modified_content:
            'export function round(value: number): number {\n  const floor = Math.floor(value);\n  if (value - floor !== 0.5) return Math.round(value);\n  return floor % 2 === 0 ? floor : floor + 1;\n}\n',
        },
      ],
    },
  });
}

const wanted = process.argv.slice(2);
const shop = makeShop();
const server = await startWeb({ config: `[dev.repos.shop]\npath = ${JSON.stringify(shop)}\n` });
const browser = await launchBrowser();
try {
  mkdirSync(FOLDER, { recursive: true });
  await fill(server);
  for (const { suffix, viewport } of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, context } = await server.signIn(browser, { viewport, colorScheme });
      for (const { name, path, ready } of SCREENS) {
        if (wanted.length > 0 && !wanted.includes(name)) continue;
        await page.goto(`${server.url}${path}`);
        await page.getByRole('heading').first().waitFor();
        await ready?.(page).catch((error: Error) => process.stderr.write(`${name}: ${error.message}\n`));
        await page.waitForTimeout(400);
        const file = `${name}${suffix}${colorScheme === 'dark' ? '-dark' : ''}.png`;
        await page.screenshot({ path: join(FOLDER, file) });
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.close();
  rmSync(shop, { recursive: true, force: true });
}
