import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteFile from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRepo } from '../../src/toolkits/dev/test/support/dev.ts';
import { seriousFindings } from './axe.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"> [press](javascript:alert(1)) \u202Egpj.exe';
const LONG = 'w'.repeat(100_000);

let server: WebServer;
let browser: Browser;
let page: Page;
let run: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([launchBrowser(), startWeb({ toolkits: 'x,dev,governance' })]);
  makeRepo(join(server.home, 'shop'), { 'README.md': '# shop\n' });
  await server.stop();
  writeFileSync(
    join(server.home, 'config.toml'),
    `[dev.repos.shop]\npath = ${JSON.stringify(join(server.home, 'shop'))}\nforge = "local"\n`,
  );
  await server.start();
  page = (await server.signIn(browser)).page;
  page.setDefaultTimeout(15_000);
  await server.call('get_mode', {});
  await server.call('x_search_tweets', { query: `${HOSTILE} ${LONG}` });
  await server.call('x_post_tweet', { text: 'Waits' });
  const started = (await server.call('runs_create', { repo: 'shop', purpose: `Fix it. ${HOSTILE}` })) as {
    result: { run_id: string };
  };
  run = started.result.run_id;
  await server.call('github_issues_create', { run_id: run, title: HOSTILE, body: 'Because.' });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const tools = () =>
  page.locator('.call-link').evaluateAll((links) => links.map((link) => link.getAttribute('title')));

async function openCall(tool: string): Promise<void> {
  await page.goto(`${server.url}/activity?tool=${tool}`);
  await page.locator('.call-link').first().click();
  await page.getByRole('button', { name: 'Verify' }).waitFor();
  await page.getByRole('region', { name: 'Story of this call' }).waitFor();
}

