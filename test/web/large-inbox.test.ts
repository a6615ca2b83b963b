import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seriousFindings } from './axe.ts';
import { decide, launchBrowser, startWeb, type WebServer } from './support.ts';

const QUEUED = 10_000;
let server: WebServer;
let browser: Browser;

function open(home: string): Database.Database {
  const file = readdirSync(home).find((name) => /\.(db|sqlite)$/.test(name));
  if (!file) throw new Error(`There is no database in ${home}: ${readdirSync(home).join(', ')}`);
  return new Database(join(home, file));
}

/** Copies the one row a real call left, because ten thousand real calls would take minutes, and cuts one call off. */
function multiply(home: string): void {
  const db = open(home);
  const columns = (db.prepare('select name from pragma_table_info(?)').all('approvals') as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== 'id');
  // The newest one is opened, so it is the one that the audit log has.
  const { uuid } = db.prepare('select uuid from approvals where id = 1').get() as { uuid: string };
  db.exec("update approvals set uuid = 'copy-0' where id = 1");
  const values = columns.map((name) =>
    name === 'uuid'
      ? `case when n = ${QUEUED - 1} then '${uuid}' else 'copy-' || n end`
      : name === 'summary'
        ? `case when n = ${QUEUED - 1} then summary else 'Copy number ' || n || case when n <= 5000 then ' early' else ' late' end end`
        : `"${name}"`,
  );
  db.exec(
    `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${QUEUED - 1})
     insert into approvals (${columns.map((name) => `"${name}"`).join(', ')})
     select ${values.join(', ')} from approvals, numbers where approvals.id = 1`,
  );
  db.exec(
    `insert into approval_previews select ${QUEUED}, body from approval_previews where approval_id = 1`,
  );
  // With its arguments erased nothing but a person can settle it.
  db.exec(`update calls set status = 'indeterminate' where tool = 'x_like_tweet';
    update audit_payloads set body = null where call_id in (select call_id from calls where tool = 'x_like_tweet')`);
  db.close();
}

beforeAll(async () => {
  server = await startWeb({ toolkits: 'x' });
  await server.call('x_post_tweet', { text: 'The first of ten thousand' });
  await server.call('x_like_tweet', { tweet_id: '1' });
  await server.stop();
  multiply(server.home);
  await server.start();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

it('shows ten thousand waiting items by drawing and loading only what is on screen', async () => {
  const { page } = await server.signIn(browser);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByText('10,000 pending').waitFor();
  await page.getByRole('link', { name: `Copy number ${QUEUED - 2}` }).waitFor();
  expect(await page.locator('.inbox-row').count()).toBeLessThan(60);
  await page.getByRole('article').getByText('The first of ten thousand').first().waitFor();
  await page.locator('.inbox-scroll').evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await page.getByRole('link', { name: /^Post to @\w+ \(sandbox\)/ }).waitFor();
  expect(asked.filter((url) => url.includes('brief=1')).length).toBeLessThan(6);
});

it('needs five small answers until the first item is open', async () => {
  const { page } = await server.signIn(browser);
  const answers: { path: string; bytes: number }[] = [];
  page.on('response', async (response) => {
    const path = new URL(response.url()).pathname.replace(/^\/api\/s\/[^/]+/, '/api');
    if (!path.startsWith('/api/') || path === '/api/events') return;
    // An answer to the page before has no body any more.
    const body = await response.body().catch(() => undefined);
    if (body) answers.push({ path, bytes: body.length });
  });
  await page.reload();
  await page.getByRole('link', { name: `Copy number ${QUEUED - 2}` }).waitFor();
  await expect
    .poll(() => answers.map(({ path }) => path).sort())
    .toEqual(['/api/holds', '/api/inbox', `/api/inbox/${QUEUED}`, '/api/inbox/count', '/api/session']);
  expect(answers.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(24_000);
});

it('finds its page of the queue, what expired and what was cut off by indexes, without sorting the queue', () => {
  const db = open(server.home);
  const plan = (sql: string, ...values: (string | number)[]): string =>
    (db.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[])
      .map(({ detail }) => detail)
      .join('; ');
  const danger = `case when signers > 0 then 0 when effect = 'destroy' or risks like '["Moves money"%' then 1
    when risks <> '[]' then 2 when environment = 'live' then 3 else 4 end`;
  expect(
    plan(`select * from approvals where state in (?) order by ${danger}, id desc limit 30`, 'pending'),
  ).toBe('SEARCH approvals USING INDEX approvals_by_danger (state=?)');
  expect(
    plan('select id from approvals where state in (?, ?) and expires_at <= ?', 'pending', 'approved', 'z'),
  ).toContain('INDEX approvals_by_expiry (state=? AND expires_at<?)');
  expect(
    plan(
      "select * from calls where status in (?) and status in ('running', 'indeterminate')",
      'indeterminate',
    ),
  ).toContain('INDEX calls_unsettled');
  db.close();
});

it('rejects the five thousand that a filter matches, in one step with one reason', async () => {
  const { page } = await server.signIn(browser);
  page.setDefaultTimeout(60_000);
  const from = performance.now();
  await page.keyboard.press('/');
  await page.keyboard.type('early');
  await page.getByText('5,000 pending').waitFor();
  await page.getByRole('button', { name: 'Select all 5,000' }).click();
  await decide(page, 'r');
  const dialog = page.getByRole('dialog', { name: 'Reject 5,000 approvals' });
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Not needed');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Rejected 5,000.').waitFor();
  process.stderr.write(
    `Filtered, selected and rejected 5,000 in ${Math.round(performance.now() - from)} ms.\n`,
  );
  const db = open(server.home);
  const count = db.prepare('select count(*) as n from approvals where state = ? and decision_reason = ?');
  expect((count.get('rejected', 'Not needed') as { n: number }).n).toBe(5000);
  db.close();
});

it('asks on top of all what came of a call that was cut off, and takes the answer', async () => {
  const { page } = await server.signIn(browser);
  const question = page.getByRole('region', { name: 'Calls whose outcome is unknown' });
  await question.getByText(/^Like a post/).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await question.getByRole('button', { name: 'It did not happen' }).click();
  await question.waitFor({ state: 'detached' });
});
