import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './axe.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

const WEB = join(process.env.TEST_DIST ?? 'dist', 'web');
const HOSTILE = '<img src=x onerror="window.hacked=1"> \u202Egpj.exe';

let server: WebServer;
let browser: Browser;
let page: Page;
const elsewhere: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  server = await startWeb();
  browser = await launchBrowser();
  page = (await server.signIn(browser)).page;
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url)) elsewhere.push(request.url());
  });
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  const agent = await server.agent(HOSTILE);
  await agent.callTool({ name: 'get_mode', arguments: {} });
  await agent.callTool({ name: 'x_search_tweets', arguments: { query: HOSTILE } });
  await agent.callTool({ name: 'x_like_tweet', arguments: { tweet_id: '1' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe('signing in', () => {
  it('shows how to get a link to whoever is not signed in', async () => {
    const context = await browser.newContext();
    const stranger = await context.newPage();
    await stranger.goto(server.url);
    await stranger.getByText('countersign open').waitFor();
    expect(await seriousFindings(stranger)).toEqual([]);
    await context.close();
  });

  it('takes a link once', async () => {
    const link = await server.link();
    const first = await fetch(link, { redirect: 'manual' });
    expect(first.status).toBe(303);
    expect(first.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Strict/i);
    const second = await fetch(link, { redirect: 'manual' });
    expect(second.status).toBe(403);
    expect(second.headers.get('set-cookie')).toBeNull();
  });

  it('refuses a change that lacks the token of the page, and every call of a stranger', async () => {
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const bare = await fetch(`${server.url}/api/pause`, { method: 'POST', headers: { cookie } });
    expect(bare.status).toBe(403);
    expect((await fetch(`${server.url}/api/inbox`)).status).toBe(401);
    expect((await fetch(`${server.url}/api/inbox`, { headers: { cookie } })).status).toBe(200);
  });
});

describe('the first run', () => {
  it('leads from the guide to a first approval without any account', async () => {
    await page.goto(`${server.url}/start`);
    await page.getByText('X is a sandbox on this machine').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make a sample call' }).click();
    await page.getByRole('article').getByText('My first countersigned post').first().waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('article').getByText('Done.', { exact: true }).waitFor();
  });
});

describe('activity', () => {
  it('lists calls, filters them, and checks the proof of one in the page', async () => {
    await page.goto(`${server.url}/activity`);
    await page.getByRole('link', { name: 'get_mode' }).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Tool' }).fill('x_post_tweet');
    await page.getByRole('link', { name: 'get_mode' }).first().waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /x_post_tweet ok/ })
      .getByRole('link')
      .click();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('Verified in this page').waitFor();
    const steps = await page.locator('.verify-steps').textContent();
    expect(steps).toContain('leads through');
    expect(steps).toContain('is signed by');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows what an agent calls itself as text', async () => {
    await page.goto(`${server.url}/activity?tool=x_search_tweets`);
    await page.locator('.call-link').first().click();
    await page.getByText('<img src=x').first().waitFor();
    expect(await page.getByText('U+202E').count()).toBeGreaterThan(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });
});

describe('agents and policy', () => {
  it('creates an agent whose token works until it is revoked', async () => {
    await page.goto(`${server.url}/agents`);
    await page.getByRole('button', { name: 'Create an agent' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('night-shift');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const token = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
    const ask = () =>
      fetch(`${server.url}/tools/get_mode`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"arguments":{}}',
      });
    expect((await ask()).status).toBe(200);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('button', { name: 'Revoke night-shift' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect((await ask()).status).toBe(401);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('says what a rule would have stopped while it is written, then puts it in force', async () => {
    await page.goto(`${server.url}/agents`);
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('no-searching');
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('deny');
    await page.getByRole('combobox', { name: 'Tools' }).fill('x_search_tweets');
    await page.getByText(/would have stopped 1\b/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Condition' }).fill('args.nonsense == 1');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'Condition' }).fill('');
    await page.getByText(/would have stopped 1\b/).waitFor();
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await page.getByText('The rule no-searching is in force.').waitFor();
    const refused = await server.call('x_search_tweets', { query: 'anything' });
    expect(JSON.stringify(refused)).toContain('policy_denied');
    await page.getByRole('tab', { name: 'What they may do' }).click();
    await page.getByRole('row', { name: /^x_search_tweets read deny/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('switches the mode, and pauses every change until it is resumed', async () => {
    await page.getByRole('tab', { name: 'Mode, template, limits' }).click();
    await page.getByRole('button', { name: 'Switch to composer' }).click();
    await page.getByRole('button', { name: 'Switch to autopilot' }).waitFor();
    expect(JSON.stringify(await server.call('get_mode', {}))).toContain('composer');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Switch to autopilot' }).click();
    await page.getByRole('button', { name: 'Switch to composer' }).waitFor();
    await page.getByRole('button', { name: 'Pause all changes' }).click();
    await page.getByText('Every change is refused').waitFor();
    const refused = await server.call('x_like_tweet', { tweet_id: '2' });
    expect(refused.success).toBe(false);
    await page.getByRole('button', { name: 'Resume' }).first().click();
    await page.getByText('Every change is refused').waitFor({ state: 'detached' });
  });
});

describe('insights', () => {
  it('draws what happened and gives the same numbers as a table', async () => {
    await page.goto(`${server.url}/insights`);
    const chart = page.getByRole('region', { name: 'Calls and errors' });
    await chart.locator('canvas').waitFor();
    await chart.getByRole('button', { name: 'Show table' }).click();
    const numbers = await chart.getByRole('row').last().getByRole('cell').allTextContents();
    expect(Number(numbers[1])).toBeGreaterThan(4);
    expect(await seriousFindings(page)).toEqual([]);
  });
});

describe('the pages as a whole', () => {
  it('fit a phone without scrolling sideways', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['/', '/inbox/1', '/start', '/activity', '/agents', '/insights']) {
      await page.goto(server.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForTimeout(200);
      const extra = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect({ path, extra }).toEqual({ path, extra: 0 });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('have enough contrast in the dark too', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const path of ['/inbox/1', '/activity', '/agents', '/insights']) {
      await page.goto(server.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForTimeout(200);
      expect(await seriousFindings(page)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: null });
  });

  it('ask nobody else for anything and never meet the content security policy', () => {
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('load at most 200 kB of script, gzipped, for the first screen', () => {
    const html = readFileSync(join(WEB, 'index.html'), 'utf8');
    const scripts = [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path]) => path ?? '');
    expect(scripts.length).toBeGreaterThan(0);
    expect(readdirSync(join(WEB, 'assets')).length).toBeGreaterThan(scripts.length);
    const bytes = scripts.reduce((sum, path) => sum + gzipSync(readFileSync(join(WEB, path))).length, 0);
    expect(bytes).toBeLessThanOrEqual(200 * 1024);
  });
});
