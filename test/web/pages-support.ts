import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { darkFindings, seriousFindings } from './axe.ts';
import { apiBase, type WebServer } from './support.ts';

/** What a person does on other pages and an agent elsewhere, to have something to look at. */
export async function roomActs(server: WebServer, context: BrowserContext) {
  const base = await apiBase(context, server.url);
  const { csrf } = (await (await context.request.get(`${base}/session`)).json()) as {
    csrf: string;
  };
  const post = async (path: string, data: object) => {
    const response = await context.request.post(`${base}${path}`, {
      headers: { 'x-csrf-token': csrf },
      data,
    });
    return (await response.json()) as Record<string, unknown>;
  };
  return {
    async person(tool: string, args: object): Promise<Record<string, unknown>> {
      if (tool === 'approve') {
        const { state } = await post(`/inbox/${(args as { id: number }).id}/approve`, {});
        expect(state).toMatch(/approved|done/);
        return {};
      }
      const reply = await post(`/tools/${tool}`, { arguments: args, approve: true });
      expect(reply, tool).toMatchObject({ status: 'ok' });
      return reply.data as Record<string, unknown>;
    },
    agent: (tool: string, args: object) => server.call(tool, args),
  };
}

/** Nothing a stranger wrote ran, became a link or pushed the page out of its width. */
export async function expectUnharmed(page: Page): Promise<void> {
  expect(await page.evaluate('window.__harmed')).toBeUndefined();
  expect(await page.locator('main a[href^="javascript:"], main img, main script').count()).toBe(0);
  const spare = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(spare).toBeLessThanOrEqual(0);
}

/** Nothing was harmed, and axe has nothing serious to say, in the light and in the dark. */
export async function expectSound(page: Page): Promise<void> {
  await expectUnharmed(page);
  for (const [colorScheme, look] of [
    ['light', seriousFindings],
    ['dark', darkFindings],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await look(page), `${page.url()} in ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
}

/**
 * Walks with Tab until the control of that name has the focus, as a person without a pointer does; every stop on
 * the way must show that it has it.
 */
export async function tabTo(
  page: Page,
  name: string | RegExp,
  { most = 60, back = false } = {},
): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < most; step += 1) {
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!(element instanceof HTMLElement) || element === document.body) return undefined;
      const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
      const ringed = [element, ...labels].some((each) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(each);
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0;
      });
      const named = element.getAttribute('aria-label') ?? labels[0]?.textContent ?? element.textContent ?? '';
      return { named: named.trim().slice(0, 80), ringed };
    });
    if (!stop) continue;
    expect(stop.ringed, `the focus on ${stop.named} is not to be seen`).toBe(true);
    if (typeof name === 'string' ? stop.named === name : name.test(stop.named)) return;
    passed.push(stop.named);
  }
  throw new Error(`Tab never came to ${name}; it passed ${passed.join(' | ')}`);
}

interface Called {
  readonly tool: string;
  readonly principal: string;
  readonly transport: string;
  readonly status: string;
}

/** The newest recorded call of a tool: what a page does must be in the log as the person's own act. */
export async function lastCall(page: Page, tool: string): Promise<Called | undefined> {
  const { origin } = new URL(page.url());
  const response = await page.request.get(
    `${await apiBase(page.context(), origin)}/activity?tool=${tool}&limit=1`,
  );
  const { calls } = (await response.json()) as { calls: readonly Called[] };
  return calls[0];
}

/** Addresses that differ only in what they show are one kind of page; so many of each are opened. */
const OF_A_KIND = 2;
const kindOf = (path: string): string =>
  path.replace(/\?.*$/, '?').replaceAll(/\/(\d+|[0-9a-f-]{16,})(?=[/?]|$)/g, '/N');

/** Leads to another page as a link of the app does, without reloading the app. */
const follow = (page: Page, path: string): Promise<void> =>
  page.evaluate(async (to) => {
    history.pushState(null, '', to);
    await new Promise((rendered) => requestAnimationFrame(() => setTimeout(rendered)));
  }, path);

/**
 * Follows every internal link from there on, tabs included, and gives the addresses that lead to no page or to a page
 * that does not find what the link names. Pages outside `within` are opened, but their own links are not followed.
 */
export async function missingPages(
  page: Page,
  url: string,
  from: readonly string[],
  within = '/',
): Promise<readonly string[]> {
  await page.goto(url + (from[0] ?? '/'));
  const queue = [...from];
  const seen = new Set(queue);
  const opened = new Map<string, number>();
  const missing: string[] = [];
  const collect = async (source: string): Promise<void> => {
    const found = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLAnchorElement>('a[href^="/"]:not([download])')].map(
        ({ pathname, search }) => pathname + search,
      ),
    );
    for (const path of [...found, new URL(page.url()).pathname]) {
      if (seen.has(path) || path.startsWith('/api/')) continue;
      seen.add(path);
      queue.push(path);
      links.set(path, source);
    }
  };
  const links = new Map<string, string>();
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const kind = kindOf(path);
    const times = opened.get(kind) ?? 0;
    opened.set(kind, times + 1);
    if (times >= OF_A_KIND) continue;
    await follow(page, path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForFunction(
      () => !document.querySelector('.skeleton') && !/Loading…/.test(document.body.innerText),
    );
    const isMissing =
      (await page.getByRole('heading', { name: 'Page not found' }).count()) > 0 ||
      (await page
        .getByRole('alert')
        .filter({ hasText: /not found|does not exist/i })
        .count()) > 0;
    if (isMissing) missing.push(`${path} (linked from ${links.get(path) ?? 'the test'})`);
    if (!path.startsWith(within)) continue;
    await collect(path);
    const tabs = await page.getByRole('tab').count();
    for (let at = 0; at < tabs && times === 0; at += 1) {
      await page.getByRole('tab').nth(at).click();
      await page.waitForTimeout(150);
      await collect(path);
    }
  }
  return missing;
}
