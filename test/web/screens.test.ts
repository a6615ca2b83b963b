import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { darkFindings, seriousFindings } from './axe.ts';
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
  it('shows how to get a link to a person who is not signed in', async () => {
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
    expect(first.headers.get('set-cookie')).toMatch(/Path=\/api\/s\/[\w-]{22}/i);
    expect(first.headers.get('location')).toMatch(/^\/#s=[\w-]{22}$/);
    const second = await fetch(link, { redirect: 'manual' });
    expect(second.status).toBe(403);
    expect(second.headers.get('set-cookie')).toBeNull();
  });

  it('leads a person who opened a page signed out to that page, by either way of signing in', async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(`${server.url}/inbox/1?state=all`);
    await tab.getByText('countersign open /inbox/1', { exact: true }).waitFor();
    const other = await context.newPage();
    await other.goto(await server.link());
    await other.getByRole('navigation', { name: 'Pages' }).waitFor();
    expect(other.url()).toBe(`${server.url}/inbox/1?state=all`);
    // The page that asked follows without a reload.
    await tab.getByRole('navigation', { name: 'Pages' }).waitFor();
    // What was remembered is used once.
    await other.goto(await server.link());
    expect(new URL(other.url()).pathname).not.toContain('inbox');
    await context.close();

    const elsewhere = await browser.newContext();
    const page = await elsewhere.newPage();
    await page.goto(await server.link('/activity?tool=get_mode'));
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    expect(page.url()).toBe(`${server.url}/activity?tool=get_mode`);
    await elsewhere.close();
  });

  it('never leads elsewhere, whatever a link says', async () => {
    for (const to of ['//evil.example', 'https://evil.example/', '/\\evil.example', '/.//evil.example']) {
      const link = `${await server.link()}&to=${encodeURIComponent(to)}`;
      const { headers } = await fetch(link, { redirect: 'manual' });
      expect(headers.get('location'), to).toMatch(/^\/#s=[\w-]{22}$/);
    }
    // A command to copy never contains what an address made up.
    const context = await browser.newContext();
    const stranger = await context.newPage();
    await stranger.goto(`${server.url}/inbox/$(touch%20x);ls`);
    await stranger.getByText('countersign open', { exact: true }).waitFor();
    await context.close();
  });

  it('takes no change without the token of this very session, from no other origin and under no other name', async () => {
    const cookie = await cookieOf(page);
    const other = await server.signIn(browser);
    const [mine, theirs] = await Promise.all([csrfOf(cookie), csrfOf(await cookieOf(other.page))]);
    const pause = (headers: Record<string, string>) =>
      send('POST', '/api/pause', { cookie, ...headers }).then(({ status }) => status);
    expect(await pause({})).toBe(403);
    expect(await pause({ 'x-csrf-token': theirs })).toBe(403);
    expect(await pause({ 'x-csrf-token': `${mine}x` })).toBe(403);
    expect(await pause({ 'x-csrf-token': mine, origin: 'https://evil.example' })).toBe(403);
    expect(await pause({ 'x-csrf-token': mine, host: 'evil.example' })).toBe(403);
    for (const [method, path] of [
      ['PUT', '/api/policy'],
      ['DELETE', '/api/agents/x'],
      ['POST', '/api/inbox/1/approve'],
      ['POST', '/api/tools/x_post_tweet'],
    ] as const)
      expect((await send(method, path, { cookie })).status, path).toBe(403);
    const { paused } = (await (await send('GET', '/api/session', { cookie })).json()) as { paused: boolean };
    expect(paused).toBe(false);
    await other.context.close();
  });

  it('knows neither strangers nor agents, and forgets who signed out', async () => {
    expect((await send('GET', '/api/inbox')).status).toBe(401);
    expect((await send('GET', '/api/events')).status).toBe(401);
    const added = JSON.parse(await server.cli('--json', 'agents', 'add', 'climber')) as { token: string };
    const authorization = `Bearer ${added.token}`;
    expect((await send('POST', '/tools/get_mode', { authorization }, '{"arguments":{}}')).status).toBe(200);
    expect((await send('GET', '/api/inbox', { authorization })).status).toBe(401);
    expect((await send('POST', '/api/inbox/1/approve', { authorization })).status).toBe(401);

    const leaving = await server.signIn(browser);
    const cookie = await cookieOf(leaving.page);
    expect((await send('GET', '/api/inbox', { cookie })).status).toBe(200);
    await leaving.page.getByRole('button', { name: 'Sign out' }).click();
    await leaving.page.getByText('countersign open').waitFor();
    expect((await send('GET', '/api/inbox', { cookie })).status).toBe(401);
    await leaving.context.close();
  });

  it('answers everything with a policy that allows nothing inline, nothing from elsewhere and no frame', async () => {
    const cookie = await cookieOf(page);
    const html = await (await send('GET', '/')).text();
    expect(html).not.toMatch(/<style|style=|onload=|<script(?![^>]*src=)/);
    const script = /src="([^"]+\.js)"/.exec(html)?.[1] ?? '';
    for (const path of ['/', '/inbox/1', script, '/api/inbox', '/sign-in?token=none', '/api/nothing']) {
      const { headers } = await send('GET', path, { cookie, accept: 'text/html' });
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy, path).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy, path).toContain("frame-ancestors 'none'");
      expect(policy, path).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('referrer-policy'), path).toBe('no-referrer');
      if (path.startsWith('/api/')) expect(headers.get('cache-control'), path).toBe('no-store');
    }
    // The browser keeps to it: what a fault would put into the page does not run.
    const { page: spare, context } = await server.signIn(browser);
    await spare.evaluate(
      'document.body.insertAdjacentHTML(\'beforeend\', \'<img src=x onerror="window.ran=1"><iframe srcdoc="<script>parent.ran=2<\\/script>"></iframe>\')',
    );
    await spare.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { text: 'window.ran=3' }))",
    );
    expect(await spare.evaluate('window.ran')).toBeUndefined();
    await context.close();
  });
});

