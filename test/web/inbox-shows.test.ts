import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TITLE_MAX } from '../../src/contract/presentation.ts';
import { makeRepo } from '../../src/toolkits/dev/test/support/dev.ts';
import { tool } from '../gateway/scripted.ts';
import { darkFindings, findings, lowContrast } from './axe.ts';
import { roomActs } from './pages-support.ts';
import { apiBase, decide, launchBrowser, startWeb, type WebServer } from './support.ts';

const SCRIPTED = resolve('test/gateway/scripted-server.mjs');
const MONEY = 'export function round(value: number): number {\n  return Math.round(value);\n}\n';
const TALK = 'Ada: I worry about money every single day. My sister calls on Sundays.';
const LONG = 'The launch plan asks for it the same day, and the release notes are online already. '.repeat(6);

let folder: string;
let server: WebServer;
let browser: Browser;
let page: Page;
let context: BrowserContext;
let ids: number[];
const complaints: string[] = [];

/** Texts as a server of someone else declares them: an edit, a written file, a statement, a message. */
const text = { type: 'string' };
const FOREIGN = [
  tool('edit_file', {
    inputSchema: { type: 'object', properties: { path: text, edits: { type: 'array' } } },
  }),
  tool('write_file', { inputSchema: { type: 'object', properties: { path: text, content: text } } }),
  tool('execute_sql', {
    inputSchema: {
      type: 'object',
      properties: {
        database: text,
        statement: text,
        params: { type: 'array' },
        read_only: { default: true },
      },
    },
  }),
  tool('send_message', { inputSchema: { type: 'object', properties: { channel: text, body: text } } }),
];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-shows-'));
  makeRepo(join(folder, 'shop'), { 'src/money.ts': MONEY });
  const script = join(folder, 'server.json');
  writeFileSync(script, JSON.stringify({ tools: FOREIGN }));
  const config = [
    'profile = "admin"',
    '[mcp_policy]',
    'template = "none"',
    'max_mutations_per_hour = 1000',
    '[[mcp_policy.rules]]',
    'id = "everything-asks"',
    'effects = ["change", "destroy"]',
    'action = "ask"',
    'reason = "every change is decided by a person while the team is on leave"',
    '[limits]',
    'max_tweets_per_day = 500',
    'max_replies_per_day = 500',
    'max_threads_per_week = 50',
    '[dev.repos.shop]',
    `path = ${JSON.stringify(join(folder, 'shop'))}`,
    'forge = "local"',
    '[servers.desk]',
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify([SCRIPTED, script])}`,
    '',
  ].join('\n');
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,dev,research,assistant,governance,desk', config }),
  ]);
  await server.cli('servers', 'show', 'desk', '--refresh');
  await server.cli('servers', 'trust', 'desk', '--yes');
  ({ page, context } = await server.signIn(browser));
  page.setDefaultTimeout(20_000);
  // A violation of the content security policy is an error on the console.
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const { person } = await roomActs(server, context);
  await person('create_project', { path: join(folder, 'study.qda') });
  await person('add_source', { name: 'ada.txt', content: TALK });
  await person('create_code', { name: 'Anxiety', color: '#EE6677' });
  await person('create_code', { name: 'Worry', color: '#4477AA' });
  await askAll(person);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Thirty calls of every toolkit and of a server of someone else. */
async function askAll(
  person: (tool: string, args: object) => Promise<Record<string, unknown>>,
): Promise<void> {
  const found = (await server.call('x_search_tweets', { query: 'the' })) as unknown as {
    data: { tweets: { id: string; author_id: string }[] };
  };
  const [post, other] = found.data.tweets;
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const { run_id } = await person('runs_create', { repo: 'shop', purpose: 'Round half to even' });
  const own = await person('x_post_tweet', { text: 'A post that is deleted later.' });
  const like = { tweet_id: post?.id };
  const place = { source_id: 1, start_pos: 5, end_pos: 20 };
  const change = {
    run_id,
    base_branch: 'main',
    head_branch: 'fix/rounding',
    commit_message: 'Round half to even',
    pr_title: 'Round half to even',
    files: [
      { path: 'src/money.ts', original_content: MONEY, modified_content: MONEY.replace('round', 'floor') },
    ],
  };
  const calls: readonly (readonly [string, object])[] = [
    ['x_post_tweet', { text: 'Release 2.4 is out. https://example.com/notes' }],
    ['x_post_thread', { tweets: ['First part.', 'Second part, longer.', 'Third.'] }],
    ['x_reply_to_tweet', { text: 'Thank you for asking.', in_reply_to_id: post?.id }],
    ['x_quote_tweet', { text: 'Worth a look.', quoted_tweet_id: other?.id }],
    ['x_like_tweet', like],
    ['x_retweet', like],
    ['x_bookmark_tweet', like],
    ['x_follow_user', { target_user_id: post?.author_id }],
    ['compose_tweet', { content: 'Office hours on Thursday.', scheduled_for: at }],
    ['approval_request', { tool: 'code_branch_pr_create', reason: LONG, arguments: change }],
    [
      'github_issues_create',
      { run_id, title: 'Rounding is off', body: 'Half goes up.\n\nIt should go to even.' },
    ],
    [
      'github_issues_batch_create',
      {
        run_id,
        issues: [
          { title: 'One', body: 'First.' },
          { title: 'Two', body: 'Second.' },
        ],
      },
    ],
    ['suggest_code_application', { code_id: 1, ...place, rationale: 'Fear.', confidence: 84 }],
    ['suggest_new_code', { name: 'Belonging', rationale: 'It comes up.', color: '#4477AA' }],
    ['create_code', { name: 'Habits', color: '#228833' }],
    ['update_code', { code_id: 1, name: 'Anxiety and worry' }],
    ['x_like_tweet', { tweet_id: other?.id }],
    ['merge_codes', { source_code_id: 2, target_code_id: 1 }],
    ['delete_code', { code_id: 2 }],
    ['add_source', { name: 'bob.txt', content: 'Bob: I walk along the river until it is dark.' }],
    ['x_bookmark_tweet', { tweet_id: other?.id }],
    ['auto_code_pattern', { code_id: 1, pattern: 'worry' }],
    ['order_clawdbot', { message: 'List the three open questions of the week.' }],
    [
      'desk__edit_file',
      { path: 'notes/plan.md', edits: [{ oldText: 'Ship on Monday', newText: 'Ship on Friday' }] },
    ],
    ['desk__write_file', { path: 'notes/new.md', content: '# Plan\n\nShip on Friday.' }],
    [
      'desk__execute_sql',
      {
        database: 'acme_prod',
        statement: 'DELETE FROM sessions WHERE last_seen < $1',
        params: ['2026-08-01'],
        read_only: false,
      },
    ],
    ['desk__send_message', { channel: 'releases', body: '2.4 is tagged; please hold merges.' }],
    ['x_delete_tweet', { tweet_id: own.id }],
    ['x_post_tweet', { text: 'w'.repeat(270) }],
    ['x_post_tweet', { text: 'Hello \u{1F44B} world' }],
  ];
  const refused: string[] = [];
  for (const [name, args] of calls) {
    const reply = JSON.stringify(await server.call(name, args));
    if (!/"approval_(queue_)?id"|routed|pending|suggestion/.test(reply))
      refused.push(`${name}: ${reply.slice(0, 300)}`);
  }
  expect(refused).toEqual([]);
  const { items } = (await get('/inbox?brief=1&limit=200')) as { items: { id: number }[] };
  ids = items.map(({ id }) => id);
}

async function get(path: string): Promise<unknown> {
  return (await context.request.get(`${await apiBase(context, server.url)}${path}`)).json();
}

const item = (id: number) => page.getByRole('article', { name: `Approval ${id}`, exact: true });
const bottomOf = async (id: number, label: string): Promise<number> => {
  const box = await item(id).getByLabel(label, { exact: true }).boundingBox();
  return box ? box.y + box.height : Number.POSITIVE_INFINITY;
};
const open = async (id: number): Promise<void> => {
  await page.goto(`${server.url}/inbox/${id}`);
  await item(id).waitFor();
};
const hold = (on: Page) => on.getByRole('region', { name: 'Decision on hold' });
/** UUIDs, the long numbers of X, hashes. */
const RAW_ID = /[0-9a-f]{8}-[0-9a-f]{4}-|\d{13,}|[0-9a-f]{32,}/iu;
const JSON_TEXT = /[{[]\s*"\w+"\s*:|":\s*["{[]/u;

beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));

describe('thirty calls of every toolkit and a server of someone else', { timeout: 300_000 }, () => {
  it('are presented by names, in titles that say where, with facts and reasons above the fold', async () => {
    expect(ids.length).toBeGreaterThanOrEqual(30);
    let [desktop, phone] = [0, 0];
    for (const id of ids) {
      const { presentation } = (await get(`/inbox/${id}`)) as {
        presentation: { title: string; target: { environment: string } };
      };
      const { title, target } = presentation;
      expect([...title].length, title).toBeLessThanOrEqual(TITLE_MAX);
      expect(title).toContain(`(${target.environment})`);
      await page.setViewportSize({ width: 1280, height: 800 });
      await open(id);
      await expect.poll(() => item(id).locator('.skeleton').count()).toBe(0);
      const shown = (await item(id).innerText()) ?? '';
      expect(shown, title).not.toMatch(RAW_ID);
      expect(shown, title).not.toMatch(JSON_TEXT);
      const ends = [await bottomOf(id, 'Facts'), await bottomOf(id, 'Reasons')];
      expect(Math.max(...ends), `${title} on a desktop`).toBeLessThanOrEqual(310);
      desktop = Math.max(desktop, ...ends);
      await page.setViewportSize({ width: 390, height: 844 });
      const low = [await bottomOf(id, 'Facts'), await bottomOf(id, 'Reasons')];
      expect(Math.max(...low), `${title} on a phone`).toBeLessThanOrEqual(530);
      phone = Math.max(phone, ...low);
      const extra = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(extra, `${title} on a phone`).toBeLessThanOrEqual(0);
    }
    process.stderr.write(`Facts and reasons end at ${desktop} px on a desktop, ${phone} px on a phone.\n`);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('have readable text and nothing that axe finds worse than minor, light and dark', async () => {
    const screens: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['list', async () => {}],
      [
        'diff',
        () => page.goto(`${server.url}/?q=Round+half+to`).then(() => page.locator('.diff-box').waitFor()),
      ],
      ['edit', () => decide(page, 'e')],
      ['filter', () => page.getByRole('button', { name: 'Filter', exact: true }).click()],
      ['palette', () => page.keyboard.press('Control+k')],
      ['keys', () => page.keyboard.press('?')],
      ['remember', () => decide(page, 'm')],
      ['reject', () => decide(page, 'r')],
    ];
    for (const [name, reach] of screens) {
      await page.goto(server.url);
      await page.locator('.item-actions').waitFor();
      await reach();
      await page.waitForTimeout(300);
      expect(await findings(page, 'moderate'), name).toEqual([]);
      expect(await lowContrast(page), name).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await darkFindings(page), `${name} in the dark`).toEqual([]);
      expect(await lowContrast(page), `${name} in the dark`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
    }
    await page.emulateMedia({ colorScheme: null });
  });

  it('are filtered by what the address says, with counts', async () => {
    await page.goto(`${server.url}/?toolkit=desk`);
    await page.getByText(/^4 pending$/).waitFor();
    // Each count is of the filter without its own part: what could be added stands next to what was chosen.
    await page.keyboard.press('f');
    const panel = page.getByRole('region', { name: 'Filters' });
    const count = (group: string, name: string) =>
      panel
        .getByRole('group', { name: group })
        .locator('.choice', { hasText: name })
        .locator('.choice-count');
    await expect.poll(() => count('Server or toolkit', 'desk').textContent()).toBe('4');
    expect(Number(await count('Server or toolkit', 'X').textContent())).toBeGreaterThan(4);
    expect(await count('Age', 'Last hour').textContent()).toBe('4');
    expect(await count('Age', 'Older than 7 days').textContent()).toBe('0');
    const live = panel.getByRole('checkbox', { name: /^Live/ });
    await live.focus();
    await page.keyboard.press('Space');
    await expect.poll(() => new URL(page.url()).searchParams.get('environment')).toBe('live');
    await expect.poll(() => live.evaluate((box) => box === document.activeElement)).toBe(true);
    await page.keyboard.press('Space');
    await page.getByText(/^4 pending$/).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('acme_prod');
    await page.getByText(/^1 pending$/).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('acme_prod');
    await page.reload();
    await page.getByText(/^1 pending$/).waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText(`${ids.length} pending`).waitFor();
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('agent');
    await page.locator('.inbox-group', { hasText: `local ${ids.length}` }).waitFor();
  });

  it('are decided twenty times by keyboard alone, with one key for an approval', async () => {
    await page.goto(`${server.url}/?toolkit=x,research`);
    let approvals = 0;
    let keys = 0;
    const press = async (key: string): Promise<void> => {
      keys += 1;
      await page.keyboard.press(key);
    };
    for (let turn = 0; turn < 20; turn += 1) {
      const approve = page.locator('.item-actions > .button:first-child:not([aria-disabled])');
      await approve.waitFor();
      const before = page.url();
      const last = (await page.locator('.inbox-row').count()) <= 1;
      if (turn % 4 === 3) {
        await decide(page, 'r');
        await page.getByRole('textbox', { name: 'Reason' }).fill('Not now');
        await page.keyboard.press('Enter');
      } else {
        approvals += 1;
        await press('a');
      }
      if (!last) await expect.poll(() => page.url(), { timeout: 20_000 }).not.toBe(before);
    }
    expect(keys / approvals).toBeLessThanOrEqual(2);
    process.stderr.write(`${keys / approvals} keys for each of ${approvals} approvals.\n`);
  });

  it('are held before they run where they are live and have no undo, and can be called off', async () => {
    const [row] = ((await get('/inbox?brief=1&toolkit=desk&q=releases')) as { items: { id: number }[] })
      .items;
    const id = row?.id ?? 0;
    const stateOf = async () => ((await get(`/inbox/${id}`)) as { state: string }).state;
    // Several together are held together.
    await page.goto(`${server.url}/?toolkit=desk`);
    for (const title of ['releases', 'new.md'])
      await page.locator('.inbox-row', { hasText: title }).getByRole('checkbox').check({ force: true });
    await decide(page, 'a');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve 2' }).click();
    await hold(page).getByText('2 live calls').waitFor();
    expect(await stateOf()).toBe('pending');
    await page.waitForTimeout(500);
    await page.keyboard.press('u');
    await page.getByText('Called off: 2 live calls. All are still pending.').waitFor();
    const approve = async (on = page): Promise<void> => {
      await on.goto(`${server.url}/inbox/${id}`);
      await on.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();
      await on.keyboard.press('a');
      await hold(on).waitFor();
    };
    await approve();
    expect(await stateOf()).toBe('pending');
    await page.keyboard.press('u');
    await page.getByText(/^Called off: .* It is still pending\./).waitFor();
    await approve();
    // Going elsewhere in the app neither loses nor hurries it.
    await page.getByRole('link', { name: 'Activity' }).click();
    await hold(page).getByRole('button', { name: 'Run now' }).click();
    await expect.poll(stateOf, { timeout: 20_000 }).toBe('done');
    await page.getByRole('link', { name: 'Show' }).last().waitFor();
    expect(await hold(page).count()).toBe(0);
  });

  it('are held by the server: a reload and another tab show the hold, and closing the tab does not end it', async () => {
    const [next] = ((await get('/inbox?brief=1&toolkit=desk&q=new.md')) as { items: { id: number }[] }).items;
    const stateOf = async () => ((await get(`/inbox/${next?.id}`)) as { state: string }).state;
    const spare = await context.newPage();
    const approve = async (): Promise<void> => {
      await spare.goto(`${server.url}/inbox/${next?.id}`);
      await spare.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();
      await spare.keyboard.press('a');
      await hold(spare).waitFor();
    };
    // Undo that comes before the server has answered is for this approval, not for one before it.
    await spare.route('**/approve', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await spare.goto(`${server.url}/inbox/${next?.id}`);
    await spare.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();
    await spare.keyboard.press('a');
    await spare.keyboard.press('u');
    await spare.getByText(/^Called off: .* It is still pending\./).waitFor();
    await spare.unroute('**/approve');

    await page.goto(`${server.url}/inbox/${next?.id}`);
    await page.locator('.item-actions').waitFor();
    await approve();
    await hold(page).waitFor();
    await page.getByText('Approved. It runs in a few seconds').waitFor();
    await page.keyboard.press('u');
    for (const tab of [page, spare]) await tab.getByText(/^Called off: .* It is still pending\./).waitFor();
    await approve();
    await spare.reload();
    await hold(spare)
      .getByText(/Runs in [1-8] s/)
      .waitFor();
    await spare.close({ runBeforeUnload: true });
    expect(await stateOf()).toBe('pending');
    await page.goto('about:blank');
    await expect.poll(stateOf, { timeout: 20_000 }).toBe('done');
  });

  it('can only be rejected by another person while they are on hold', async () => {
    const [row] = ((await get('/inbox?brief=1&toolkit=desk')) as { items: { id: number }[] }).items;
    const id = row?.id ?? 0;
    const held = { held_by: 'person:robin', held_until: new Date(Date.now() + 8000).toISOString() };
    await page.route(`**/inbox/${id}`, async (route) => {
      if (route.request().resourceType() === 'document') return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...(await response.json()), ...held } });
    });
    await open(id);
    await page.getByText('Approved by robin. It runs in a few seconds unless you reject it.').waitFor();
    expect(await page.locator('.item-actions .button').allInnerTexts()).toEqual([
      expect.stringContaining('Reject'),
    ]);
    await decide(page, 'a');
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Reason' }).waitFor();
    await page.keyboard.press('Escape');
    await page.unroute(`**/inbox/${id}`);
    expect(((await get(`/inbox/${id}`)) as { state: string }).state).toBe('pending');
  });

  it('are remembered as a sentence that was tested on past calls, or the page says why not', async () => {
    await server.call('x_post_tweet', { text: 'Remember this one' });
    await page.goto(`${server.url}/?q=Remember+this+one`);
    await page.locator('.item-actions').waitFor();
    await decide(page, 'm');
    const dialog = page.getByRole('dialog', { name: 'Approve, and remember for next time' });
    await dialog.getByText(/to call x_post_tweet with text exactly “Remember this one”/).waitFor();
    await dialog.getByRole('combobox', { name: 'Text' }).selectOption('links_only');
    await dialog.getByText(/any text without links/).waitFor();
    await dialog.getByText(/would have allowed/).waitFor();
    await dialog.getByRole('button', { name: 'Approve and remember' }).click();
    await page.getByText('Remembered; revoke it under Policy.').waitFor();
    const done = JSON.stringify(await server.call('x_post_tweet', { text: 'Without asking' }));
    expect(done).not.toContain('approval_queue_id');
    const asked = JSON.stringify(await server.call('x_post_tweet', { text: 'See https://example.org' }));
    expect(asked).toContain('approval_queue_id');
    await server.call('x_delete_tweet', { tweet_id: await somePost() });
    await page.goto(`${server.url}/?effect=destroy`);
    await page.locator('.item-actions').waitFor();
    await page.getByText('Destructive calls require approval each time.').waitFor();
    await decide(page, 'm');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('cause no error on the console and no violation of the content security policy', () => {
    expect(complaints).toEqual([]);
  });

  // The last: a page that loses its server reports that on the console.
  it('stay pending when the server stops during a hold, and the page says so', async () => {
    const [row] = ((await get('/inbox?brief=1&toolkit=desk')) as { items: { id: number }[] }).items;
    await open(row?.id ?? 0);
    await page.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();
    await page.keyboard.press('a');
    await hold(page).waitFor();
    await server.stop();
    await server.start();
    await page.getByText('The server was restarted during the hold').waitFor();
    expect(await hold(page).count()).toBe(0);
    // Longer than the hold was.
    await page.waitForTimeout(9000);
    expect(((await get(`/inbox/${row?.id}`)) as { state: string }).state).toBe('pending');
  });
});

async function somePost(): Promise<string> {
  const { data } = (await server.call('x_search_tweets', { query: 'Without asking' })) as unknown as {
    data: { tweets: { id: string }[] };
  };
  return data.tweets[0]?.id ?? '';
}