describe('activity', () => {
  it('is filtered by tool, agent, outcome, run and time, and the address keeps the filter', async () => {
    await page.goto(`${server.url}/activity`);
    await page.getByRole('link', { name: 'Got operating mode' }).waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('routed');
    await expect.poll(tools).toEqual(['x_post_tweet']);
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('');
    await page.getByRole('searchbox', { name: 'Run' }).fill(run);
    await expect.poll(tools).toEqual(['github_issues_create', 'runs_create']);
    await page.reload();
    await expect.poll(tools).toEqual(['github_issues_create', 'runs_create']);
    await page.getByRole('searchbox', { name: 'Run' }).fill('');
    await page.getByRole('combobox', { name: 'Agent' }).fill('agent:nobody');
    await page.getByText('No matching calls').waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).fill('agent:local');
    await page.getByRole('combobox', { name: 'Time' }).selectOption('1');
    await expect
      .poll(tools)
      .toEqual(['github_issues_create', 'runs_create', 'x_post_tweet', 'x_search_tweets', 'get_mode']);
  });

  it('finds calls by words of their content, and says that erased words cannot be found', async () => {
    await page.goto(`${server.url}/activity`);
    await page.getByRole('searchbox', { name: 'Search activity' }).fill('wai');
    await expect.poll(tools).toEqual(['x_post_tweet']);
    expect(new URL(page.url()).searchParams.get('q')).toBe('wai');
    await page.getByText('Pending', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search activity' }).fill('waits nowhere');
    await page.getByText('No matching calls').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('tells the story of a call: asked, edited with before and after, approved, done and undone', async () => {
    const asked = await server.call('x_post_tweet', { text: 'Cold starts are twice as fast.' });
    const id = (asked.data as { approval_queue_id: number }).approval_queue_id;
    await server.cli('approvals', 'edit', String(id), '--args', '{"text":"Cold starts take half the time."}');
    await server.cli('approvals', 'approve', String(id));
    await page.goto(`${server.url}/activity?q=half+the+time&outcome=ok`);
    await page.locator('.call-link').first().click();
    const story = page.getByRole('region', { name: 'Story of this call' });
    await story.getByText('local asked').waitFor();
    await story.getByRole('button', { name: 'Show change' }).click();
    expect(await story.locator('del').textContent()).toContain('are twice as fast');
    expect(await story.locator('ins').textContent()).toContain('take half the time');
    await story.getByText('Intent written to the audit log').waitFor();
    await page.getByRole('region', { name: 'Undo' }).getByRole('button', { name: 'Undo' }).click();
    await story.getByText('undid it').waitFor();
    await page.getByText('This was undone.').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^Posted to @/);
    expect(await seriousFindings(page)).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    expect(await story.isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Verify' }).isVisible()).toBe(false);
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
    await page.emulateMedia({ media: null });
  });

  it('gives a run as one file that checks out without the database', async () => {
    await page.goto(`${server.url}/activity?run=${run}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export this run' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`run-${run}.json`);
    const file = join(server.home, 'exported.json');
    await download.saveAs(file);
    expect(readFileSync(file, 'utf8')).toContain(run);
    expect(await server.cli('audit', 'check', file)).toMatch(/ok|checks out|consistent/i);
    const changed = join(server.home, 'changed.json');
    writeFileSync(changed, readFileSync(file, 'utf8').replaceAll('runs_create', 'runs_erased'));
    await expect(server.cli('audit', 'check', changed)).rejects.toThrow();
  });

  it('shows what agents wrote as text, and long lines inside their box', async () => {
    await openCall('x_search_tweets');
    const shown = page.getByRole('region', { name: 'Arguments' }).first();
    await shown.getByRole('button', { name: /more characters/ }).click();
    const text = (await shown.textContent()) ?? '';
    expect(text).toContain('<img src=x onerror=');
    expect(text).toContain('[press](javascript:alert(1)) U+202Egpj.exe');
    expect(text.length).toBeGreaterThan(100_000);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main :is(img, script, a[href^="javascript"])').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
  });
});

interface Detail {
  evidence_hash: string;
  proof: {
    call: string;
    entries: { seq: number; body: string; path: string[] }[];
    checkpoint: string;
    publicKey: string;
  };
}

/** The first character of a text in another one, of the same alphabet. */
const flip = (text: string): string => (text.startsWith('0') ? '1' : '0') + text.slice(1);
const TAMPERED: readonly [string, (detail: Detail) => void, RegExp][] = [
  [
    'an entry',
    ({ proof }) =>
      flipIn(proof.entries, (entry) => ({
        ...entry,
        body: entry.body.replace('agent:local', 'agent:other'),
      })),
    /does not match the signed root/,
  ],
  [
    'a place',
    ({ proof }) => flipIn(proof.entries, (entry) => ({ ...entry, seq: entry.seq + 1 })),
    /does not match the signed root/,
  ],
  [
    'a path',
    ({ proof }) => flipIn(proof.entries, (entry) => ({ ...entry, path: entry.path.map(flip) })),
    /does not match the signed root/,
  ],
  [
    'the call',
    ({ proof }) => {
      proof.call = 'another';
    },
    /is about another call/,
  ],
  [
    'the size in the checkpoint',
    ({ proof }) => {
      proof.checkpoint = proof.checkpoint.replace(/\n(\d+)\n/, '\n9$1\n');
    },
    /checkpoint signature is invalid/,
  ],
  [
    'the signature',
    ({ proof }) => {
      proof.checkpoint = proof.checkpoint.replace(
        /(.{12})\n$/,
        (end) => `${[...end.trim()].reverse().join('')}\n`,
      );
    },
    /checkpoint signature is invalid|is unreadable/,
  ],
  [
    'the checkpoint, cut',
    ({ proof }) => {
      proof.checkpoint = proof.checkpoint.slice(0, 20);
    },
    /is unreadable|checkpoint signature is invalid/,
  ],
  [
    'the entries, all gone',
    ({ proof }) => {
      proof.entries = [];
    },
    /contains no entries/,
  ],
  [
    'the evidence hash',
    (detail) => {
      detail.evidence_hash = flip(detail.evidence_hash);
    },
    /evidence hash does not match/,
  ],
];

function flipIn<T>(list: T[], change: (one: T) => T): void {
  const first = list[0];
  if (first !== undefined) list[0] = change(first);
}

describe('the verify button', () => {
  it('checks the proof of a call in the page', async () => {
    await openCall('runs_create');
    await page.getByText('Verified here').waitFor();
    const steps = await page.locator('.verify-steps').textContent();
    expect(steps).toMatch(/Entry \d+ is in the log of \d+/);
    expect(steps).toContain('is signed by');
    await page.getByRole('button', { name: 'Show the proof' }).click();
    await page.getByRole('region', { name: 'Proof' }).getByText('"checkpoint"').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it.each(TAMPERED)('reports a proof with a changed %s', async (_what, change, said) => {
    await page.route('**/api/s/*/activity/*', async (route) => {
      const response = await route.fetch();
      const detail = (await response.json()) as Detail;
      change(detail);
      // A request that is under way when the test ends has been answered by then.
      await route.fulfill({ response, json: detail }).catch(() => {});
    });
    try {
      await openCall('runs_create');
      await page.getByRole('alert').getByText('Not verified').waitFor();
      expect(await page.locator('.verify-steps').textContent()).toMatch(said);
    } finally {
      await page.unroute('**/api/s/*/activity/*');
    }
  });

  it('reports a proof signed with a key that is not of this log', async () => {
    await page.route('**/api/s/*/log-keys', (route) => route.fulfill({ json: { keys: [] } }));
    await openCall('runs_create');
    await page.getByText('The checkpoint was signed with a key that does not belong to this log').waitFor();
    await page.getByRole('alert').getByText('Not verified').waitFor();
    await page.unroute('**/api/s/*/log-keys');
  });

  it('does not call a call verified whose row was edited in the database', async () => {
    const database = new SqliteFile(join(server.home, 'countersign.db'), { timeout: 5000 });
    database.exec(`update calls set principal = 'person:eve' where tool = 'get_mode'`);
    database.close();
    await openCall('get_mode');
    await page.getByRole('alert').getByText('Not verified').waitFor();
    expect(await page.locator('.verify-steps').textContent()).toContain('says principal is "person:eve"');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('keeps the words of a call whose time cannot be read, and says that it differs', async () => {
    const database = new SqliteFile(join(server.home, 'countersign.db'), { timeout: 5000 });
    database.exec(`update calls set started_at = 'a while ago' where tool = 'x_search_tweets'`);
    database.close();
    await openCall('x_search_tweets');
    await page.getByRole('alert').getByText('differs from the audit log').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Search posts in X');
    await page.goto(`${server.url}/activity?tool=x_search_tweets`);
    await page
      .locator('.call-row', { hasText: 'Search posts in X' })
      .getByText('Differs from the log')
      .waitFor();
  });

  it('says of a call without an entry that it is not proven, and mentions no entry of it', async () => {
    const id = '019a0000-0000-7000-8000-000000000000';
    const database = new SqliteFile(join(server.home, 'countersign.db'), { timeout: 5000 });
    const names = database.prepare("select name from pragma_table_info('calls')").all() as { name: string }[];
    const columns = names.map(({ name }) => name);
    database.exec(`insert into calls (${columns.join(', ')})
      select ${columns.map((name) => (name === 'call_id' ? `'${id}'` : name)).join(', ')} from calls where tool = 'runs_create' limit 1`);
    database.close();
    await page.goto(`${server.url}/activity/${id}`);
    await page.getByRole('alert').getByText('Not proven').waitFor();
    await page.getByText('Arguments are no longer stored.', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Evidence' }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
