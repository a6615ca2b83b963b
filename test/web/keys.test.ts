import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { apiBase, launchBrowser, startWeb, type WebServer } from './support.ts';

const CONFIG = `
[mcp_policy]
max_mutations_per_hour = 500
template = "none"
require_approval_for = ["x_post_tweet"]

[limits]
max_tweets_per_day = 500
`;
/** Every key that decides, and the space that presses a button. */
const WORDS = 'mar eau';
/** Longer than a key must be apart from another one. */
const REST = 450;
const PHONE = { width: 390, height: 844 };

let server: WebServer;
let browser: Browser;

beforeAll(async () => {
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,governance', config: CONFIG }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

interface Open {
  readonly page: Page;
  readonly context: BrowserContext;
}

/** Without a service worker, which would answer requests past the test's routes. */
async function signIn(options: object = {}): Promise<Open> {
  const open = await server.signIn(browser, { serviceWorkers: 'block', ...options });
  open.page.setDefaultTimeout(20_000);
  return open;
}

async function propose(text: string): Promise<number> {
  const reply = await server.call('x_post_tweet', { text });
  return (reply.data as { approval_queue_id: number }).approval_queue_id;
}

async function get(context: BrowserContext, path: string): Promise<JsonObject> {
  const base = await apiBase(context, server.url);
  return (await context.request.get(`${base}${path}`)).json() as Promise<JsonObject>;
}

async function send(context: BrowserContext, path: string, data: object = {}): Promise<JsonObject> {
  const headers = { 'x-csrf-token': String((await get(context, '/session')).csrf) };
  const base = await apiBase(context, server.url);
  return (await context.request.post(`${base}${path}`, { headers, data })).json() as Promise<JsonObject>;
}

const stateOf = async ({ context }: Open, id: number): Promise<string> => {
  const { state, undo } = await get(context, `/inbox/${id}`);
  return (undo as JsonObject | null)?.undone ? 'undone' : String(state);
};

const ready = (page: Page): Promise<void> =>
  page.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();

async function openItem({ page }: Open, id: number): Promise<void> {
  await page.goto(`${server.url}/inbox/${id}`);
  await page.getByRole('article', { name: `Approval ${id}`, exact: true }).waitFor();
  await ready(page);
}

const toast = (page: Page, text: string | RegExp): Locator =>
  page.locator('.toast').filter({ hasText: text }).last();

describe('words', { timeout: 240_000 }, () => {
  it('typed fast or slowly decide nothing, while a dialog loads and once it is there', async () => {
    const ids = [await propose('First'), await propose('Second')];
    await Promise.all([40, 100, 250].map((delay) => typeInto(ids, delay)));
  });

  const typeInto = async (ids: readonly number[], delay: number): Promise<void> => {
    const open = await signIn();
    const { page, context } = open;
    const answers: (() => void)[] = [];
    let isSlow = true;
    await page.route(
      /\/assets\/(palette|edit-dialog|remember-dialog|reject-dialog|bulk-dialog|filter-panel|help)-[^/]*\.js/,
      async (route) => {
        if (isSlow) await new Promise<void>((done) => answers.push(done));
        await route.continue();
      },
    );
    const select = async (): Promise<void> => {
      await page.keyboard.press('x');
      await page.locator('.inbox-foot-selected').waitFor();
      await page.waitForTimeout(REST);
    };
    const openers: readonly (readonly [string, () => Promise<unknown>, string])[] = [
      ['Ctrl K', () => page.keyboard.press('Control+k'), '.palette'],
      ['E', () => page.keyboard.press('e'), '.dialog'],
      ['M', () => page.keyboard.press('m'), '.remember-form'],
      ['F', () => page.keyboard.press('f'), '.filter-panel'],
      ['?', () => page.keyboard.press('?'), '.keys'],
      ['R', () => page.keyboard.press('r'), '.dialog'],
      ['the Edit button', () => page.getByRole('button', { name: 'Edit' }).click(), '.dialog'],
      [
        'A on a selection',
        async () => {
          await select();
          await page.keyboard.press('a');
        },
        '.bulk',
      ],
      [
        'R on a selection',
        async () => {
          await select();
          await page.keyboard.press('r');
        },
        '.bulk',
      ],
    ];
    for (const [name, reach, shown] of openers) {
      isSlow = true;
      await openItem(open, ids[0] ?? 0);
      await reach();
      await page.keyboard.type(WORDS, { delay });
      isSlow = false;
      for (const answer of answers.splice(0)) answer();
      await page.locator(shown).first().waitFor();
      await page.keyboard.type(WORDS, { delay });
      expect(await page.locator(shown).count(), `${name} is still open`).toBeGreaterThan(0);
      for (const id of ids)
        expect(await get(context, `/inbox/${id}`), `${name}, a key every ${delay} ms`).toMatchObject({
          state: 'pending',
          version: 1,
        });
    }
    expect(await get(context, '/holds')).toEqual({ holds: [] });
    await context.close();
  };

  it('decide nothing after a dialog is closed, nor on an approval that has just opened', async () => {
    const ids = [await propose('Not typed away'), await propose('Nor this')];
    const open = await signIn();
    const { page, context } = open;
    await openItem(open, ids[0] ?? 0);
    // The test is the clock: what is typed comes as fast as it says, on a busy machine too.
    await page.clock.install();
    await page.clock.pauseAt(new Date(Date.now() + 60_000));
    const press = async (key: string, after: number): Promise<void> => {
      await page.clock.runFor(after);
      await page.keyboard.press(key);
    };
    const pending = async (what: string): Promise<void> => {
      for (const id of ids) expect(await stateOf(open, id), what).toBe('pending');
    };
    await press('?', 1000);
    await page.locator('.keys').waitFor();
    await press('Escape', 1000);
    await page.locator('.keys').waitFor({ state: 'detached' });
    for (const key of WORDS) await press(key, 250);
    await pending('typed after Escape');
    await toast(page, 'Ignored U: it came within 0.4 s of another key. Press it again.').waitFor();

    await press('j', 1000);
    await page.locator('.item').waitFor();
    await press('a', 399);
    await pending('typed after J');
    await toast(page, /^Ignored A/).waitFor();
    await press('Shift', 1000);
    await press('a', 399);
    await pending('typed after another key');
    await page.clock.runFor(1000);
    await page.evaluate(() =>
      dispatchEvent(new KeyboardEvent('keydown', { key: 'a', repeat: true, bubbles: true })),
    );
    await pending('held down');
    await toast(page, 'Ignored A: it was held down').waitFor();
    await context.close();
  });

  it('leave a hurried person able to decide one after the other', async () => {
    const ids = [await propose('One'), await propose('Two'), await propose('Three')];
    const open = await signIn();
    const { page, context } = open;
    await openItem(open, ids[2] ?? 0);
    await page.waitForTimeout(REST);
    for (const id of ids) expect(await stateOf(open, id)).toBe('pending');
    const decided = async (): Promise<number> =>
      (await Promise.all(ids.map((id) => stateOf(open, id)))).filter((state) => state !== 'pending').length;
    await page.keyboard.press('a');
    await page.keyboard.press('a');
    await page.keyboard.press('a');
    await expect.poll(decided).toBe(1);
    await toast(page, 'Ignored A').waitFor();
    await ready(page);
    await page.waitForTimeout(REST);
    await page.keyboard.press('a');
    await expect.poll(decided).toBe(2);
    for (const id of ids)
      if ((await stateOf(open, id)) === 'pending') await send(context, `/inbox/${id}/reject`);
    await context.close();
  });
});

describe('U', { timeout: 60_000 }, () => {
  let open: Open;
  beforeAll(async () => {
    open = await signIn();
  });
  afterAll(() => open?.context.close());
  const approve = async (id: number): Promise<void> => {
    await openItem(open, id);
    await open.page.waitForTimeout(REST);
    await open.page.keyboard.press('a');
    await expect.poll(() => stateOf(open, id)).toBe('done');
  };
  const undo = async (): Promise<void> => {
    await open.page.waitForTimeout(REST);
    await open.page.keyboard.press('u');
  };

  it('undoes what was approved and remembered, not the approval before it', async () => {
    const { page, context } = open;
    const earlier = await propose('The earlier post');
    const later = await propose('The remembered post');
    const other = await propose('Stays pending');
    await approve(earlier);
    await openItem(open, later);
    await page.waitForTimeout(REST);
    await page.keyboard.press('m');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve and remember' }).click();
    await toast(page, /Remembered; revoke it under Policy/).waitFor();
    expect(await stateOf(open, later)).toBe('done');
    await undo();
    await toast(
      page,
      `Undone, no longer remembered: Post to @adamarsh_dev (sandbox), The remembered post (#${later}).`,
    ).waitFor();
    expect(await stateOf(open, later)).toBe('undone');
    const { standing } = await get(context, '/standing');
    expect(standing).toMatchObject([{ state: 'revoked' }]);
    // Nothing else, however often it is pressed.
    await undo();
    await toast(
      page,
      `Already undone: Post to @adamarsh_dev (sandbox), The remembered post (#${later}).`,
    ).waitFor();
    expect(await stateOf(open, earlier)).toBe('done');
    expect(await stateOf(open, other)).toBe('pending');
  });

  it('says that a rejection cannot be undone, and leaves the approval before it', async () => {
    const { page } = open;
    const earlier = await propose('Approved, then another rejected');
    const rejected = await propose('Rejected after it');
    await approve(earlier);
    await openItem(open, rejected);
    await page.waitForTimeout(REST);
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Reason' }).fill('No');
    await page.keyboard.press('Enter');
    await expect.poll(() => stateOf(open, rejected)).toBe('rejected');
    await undo();
    await toast(
      page,
      `A rejection cannot be undone; the agent can ask again: Post to @adamarsh_dev (sandbox), Rejected after it (#${rejected}).`,
    ).waitFor();
    expect(await stateOf(open, earlier)).toBe('done');
    expect(await stateOf(open, rejected)).toBe('rejected');
  });

  it('leaves the approval before a decision on several together', async () => {
    const { page } = open;
    const earlier = await propose('Approved before the others');
    const ids = [await propose('Together one'), await propose('Together two')];
    await approve(earlier);
    await page.goto(`${server.url}/?q=Together`);
    await page.getByText('2 pending').waitFor();
    for (const box of await page.locator('.inbox-row input').all()) await box.check({ force: true });
    await page.waitForTimeout(REST);
    await page.keyboard.press('a');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve 2' }).click();
    await page.getByRole('heading', { name: 'Approved 2 of 2' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await undo();
    await toast(page, 'Your last decision was on several approvals together. Nothing was undone').waitFor();
    for (const id of [earlier, ...ids]) expect(await stateOf(open, id)).toBe('done');
  });

  it('acts on what the person decided elsewhere since, and only once that was named', async () => {
    const { page, context } = open;
    const here = await propose('Approved on this page');
    const elsewhere = await propose('Approved on another page');
    await approve(here);
    expect(await send(context, `/inbox/${elsewhere}/approve`, { version: 1 })).toMatchObject({
      state: 'done',
    });
    await undo();
    await toast(
      page,
      `Your last decision. Press U again to undo it: Post to @adamarsh_dev (sandbox), Approved on another page (#${elsewhere}).`,
    ).waitFor();
    expect(await stateOf(open, elsewhere)).toBe('done');
    // What the page believed to be the last one is refused by the server.
    expect(await send(context, `/inbox/${here}/undo`, { last: true })).toMatchObject({
      code: 'approval_state',
    });
    await undo();
    await toast(
      page,
      `Undone: Post to @adamarsh_dev (sandbox), Approved on another page (#${elsewhere}).`,
    ).waitFor();
    expect(await stateOf(open, elsewhere)).toBe('undone');
    expect(await stateOf(open, here)).toBe('done');
  });
});

describe('toasts', { timeout: 90_000 }, () => {
  it('cover no decision, on any width', async () => {
    const post = (name: string) => propose(`${name}: ${'long words of a post '.repeat(8)}`);
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) await post(name);
    const open = await signIn();
    const { page, context } = open;
    const decisions = '.item-actions .button, .inbox-foot-selected .button';
    for (const size of [
      { width: 1280, height: 800 },
      { width: 1920, height: 1080 },
      { width: 800, height: 700 },
      PHONE,
    ]) {
      await page.setViewportSize(size);
      await openItem(open, await post('Under a toast'));
      // Keys that are ignored say so, and what was decided stays on screen: as many toasts as there can be.
      await page.waitForTimeout(REST);
      for (const key of ['u', 'j', 'a']) {
        await page.keyboard.press(key);
        await page.waitForTimeout(100);
      }
      await page.waitForTimeout(REST);
      await page.keyboard.press('a');
      await toast(page, 'Posted').waitFor();
      await ready(page);
      if (size !== PHONE) {
        await page.keyboard.press('x');
        await page.locator('.inbox-foot-selected').waitFor();
      }
      const toasts = await page.locator('.toast').all();
      expect(toasts.length).toBeGreaterThan(0);
      const boxes = await Promise.all(toasts.map((one) => one.boundingBox()));
      for (const button of await page.locator(decisions).all()) {
        const box = await button.boundingBox();
        const name = `${await button.textContent()} at ${size.width}`;
        expect(box, name).not.toBeNull();
        for (const over of boxes) expect(overlaps(box, over), name).toBe(false);
        await button.click({ trial: true });
      }
      expect(await page.locator('.toast').count()).toBeGreaterThan(0);
      await page.locator('.item-actions').getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('dialog').waitFor();
    }
    await context.close();
  });
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const overlaps = (a: Box | null, b: Box | null): boolean =>
  a !== null &&
  b !== null &&
  a.x < b.x + b.width &&
  b.x < a.x + a.width &&
  a.y < b.y + b.height &&
  b.y < a.y + a.height;
