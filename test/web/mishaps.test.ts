import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataOf, seedFiles } from './pages-seed.ts';
import { lastCall, roomActs } from './pages-support.ts';
import { apiBase, decide, launchBrowser, startWeb, type WebServer } from './support.ts';

/** What goes otherwise than a person expects: someone else was faster, the server is away, a finger is too quick. */
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
  const signedIn = await server.signIn(browser, { serviceWorkers: 'block' });
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
  await still.getByText('Connected', { exact: true }).waitFor();
  await still.clock.pauseAt(new Date(Date.now() + 2000));
  return { still, context };
}

describe('an open page', { timeout: 30_000 }, () => {
  it('shows immediately that changes were paused or an agent got a token in a terminal', async () => {
    const { still, context } = await openStill('/agents', 'Create an agent');
    await server.cli('pause');
    await still.getByText('New changes are refused').waitFor();
    await server.cli('resume');
    await still.getByText('New changes are refused').waitFor({ state: 'detached' });
    await server.cli('agents', 'add', 'by-terminal');
    await still.getByRole('link', { name: 'by-terminal' }).waitFor();
    await context.close();
  });

  it('shows an issue that an agent files', async () => {
    const { still, context } = await openStill('/dev/issues', 'No issues');
    const run = dataOf(await server.call('runs_create', { repo: 'demo', purpose: 'See it live.' }));
    const issue = { run_id: run.run_id, title: 'Filed in the meantime', body: 'By an agent.' };
    await server.call('github_issues_create', issue);
    await still.getByText('Filed in the meantime').waitFor();
    await context.close();
  });

  it('shows what an agent finds on X', async () => {
    const { still, context } = await openStill('/x', 'No discovered posts yet');
    await server.call('find_reply_opportunities', { query: 'uptime', min_score: 0, limit: 5 });
    await still.getByRole('list', { name: 'How the score is computed' }).first().waitFor();
    await context.close();
  });

  it('keeps a rule that was added in another window when it changes one of its own', async () => {
    const rule = (id: string) => ({ id, action: 'ask', tools: ['x_like_tweet'] });
    const base = await apiBase(page.context(), server.url);
    const { csrf } = (await (await page.request.get(`${base}/session`)).json()) as { csrf: string };
    const put = (rules: object[]) =>
      page.request.put(`${base}/policy`, { headers: { 'x-csrf-token': csrf }, data: { rules } });
    await put([rule('mine')]);
    await open('/policy');
    await page.getByRole('button', { name: 'Disable mine' }).waitFor();
    // The window hears of nothing while the other one writes.
    await page.route('**/api/s/*/policy', async (route) => {
      if (route.request().method() === 'PUT') await route.continue();
      // A read that is under way when the route is removed has been answered by then.
      else
        await route
          .fetch()
          .then((response) => route.fulfill({ response }))
          .catch(() => {});
    });
    await put([rule('mine'), rule('theirs')]);
    await page.getByRole('button', { name: 'Disable mine' }).click();
    await page.getByRole('button', { name: 'Enable mine' }).waitFor();
    await page.getByRole('button', { name: 'Disable theirs' }).waitFor();
    await page.unroute('**/api/s/*/policy');
    await put([]);
  });
});

