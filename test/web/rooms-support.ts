import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFindings } from './axe.ts';
import type { WebServer } from './support.ts';

/** What a person does on other pages and an agent elsewhere, to have something to look at. */
export async function roomActs(server: WebServer, context: BrowserContext) {
  const { csrf } = (await (await context.request.get(`${server.url}/api/session`)).json()) as {
    csrf: string;
  };
  const post = async (path: string, data: object) => {
    const response = await context.request.post(`${server.url}/api${path}`, {
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
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await seriousFindings(page), `${page.url()} in ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
}

/**
 * Walks with Tab until the control of that name has the focus, as somebody without a pointer does; every stop on
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
  const response = await page.request.get(`${origin}/api/activity?tool=${tool}&limit=1`);
  const { calls } = (await response.json()) as { calls: readonly Called[] };
  return calls[0];
}
