import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataOf, seedFiles } from './rooms-seed.ts';
import { lastCall, roomActs } from './rooms-support.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

/** What goes otherwise than a person expects: somebody else was faster, the server is away, a finger is too quick. */
let browser: Browser;
let server: WebServer;
let page: Page;
let folder: string;
let acts: Awaited<ReturnType<typeof roomActs>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-mishaps-'));
  const config = seedFiles(folder);
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,dev,research,governance', config }),
  ]);
  const signedIn = await server.signIn(browser);
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
const WAIT = { timeout: 10_000 };
const focused = () => page.evaluate('document.activeElement?.getAttribute("aria-label")');
const propose = async (text: string): Promise<number> => {
  const reply = await server.call('x_post_tweet', { text });
  return (reply.data as { approval_queue_id: number }).approval_queue_id;
};
const requests = (path: RegExp): string[] => {
  const seen: string[] = [];
  page.on('request', (request) => {
    if (path.test(request.url())) seen.push(request.method());
  });
  return seen;
};

/** A page whose clock stands still, so that it learns of nothing by asking again and again. */
async function openStill(path: string, shown: string) {
  const { page: still, context } = await server.signIn(browser);
  still.setDefaultTimeout(10_000);
  await still.clock.install();
  await still.goto(`${server.url}${path}`);
  await still.getByText(shown).waitFor();
  await still.getByText('live', { exact: true }).waitFor();
  await still.clock.pauseAt(new Date(Date.now() + 2000));
  return { still, context };
}

describe('an open page', { timeout: 30_000 }, () => {
  it('shows at once that somebody paused everything or gave an agent a token in a terminal', async () => {
    const { still, context } = await openStill('/agents', 'No agent has a token yet');
    await server.cli('pause');
    await still.getByText('Every change is refused').waitFor();
    await server.cli('resume');
    await still.getByText('Every change is refused').waitFor({ state: 'detached' });
    await server.cli('agents', 'add', 'by-terminal');
    await still.getByText('agent:by-terminal').waitFor();
    await context.close();
  });

  it('shows an issue that an agent files', async () => {
    const { still, context } = await openStill('/dev/issues', 'No issues');
    const run = dataOf(await server.call('runs_create', { repo: 'demo', purpose: 'See it live.' }));
    const issue = { run_id: run.run_id, title: 'Filed meanwhile', body: 'By an agent.' };
    await server.call('github_issues_create', issue);
    await still.getByText('Filed meanwhile').waitFor();
    await context.close();
  });

  it('shows what an agent finds on X', async () => {
    const { still, context } = await openStill('/x', 'Nothing was discovered yet');
    await server.call('find_reply_opportunities', { query: 'uptime', min_score: 0, limit: 5 });
    await still.getByRole('list', { name: 'What the score is made of' }).first().waitFor();
    await context.close();
  });

  it('keeps a rule that was added in another window when it changes one of its own', async () => {
    const rule = (id: string) => ({ id, action: 'ask', tools: ['x_like_tweet'] });
    const { csrf } = (await (await page.request.get(`${server.url}/api/session`)).json()) as { csrf: string };
    const put = (rules: object[]) =>
      page.request.put(`${server.url}/api/policy`, { headers: { 'x-csrf-token': csrf }, data: { rules } });
    await put([rule('mine')]);
    await open('/agents');
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Switch off mine' }).waitFor();
    // The window hears of nothing while the other one writes.
    await page.route('**/api/policy', async (route) => {
      if (route.request().method() === 'PUT') await route.continue();
      else await route.fetch().then((response) => route.fulfill({ response }));
    });
    await put([rule('mine'), rule('theirs')]);
    await page.getByRole('button', { name: 'Switch off mine' }).click();
    await page.getByRole('button', { name: 'Switch on mine' }).waitFor();
    await page.getByRole('button', { name: 'Switch off theirs' }).waitFor();
    await page.unroute('**/api/policy');
    await put([]);
  });
});