describe('what went wrong', { timeout: 30_000 }, () => {
  it('is shown in its own words with what a person can do about it, in the window where it happened', async () => {
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
      await page.getByRole('button', { name: 'Save as a draft' }).click();
      await page.locator('.toast-bad').getByText('Select Resume').waitFor();
    } finally {
      await server.cli('resume');
    }
  });

  it('says of a failed call what to do, also when it is looked at later', async () => {
    const ask = async (tool: string, args: object): Promise<string> => {
      const { data } = await server.call(tool, args);
      return String((data as { approval_queue_id: number }).approval_queue_id);
    };
    const approve = async (asked: string): Promise<string> =>
      server.cli('--json', 'approvals', 'approve', asked);
    const post = await approve(await ask('x_post_tweet', { text: 'Gone before it is answered' }));
    const [{ outcome }] = JSON.parse(post) as [{ outcome: { data: { id: string } } }];
    const tweet_id = outcome.data.id;
    const id = await ask('x_reply_to_tweet', { text: 'To whom?', in_reply_to_id: tweet_id });
    await approve(await ask('x_delete_tweet', { tweet_id }));
    await open(`/inbox/${id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    const article = page.getByRole('article', { name: `Approval ${id}`, exact: true });
    const state = async (): Promise<string> =>
      (JSON.parse(await server.cli('--json', 'approvals', 'show', id)) as { state: string }).state;
    await expect.poll(state, WAIT).toBe('failed');
    // Where more is pending, the next one is open by now.
    await open(`/inbox/${id}`);
    await article.getByText('Failed.').waitFor();
    await page.reload();
    await article.getByText('Failed.').waitFor();
    await article.getByText('X has no such item').waitFor();
    await article.getByText('It may have been deleted').waitFor();
  });

  it('in the database marks the approval that cannot be read in the list, and its page says what to run', async () => {
    const id = await propose('Soon unreadable');
    const database = new Database(join(server.home, 'countersign.db'), { timeout: 5000 });
    const { args } = database.prepare('select args from approvals where id = ?').get(id) as { args: string };
    database.prepare("update approvals set args = '{a' where id = ?").run(id);
    await open(`/inbox/${id}`);
    const row = page.getByRole('link', { name: new RegExp(`^Approval ${id} x_post_tweet Cannot be read`) });
    await row.waitFor();
    expect(await row.getAttribute('aria-current')).toBe('true');
    await page.getByRole('alert').locator('code', { hasText: 'countersign audit verify' }).waitFor();
    database.prepare('update approvals set args = ? where id = ?').run(args, id);
    database.close();
  });

  it('leaves the page usable when a screen cannot be loaded, and says so when the server is away', async () => {
    await open('/');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.getByRole('link', { name: 'Insights' }).click();
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await page.unroute('**/assets/*.js');
    await page.getByRole('link', { name: /^Inbox/ }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.goto(`${server.url}/agents`);
    await page.route('**/api/s/*/pause', (route) => route.abort());
    await page.getByRole('button', { name: 'Pause all changes' }).click();
    await page.getByText('Cannot reach the server').waitFor();
    await page.unroute('**/api/s/*/pause');
  });

  it('is no server error when an address or a question is nonsense', async () => {
    const base = await apiBase(page.context(), server.url);
    const status = async (path: string, at = server.url) => (await page.request.get(at + path)).status();
    expect(await status('/%E0%A4%A')).toBe(200);
    expect(await status('/assets/gone-12345678.js')).toBe(404);
    for (const query of ['limit=-1', 'offset=-1', 'limit=many', 'hours=-3'])
      expect(await status(`/activity?${query}`, base), query).toBe(400);
    for (const query of ['limit=-1', 'offset=-1'])
      expect(await status(`/inbox?${query}`, base), query).toBe(400);
  });
});

describe('a hand that is too quick', { timeout: 30_000 }, () => {
  it('keeps one draft when it presses twice', async () => {
    await open('/x/write');
    const sent = requests(/\/tools\/compose_tweet/);
    await page.route('**/api/s/*/tools/compose_tweet', async (route) => {
      await new Promise((done) => setTimeout(done, 300));
      await route.continue();
    });
    await page.getByRole('textbox', { name: 'Post', exact: true }).fill('Pressed twice.');
    await page.getByRole('button', { name: 'Save as a draft' }).dblclick();
    await page.locator('.toast-good').getByText('Saved as a draft.').waitFor();
    await page.unroute('**/api/s/*/tools/compose_tweet');
    expect(sent).toEqual(['POST']);
    await page.getByRole('article').filter({ hasText: 'Pressed twice.' }).waitFor();
  });

  it('decides on one suggestion when a key is held down, and on none that was edited since it was shown', async () => {
    await acts.person('create_project', { path: join(folder, 'held.qda') });
    for (const name of ['First', 'Second', 'Third'])
      await server.call('suggest_new_code', { name, rationale: 'It comes up.', color: '#4477AA' });
    await open('/research/suggestions');
    await page.getByText('New code "First"').waitFor();
    await page.waitForTimeout(500);
    await page.keyboard.down('a');
    for (let turn = 0; turn < 5; turn += 1) {
      await page.keyboard.down('a');
      await page.waitForTimeout(100);
    }
    await page.keyboard.up('a');
    await page.getByText('New code "First"').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(2);
    const { data } = (await (
      await page.request.get(`${await apiBase(page.context(), server.url)}/pages/research/suggestions`)
    ).json()) as { data: { approval_id: number }[] };
    await page.route('**/api/s/*/pages/research/suggestions*', (route) => route.abort());
    const args = JSON.stringify({ name: 'Something else', color: '#4477AA' });
    await server.cli('approvals', 'edit', String(data[0]?.approval_id), '--args', args);
    await decide(page, 'a');
    await page.getByText('edited after you opened it').waitFor();
    await page.unroute('**/api/s/*/pages/research/suggestions*');
    expect(codes()).toEqual(['First']);
  });

  it('can stop deciding on many half-way, and sees what was done', async () => {
    for (let at = 0; at < 12; at += 1) await propose(`One of a dozen, number ${at}.`);
    await open('/');
    await page.getByRole('button', { name: /^Select all/ }).click();
    await page.route('**/api/s/*/inbox/reject', async (route) => {
      await new Promise((done) => setTimeout(done, 500));
      await route.continue();
    });
    await page.getByRole('button', { name: /^Reject 1\d selected/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Reject 1/ }).click();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByRole('heading', { name: /^Rejected 10 of 1\d$/ }).waitFor();
    await page.unroute('**/api/s/*/inbox/reject');
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

/** Someone with a database client changes the row of an approval. */
function editRow(id: number, column: 'args' | 'summary', value: string): void {
  const file = new Database(join(server.home, 'countersign.db'));
  try {
    file.prepare(`update approvals set ${column} = ? where id = ?`).run(value, id);
  } finally {
    file.close();
  }
}

describe('an approval that was changed in the database', { timeout: 30_000 }, () => {
  const stateOf = async (id: number): Promise<string> => {
    const all = await server.cli('--json', 'approvals', 'list', '--state', 'all');
    return (JSON.parse(all) as { id: number; state: string }[]).find((one) => one.id === id)?.state ?? '';
  };
  const reject = async (id: number): Promise<void> => {
    await page.locator('.item-missing').getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).click();
    await expect.poll(() => stateOf(id), WAIT).toBe('rejected');
  };

  it('is marked in the list, is not shown, and can be rejected', async () => {
    const id = await propose('Not what it says.');
    editRow(id, 'summary', 'Read my posts');
    await open(`/inbox/${id}`);
    const row = page.locator('.inbox-row-current');
    await row.getByText('Differs from the log').waitFor();
    await page.locator('.item-missing').getByText('does not match the audit log').waitFor();
    await reject(id);
  });

  it('can be rejected where it cannot be read', async () => {
    const id = await propose('Broken on disk.');
    editRow(id, 'args', '{');
    await open(`/inbox/${id}`);
    await page.locator('.item-missing').getByText(`Approval ${id} cannot be read`).waitFor();
    await reject(id);
    await open(`/inbox/${id}`);
    await page.locator('.item-missing').getByText(`Approval ${id} cannot be read`).waitFor();
    expect(await page.locator('.item-missing').getByRole('button', { name: 'Reject' }).count()).toBe(0);
  });
});

describe('a person without a pointer', { timeout: 30_000 }, () => {
  it('continues from the approval that was decided, whose buttons are gone', async () => {
    const [first, second] = [await propose('Decided with Enter.'), await propose('Rejected with Enter.')];
    await open(`/inbox/${first}`);
    await page.locator('.item-actions > .button:first-child:not([aria-disabled])').focus();
    await page.keyboard.press('Enter');
    // The next approval opens and has the focus.
    await expect.poll(focused, WAIT).toMatch(/^Approval \d+$/);
    await expect.poll(focused, WAIT).not.toBe(`Approval ${first}`);
    await open(`/inbox/${first}`);
    await page.getByRole('article').getByText('Done.', { exact: true }).waitFor();
    await open(`/inbox/${second}`);
    await page.getByRole('button', { name: 'Reject' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Reason' }).fill('No.');
    await page.keyboard.press('Enter');
    await expect.poll(focused, WAIT).toMatch(/^Approval \d+$|^$/);
    await open(`/inbox/${second}`);
    await page.getByRole('article').getByText('Rejected.', { exact: true }).waitFor();
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
    for (const path of ['/agents', '/insights', '/x/targets', '/x/figures', '/research/numbers']) {
      await open(path);
      await page.locator('.table-box tbody tr').first().waitFor();
      if (path === '/research/numbers')
        await page.getByRole('region', { name: 'Codes that share text' }).first().waitFor();
      expect({ path, wide: await wide() }).toEqual({ path, wide: [] });
    }
    await open('/policy/permissions');
    await page.locator('.matrix tbody tr').first().waitFor();
    expect(await wide()).toEqual([]);
    await open('/research/codes');
    await page.getByRole('tab', { name: 'Codebook' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Research' });
    // The number of pending approvals arrives later and moves the names.
    await expect
      .poll(async () => {
        const { x = -1, width = 0 } = (await link.boundingBox()) ?? {};
        return x >= 0 && x + width <= 390;
      }, WAIT)
      .toBe(true);
    expect(await lastCall(page, 'github_pr_files_list')).toBeDefined();
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
