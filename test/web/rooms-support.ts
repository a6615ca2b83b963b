import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
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