describe('what went wrong', { timeout: 30_000 }, () => {
  it('is told in its own words with what a person can do about it, in the window where it happened', async () => {
    await acts.person('compose_tweet', { content: 'A draft to change.' });
    await open('/x/write');
    await page.getByRole('button', { name: 'Edit or schedule' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('x'.repeat(300));
    await dialog.getByRole('button', { name: 'Save' }).click();
    const alert = dialog.getByRole('alert');
    await alert
      .getByText(/300|too long|280/)
      .first()
      .waitFor();
    expect(await alert.textContent()).not.toMatch(/describe the tool|as the message says/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await server.cli('pause');
    try {
      await page.getByRole('textbox', { name: 'Post', exact: true }).fill('Not now.');
      await page.getByRole('button', { name: 'Keep as a draft' }).click();
      await page.locator('.toast-bad').getByText('press Resume').waitFor();
    } finally {
      await server.cli('resume');
    }
  });

  it('says of a failed call what to do, also when it is looked at later', async () => {
    const reply = await server.call('x_reply_to_tweet', { text: 'To whom?', in_reply_to_id: '404404404' });
    const id = (reply.data as { approval_queue_id: number }).approval_queue_id;
    await open(`/inbox/${id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    const article = page.getByRole('article', { name: `Item ${id}` });
    await article.getByText('It failed.').waitFor();
    await page.reload();
    await article.getByText('It failed.').waitFor();
    await article.getByText('X has no such item').waitFor();
    await article.getByText('It may be gone by now').waitFor();
  });

  it('leaves the page usable when a screen cannot be loaded, and says so when the server is away', async () => {
    await open('/');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.getByRole('link', { name: 'Insights' }).click();
    await page.getByRole('heading', { name: 'This screen failed' }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await page.unroute('**/assets/*.js');
    await page.getByRole('link', { name: /^Inbox/ }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.goto(`${server.url}/agents`);
    await page.route('**/api/pause', (route) => route.abort());
    await page.getByRole('button', { name: 'Pause all changes' }).click();
    await page.getByText('The server does not answer').waitFor();
    await page.unroute('**/api/pause');
  });

  it('is no server error when an address or a question is nonsense', async () => {
    const status = async (path: string) => (await page.request.get(server.url + path)).status();
    expect(await status('/%E0%A4%A')).toBe(200);
    expect(await status('/assets/gone-12345678.js')).toBe(404);
    for (const query of ['limit=-1', 'offset=-1', 'limit=many', 'hours=-3'])
      expect(await status(`/api/activity?${query}`), query).toBe(400);
    for (const query of ['limit=-1', 'offset=-1'])
      expect(await status(`/api/inbox?${query}`), query).toBe(400);
  });
});

describe('a hand that is too quick', { timeout: 30_000 }, () => {
  it('keeps one draft when it presses twice', async () => {
    await open('/x/write');
    const sent = requests(/\/api\/tools\/compose_tweet/);
    await page.route('**/api/tools/compose_tweet', async (route) => {
      await new Promise((done) => setTimeout(done, 300));
      await route.continue();
    });
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('Pressed twice.');
    await page.getByRole('button', { name: 'Keep as a draft' }).dblclick();
    await page.locator('.toast-good').getByText('Kept as a draft.').waitFor();
    await page.unroute('**/api/tools/compose_tweet');
    expect(sent).toEqual(['POST']);
    await page.getByRole('article').filter({ hasText: 'Pressed twice.' }).waitFor();
  });

  it('decides on one suggestion when a key is held down, and on none that was edited since it was shown', async () => {
    await acts.person('create_project', { path: join(folder, 'held.qda') });
    for (const name of ['First', 'Second', 'Third'])
      await server.call('suggest_new_code', { name, rationale: 'It comes up.', color: '#4477AA' });
    await open('/research/suggestions');
    await page.getByText('New code "First"').waitFor();
    await page.keyboard.down('a');
    for (let turn = 0; turn < 5; turn += 1) {
      await page.keyboard.down('a');
      await page.waitForTimeout(100);
    }
    await page.keyboard.up('a');
    await page.getByText('New code "First"').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(2);
    const { data } = (await (
      await page.request.get(`${server.url}/api/rooms/research/suggestions`)
    ).json()) as { data: { approval_id: number }[] };
    await page.route('**/api/rooms/research/suggestions*', (route) => route.abort());
    const args = JSON.stringify({ name: 'Something else', color: '#4477AA' });
    await server.cli('approvals', 'edit', String(data[0]?.approval_id), '--args', args);
    await page.keyboard.press('a');
    await page.getByText('edited since you opened it').waitFor();
    await page.unroute('**/api/rooms/research/suggestions*');
    expect(codes()).toEqual(['First']);
  });

  it('can stop deciding on many half-way, and is told what was done', async () => {
    for (let at = 0; at < 12; at += 1) await propose(`One of a dozen, number ${at}.`);
    await open('/');
    await page.getByRole('button', { name: 'Select those shown' }).click();
    await page.route('**/api/inbox/reject', async (route) => {
      await new Promise((done) => setTimeout(done, 500));
      await route.continue();
    });
    await page.getByRole('button', { name: /^Reject 1\d selected/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Reject 1/ }).click();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByRole('heading', { name: /^Rejected 10 of 1\d$/ }).waitFor();
    await page.unroute('**/api/inbox/reject');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    expect(await page.evaluate('document.activeElement?.id')).toBe('main');
  });
});

/** The codes of the project file itself. */
function codes(): unknown[] {
  const file = new Database(join(folder, 'held.qda', 'data.qda'), { readonly: true });
  try {
    return file.prepare('select name from code_name order by cid').pluck().all();
  } finally {
    file.close();
  }
}

describe('whoever has no pointer', { timeout: 30_000 }, () => {
  it('goes on from the item that was decided, whose buttons are gone', async () => {
    const [first, second] = [await propose('Decided with Enter.'), await propose('Rejected with Enter.')];
    await open(`/inbox/${first}`);
    await page.getByRole('button', { name: 'Approve' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('Done.', { exact: true }).waitFor();
    await expect.poll(focused, WAIT).toBe(`Item ${first}`);
    await open(`/inbox/${second}`);
    await page.getByRole('button', { name: 'Reject' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Reason' }).fill('No.');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText('Rejected.', { exact: true }).waitFor();
    await expect.poll(focused, WAIT).toBe(`Item ${second}`);
  });
});

describe('a phone', { timeout: 30_000 }, () => {
  it('shows every table without scrolling it sideways, and the name of the open screen', async () => {
    await server.call('github_pr_files_list', { run_id: 'none', pr_number: 1 });
    await acts.person('add_source', { name: 'short.txt', content: 'I worry about money every day.' });
    await acts.person('create_code', { name: 'Anxiety', color: '#EE6677' });
    const coding = (code_id: number, end_position: number) => ({
      code_id,
      source_id: 1,
      start_position: 0,
      end_position,
    });
    await acts.person('batch_apply_codes', { operations: [coding(1, 20), coding(2, 10)] });
    await page.setViewportSize({ width: 390, height: 844 });
    const wide = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('.table-box')]
          .filter((box) => box.scrollWidth > box.clientWidth)
          .map((box) => box.getAttribute('aria-label')),
      );
    for (const path of ['/activity', '/insights', '/x/targets', '/x/figures', '/research/numbers']) {
      await open(path);
      await page.locator('.table-box tbody tr').first().waitFor();
      if (path === '/research/numbers')
        await page.getByRole('region', { name: 'Codes that meet' }).first().waitFor();
      expect({ path, wide: await wide() }).toEqual({ path, wide: [] });
    }
    await open('/agents');
    await page.getByRole('tab', { name: 'What they may do' }).click();
    await page.locator('.matrix tbody tr').first().waitFor();
    expect(await wide()).toEqual([]);
    await open('/research/codes');
    await page.getByRole('tab', { name: 'Codebook' }).waitFor();
    const { x = 0, width = 0 } =
      (await page
        .getByRole('navigation', { name: 'Screens' })
        .getByRole('link', { name: 'Research' })
        .boundingBox()) ?? {};
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(390);
    expect(await lastCall(page, 'github_pr_files_list')).toBeDefined();
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