/** A request as any program could make it. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Response> {
  const { host, ...rest } = headers;
  if (host === undefined)
    return fetch(server.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...rest },
      ...(method === 'GET' ? {} : { body: body ?? '{}' }),
      redirect: 'manual',
    });
  // `fetch` does not let one choose the host.
  return new Promise((done, fail) => {
    const request = httpRequest(server.url + path, { method, headers }, (answer) => {
      answer.resume();
      done(new Response(null, { status: answer.statusCode ?? 500 }));
    });
    request.once('error', fail);
    request.end('{}');
  });
}

const cookieOf = async (at: Page): Promise<string> =>
  (await at.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');

async function csrfOf(cookie: string): Promise<string> {
  return ((await (await send('GET', '/api/session', { cookie })).json()) as { csrf: string }).csrf;
}

describe('the first run', () => {
  it('leads from the guide to a first approval without any account', async () => {
    await page.goto(`${server.url}/start`);
    await page.getByText('X is a sandbox on this machine').waitFor();
    await page.getByText('Connect another client').click();
    await page.getByLabel('Other client').selectOption('Codex');
    await page.getByText('default_tools_approval_mode = "approve"').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create a sample call' }).click();
    await page.getByRole('article').getByText('My first countersigned post').first().waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('article').getByText('Done.', { exact: true }).waitFor();
  });
});

describe('activity', () => {
  it('lists calls, filters them, and checks the proof of one in the page', async () => {
    await page.goto(`${server.url}/activity`);
    await page.getByRole('link', { name: 'Got operating mode' }).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Tool' }).fill('x_post_tweet');
    await page.getByRole('link', { name: 'Got operating mode' }).first().waitFor({ state: 'detached' });
    await page
      .getByRole('link', { name: /^Posted to @/ })
      .first()
      .click();
    await page.getByText('Verified here').waitFor();
    const steps = await page.locator('.verify-steps').textContent();
    expect(steps).toContain('is in the log of');
    expect(steps).toContain('is signed by');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows what an agent calls itself as text', async () => {
    await page.goto(`${server.url}/activity?tool=x_search_tweets`);
    await page.locator('.call-link').first().click();
    await page.getByText('Technical details').click();
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
    const token = (await page.getByRole('dialog').locator('pre').first().textContent()) ?? '';
    const ask = () =>
      fetch(`${server.url}/tools/get_mode`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"arguments":{}}',
      });
    expect(await page.getByRole('dialog').locator('pre').last().textContent()).toContain(token);
    expect((await ask()).status).toBe(200);
    await page.getByRole('button', { name: 'I copied the token' }).click();
    await page.getByRole('link', { name: 'night-shift' }).click();
    await page.getByRole('button', { name: 'Pause night-shift' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await expect.poll(async () => (await ask()).text()).toContain('agent_paused');
    await page.getByRole('button', { name: 'Resume night-shift' }).click();
    await page.getByText('Paused', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke night-shift' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    expect((await ask()).status).toBe(401);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('says what a rule would have stopped while it is written, then puts it in force', async () => {
    await page.goto(`${server.url}/policy`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const stopped = () =>
      page.locator('.figures > div', { hasText: 'Newly stopped' }).locator('.figure').textContent();
    await page.getByRole('textbox', { name: 'Name' }).fill('no-searching');
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('deny');
    await page.getByRole('combobox', { name: 'Tools' }).fill('x_search_tweets');
    await expect.poll(stopped).toBe('1');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Condition' }).fill('args.nonsense == 1');
    await page.getByText('no tool of this rule takes args.nonsense').waitFor();
    await page.getByRole('textbox', { name: 'Condition' }).fill('');
    await expect.poll(stopped).toBe('1');
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await page.getByText('Rule no-searching is active.').waitFor();
    const refused = await server.call('x_search_tweets', { query: 'anything' });
    expect(JSON.stringify(refused)).toContain('policy_denied');
    await page.getByRole('tab', { name: 'Permissions' }).click();
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
    await page.getByText('New changes are refused').waitFor();
    const refused = await server.call('x_like_tweet', { tweet_id: '2' });
    expect(refused.success).toBe(false);
    await page.getByRole('button', { name: 'Resume' }).first().click();
    await page.getByText('New changes are refused').waitFor({ state: 'detached' });
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

describe('the installed app', () => {
  it('has a manifest with icons that exist', async () => {
    const manifest = await (await send('GET', '/manifest.webmanifest')).json();
    expect(manifest).toMatchObject({ name: 'Countersign', start_url: '/', display: 'standalone' });
    for (const { src } of (manifest as { icons: { src: string }[] }).icons)
      expect((await send('GET', src)).headers.get('content-type'), src).toBe('image/png');
  });

  it('notifies of new approvals only by consent and in the background, without what others wrote', async () => {
    const { page: tab, context } = await server.signIn(browser);
    await context.grantPermissions(['notifications'], { origin: server.url });
    await tab.evaluate('navigator.serviceWorker.ready');
    // A browser without windows shows no notification, so what it is given to show is noted.
    await tab.evaluate(() => {
      const shown: object[] = [];
      const { prototype } = ServiceWorkerRegistration;
      const { showNotification } = prototype;
      prototype.showNotification = function show(title, { body, data } = {}) {
        shown.push({ title, body, data });
        return showNotification.call(this, title, { body, data });
      };
      Object.assign(window, { notified: shown });
    });
    const notified = () => tab.evaluate('window.notified');
    const hide = (hidden: boolean) =>
      tab.evaluate(
        (value) => Object.defineProperty(document, 'hidden', { value, configurable: true }),
        hidden,
      );
    await hide(true);
    await server.call('x_post_tweet', { text: 'before consent' });
    await hide(false);
    const asked = tab.waitForResponse((response) => response.url().endsWith('/notices'));
    await tab.getByRole('button', { name: 'Allow notifications' }).click();
    await asked;
    const seen = tab.waitForResponse((response) => response.url().includes('/notices?after='));
    await server.call('x_post_tweet', { text: 'seen on the page' });
    await seen;
    expect(await notified()).toEqual([]);
    await hide(true);
    const { data } = (await server.call('x_post_tweet', { text: 'a secret plan' })) as {
      data: { approval_queue_id: number };
    };
    const path = `/inbox/${data.approval_queue_id}`;
    await expect.poll(notified).toEqual([
      {
        title: expect.stringMatching(/^Post to @\w+ \(sandbox\)$/),
        body: 'Requested by agent:local',
        data: { path },
      },
    ]);
    // A click arrives as this message of the worker; an address of elsewhere is ignored.
    await context.serviceWorkers()[0]?.evaluate(async (open) => {
      const scope = self as unknown as {
        clients: { matchAll(): Promise<{ postMessage(message: unknown): void }[]> };
      };
      for (const one of await scope.clients.matchAll()) {
        one.postMessage({ open: '//evil.example/' });
        one.postMessage({ open });
      }
    }, path);
    await expect.poll(() => tab.url()).toBe(server.url + path);
    await tab.getByRole('button', { name: 'Notifications: on' }).click();
    await tab.getByRole('button', { name: 'Allow notifications' }).waitFor();
    await context.close();
  });

  it('keeps its shell and no data, and says when the server is not running', async () => {
    const { page: tab, context } = await server.signIn(browser);
    await tab.evaluate('navigator.serviceWorker.ready');
    await tab.goto(`${server.url}/activity`);
    await tab.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    const kept = await tab.evaluate(async () => {
      const names = await caches.keys();
      const found = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return found.flat().map(({ url }) => new URL(url).pathname);
    });
    expect(kept).toContain('/');
    expect(kept.filter((path) => path !== '/' && !path.startsWith('/assets/'))).toEqual([]);
    await server.stop();
    await tab.goto(`${server.url}/inbox/1`);
    await tab.getByText('Is `countersign up` running?').waitFor();
    await server.start();
    await tab.reload();
    await tab.getByRole('navigation', { name: 'Pages' }).waitFor();
    await context.close();
  });
});

describe('the pages as a whole', () => {
  it('fit a phone without scrolling sideways', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['/', '/inbox/1', '/start', '/activity', '/agents', '/policy', '/insights']) {
      await page.goto(server.url + path);
      // An open item has no room for the name of the page on a phone.
      await page.getByRole('heading').first().waitFor();
      await page.waitForTimeout(200);
      const extra = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect({ path, extra }).toEqual({ path, extra: 0 });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('have no serious finding in the dark either, with their dialogs open', async () => {
    await server.call('x_post_tweet', { text: 'Looked at in the dark' });
    await page.emulateMedia({ colorScheme: 'dark' });
    const look = async (name: string, path: string, ...steps: (() => Promise<unknown>)[]): Promise<void> => {
      await page.goto(server.url + path);
      await page.getByRole('heading').first().waitFor();
      for (const step of steps) await step();
      await page.waitForTimeout(200);
      expect({ name, found: await darkFindings(page) }).toEqual({ name, found: [] });
    };
    const press = (name: string) => () => page.getByRole('button', { name }).first().click();
    const tab = (name: string) => () => page.getByRole('tab', { name }).click();
    const waiting = () => page.getByRole('link', { name: /Looked at in the dark/ }).click();
    const dialog = () => page.getByRole('dialog').waitFor();
    await look('start', '/start');
    await look('decided item', '/inbox/1');
    await look('waiting item', '/', waiting);
    await look('edit', '/', waiting, press('Edit'), dialog);
    await look('reject', '/', waiting, press('Reject'), dialog);
    await look(
      'many',
      '/',
      () => page.getByRole('checkbox').first().check(),
      press('Approve 1 selected'),
      dialog,
    );
    await look('keys', '/', press('Shortcuts'), dialog);
    await look('filter', '/', press('Filter'), () => page.getByText('Older than 7 days').waitFor());
    await look('palette', '/', press('Search or jump to'), dialog);
    await look('decided', '/', press('Decided'));
    await look('activity', '/activity');
    await look(
      'call',
      '/activity?tool=get_mode',
      () => page.locator('.call-link').first().click(),
      press('Show the proof'),
    );
    await look('agents', '/agents');
    await look('new agent', '/agents', press('Create an agent'), dialog);
    await look('matrix', '/policy', tab('Permissions'), () =>
      page.locator('.matrix tbody tr').first().waitFor(),
    );
    await look('rules', '/policy');
    await look('rule', '/policy', press('Add a rule'), () => page.getByText('Tested on your last').waitFor());
    await look('explain', '/policy', press('Explain a call'), dialog);
    await look('remembered', '/policy/remembered');
    await look('settings', '/policy', tab('Mode, template, limits'));
    await look('insights', '/insights');
    await page.emulateMedia({ colorScheme: null });
  });

  it('request nothing from other hosts and never violate the content security policy', () => {
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('load at most 170 kB for the first screen: gzipped scripts and styles, and the fonts', () => {
    const html = readFileSync(join(WEB, 'index.html'), 'utf8');
    const scripts = [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path]) => path ?? '');
    const styles = [...html.matchAll(/href="([^"]+\.css)"/g)].map(([, path]) => path ?? '');
    const fonts = readdirSync(join(WEB, 'assets')).filter((name) => name.endsWith('.woff2'));
    expect(scripts.length).toBeGreaterThan(0);
    expect(fonts).toHaveLength(2);
    expect(readdirSync(join(WEB, 'assets')).length).toBeGreaterThan(scripts.length);
    const sent = [...scripts, ...styles].map((path) => gzipSync(readFileSync(join(WEB, path))).length);
    const sizes = [...sent, ...fonts.map((name) => readFileSync(join(WEB, 'assets', name)).length)];
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    process.stderr.write(`The first screen takes ${(bytes / 1000).toFixed(1)} kB.\n`);
    expect(bytes).toBeLessThanOrEqual(170_000);
  });
});
