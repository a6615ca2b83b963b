import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './axe.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"> [press](javascript:alert(1)) \u202Egpj.exe';
const CONFIG = `
[mcp_policy]
template = "none"
max_mutations_per_hour = 500

[[mcp_policy.rules]]
id = "from-the-file"
tools = ["x_unfollow_user"]
action = "deny"
label = '${HOSTILE}'
`;

let server: WebServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [browser, server] = await Promise.all([
    launchBrowser(),
    startWeb({ toolkits: 'x,research', config: CONFIG }),
  ]);
  page = (await server.signIn(browser)).page;
  page.setDefaultTimeout(15_000);
  for (const text of ['Plain', 'With a link https://example.com', 'Another plain one'])
    await server.call('x_post_tweet', { text });
  await server.call('x_like_tweet', { tweet_id: '1' });
  await openRules();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function openRules(): Promise<void> {
  await page.goto(`${server.url}/policy`);
  await page.getByRole('button', { name: 'Add a rule' }).waitFor();
}

const dialog = () => page.getByRole('region', { name: 'Rule editor' });
/** Opens the editor with everything that a rule can say. */
async function addRule(): Promise<void> {
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await dialog().getByText('More: scope').click();
}
const figure = (name: string) =>
  dialog().locator('.figures > div', { hasText: name }).locator('.figure').textContent();
const fill = (label: string, value: string) => dialog().getByLabel(label, { exact: true }).fill(value);
const tick = (group: string, name: string) =>
  dialog().getByRole('group', { name: group }).getByRole('checkbox', { name, exact: true }).check();
const stored = async (): Promise<{ rules: Record<string, unknown>[] }> =>
  (await page.evaluate(
    "fetch(`/api/s/${localStorage.getItem('countersign.place')}/policy`).then((r) => r.json()).then((p) => p.overrides)",
  )) as {
    rules: Record<string, unknown>[];
  };

const WHOLE = {
  id: 'night-shift',
  label: 'No one posts at night',
  enabled: false,
  priority: 7,
  tools: ['x_post_tweet*', 'x_reply_to_tweet'],
  categories: ['write'],
  toolkits: ['x'],
  effects: ['change'],
  modes: ['autopilot'],
  principals: ['agent:claude', 'system:*'],
  schedule: { start: '22:00', end: '06:30', timezone: 'Europe/Berlin', days: ['Mon', 'Fri'] },
  when: 'size(args.text) > 3',
  action: 'dry_run',
  reason: 'People sleep.',
};

describe('the rule form', () => {
  it('says everything that a rule can say, and opens a stored rule with all of it', async () => {
    await addRule();
    await fill('Name', WHOLE.id);
    await fill('Purpose', WHOLE.label);
    await dialog().getByLabel('Decision').selectOption('dry_run');
    await fill('Tools', WHOLE.tools.join(', '));
    await fill('Categories', 'write');
    await fill('Toolkits', 'x');
    await tick('Effects', 'change');
    await fill('Who', WHOLE.principals.join(', '));
    await tick('Modes', 'autopilot');
    await tick('Days', 'Fri');
    await tick('Days', 'Mon');
    await fill('From', '22:00');
    await fill('Until', '06:30');
    await fill('Time zone', 'Europe/Berlin');
    await fill('Condition', WHOLE.when);
    await fill('Order', '7');
    await fill('Reason', WHOLE.reason);
    await dialog().getByRole('checkbox', { name: 'Active' }).uncheck();
    await dialog()
      .getByText(/Tested on your last \d+ calls/)
      .waitFor();
    expect(await dialog().locator('.rule-said').textContent()).toBe(
      'When claude or system:* calls x_post_tweet* or x_reply_to_tweet, a tool of category write, a tool of x with effect change in mode autopilot on Mon, Fri between 22:00 and 06:30 (Europe/Berlin) and size(args.text) > 3 is true, then make it a dry run.',
    );
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await page.getByText('Rule night-shift is active.').waitFor();
    expect((await stored()).rules).toEqual([WHOLE]);
    await page
      .getByText(
        'x_post_tweet*, x_reply_to_tweet; category write; toolkit x; effect change; by agent:claude, system:*; in autopilot; on Mon, Fri; 22:00 to 06:30; when size(args.text) > 3',
      )
      .waitFor();

    await page.getByRole('button', { name: 'Edit night-shift' }).click();
    await fill('Reason', 'People sleep at night.');
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect((await stored()).rules).toEqual([{ ...WHOLE, reason: 'People sleep at night.' }]);
    await page.getByRole('button', { name: 'Remove night-shift' }).click();
    await page.getByText('No custom rules').waitFor();
  });

  it('replays a rule on the last calls, and says next to each field what is wrong with it', async () => {
    await addRule();
    await fill('Tools', 'x_post_tweet');
    await expect.poll(() => figure('Newly ask')).toBe('3');
    await fill('Condition', "args.text.contains('http')");
    await expect.poll(() => figure('Newly ask')).toBe('1');
    await dialog().getByRole('region', { name: 'Replay' }).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: /Post/ }).waitFor();
    await page.goBack();
    await addRule();
    const wrong = (label: string) => dialog().locator('.field', { hasText: label }).locator('.field-error');
    await fill('Tools', 'x_post_tweet');
    await fill('Condition', "args.txt.contains('http')");
    await wrong('Condition').getByText("did you mean 'text'").waitFor();
    expect(await dialog().getByLabel('Condition').getAttribute('aria-invalid')).toBe('true');
    expect(await seriousFindings(page)).toEqual([]);
    await fill('Condition', '');
    await fill('Tools', '');
    await fill('Categories', 'wirte');
    await wrong('Categories').getByText("did you mean 'write'").waitFor();
    await fill('Categories', '');
    await tick('Effects', 'change');
    await expect.poll(() => figure('Newly ask')).toBe('4');
    await tick('Modes', 'composer');
    await expect.poll(() => figure('Newly ask')).toBe('0');
    await page.getByRole('button', { name: 'Discard' }).click();
    await dialog().waitFor({ state: 'detached' });
  });

  it('explains a pasted call, with the draft rule and without', async () => {
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await fill('Tools', 'x_post_tweet');
    await dialog().getByLabel('Decision').selectOption('deny');
    await dialog().getByText('Try a call against this rule').click();
    await fill('Call', '{"name": "x_post_tweet", "arguments": {"text": "Hello"}}');
    await dialog().getByRole('button', { name: 'Explain' }).click();
    await dialog().getByText('x_post_tweet: deny by').waitFor();
    await fill('Call', '{"name": ');
    await dialog().getByRole('button', { name: 'Explain' }).click();
    await dialog().getByText('This is not JSON').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Explain a call' }).click();
    const asked = page.getByRole('dialog');
    await asked.getByLabel('Call', { exact: true }).fill('x_post_tweet {"text": "Hello"}');
    await asked.getByRole('button', { name: 'Explain' }).click();
    await asked.getByText('x_post_tweet: allow by').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  it('puts a rule in force by days and times', async () => {
    const today = new Date();
    const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
    const day = (offset: number): string => days[(today.getUTCDay() + offset) % 7] ?? '';
    await addRule();
    await fill('Name', 'rest-day');
    await fill('Tools', 'x_like_tweet');
    await dialog().getByLabel('Decision').selectOption('deny');
    await fill('Time zone', 'UTC');
    // Tomorrow too, should midnight pass in between.
    await tick('Days', day(0));
    await tick('Days', day(1));
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await page.getByText('Rule rest-day is active.').waitFor();
    expect(await server.call('x_like_tweet', { tweet_id: '1234567890' })).toMatchObject({ success: false });
    await page.getByRole('button', { name: 'Edit rest-day' }).click();
    await dialog()
      .getByRole('group', { name: 'Days' })
      .getByRole('checkbox', { name: day(0) })
      .uncheck();
    await dialog()
      .getByRole('group', { name: 'Days' })
      .getByRole('checkbox', { name: day(1) })
      .uncheck();
    await tick('Days', day(3));
    await page.getByRole('button', { name: 'Save and activate' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await server.call('x_like_tweet', { tweet_id: '1234567890' })).toMatchObject({ success: true });
  });
});

describe('the rules page', () => {
  it('shows the rules of the configuration file, and what strangers wrote in them as text', async () => {
    await openRules();
    await page.getByRole('heading', { name: 'In the configuration file' }).waitFor();
    await page.getByText('x_unfollow_user', { exact: true }).waitFor();
    const text = await page.getByRole('main').textContent();
    expect(text).toContain(
      '<img src=x onerror="window.hacked=1"> [press](javascript:alert(1)) U+202Egpj.exe',
    );
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main :is(img, script, a[href^="javascript"])').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows the matrix of what each agent may do as policy explains it', async () => {
    await page.getByRole('tab', { name: 'Permissions' }).click();
    await page.getByRole('row', { name: /^x_unfollow_user change deny/ }).waitFor();
    await page.getByRole('combobox', { name: 'Toolkit' }).selectOption('research');
    await page.getByRole('row', { name: /^create_code change allow/ }).waitFor();
    expect(await page.getByRole('row', { name: /^x_/ }).count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Tool' }).fill('create_code');
    await page.getByText('1 tool: 1 allow').waitFor();
  });

  it('puts a template in force', async () => {
    await page.getByRole('tab', { name: 'Mode, template, limits' }).click();
    await page.getByRole('button', { name: /^Use / }).first().click();
    await page.getByRole('button', { name: 'Use none' }).waitFor();
    const routed = await server.call('x_post_tweet', { text: 'Now it asks' });
    expect(routed).toMatchObject({ data: { routed_to_approval: true } });
  });

  it('opens at the rule that an item or a story links to, built-in ones included', async () => {
    await page.goto(`${server.url}/policy?rule=${encodeURIComponent('template:safe_default:writes')}`);
    await page.locator('.rule[aria-current]', { hasText: 'Posts, replies, quotes and threads' }).waitFor();
    const linked = page.getByRole('region', { name: 'Linked rule' });
    await linked.getByText('Posts, replies, quotes and threads').first().waitFor();
    await page.goto(`${server.url}/policy?rule=${encodeURIComponent('hard:destroy_approval')}`);
    await linked.getByText('Every destructive call requires approval.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('warns that a rule would allow what a person rejected, and lists what is remembered', async () => {
    const routed = await server.call('x_post_tweet', { text: 'Come to us!' });
    const { approval_queue_id: id } = routed.data as { approval_queue_id: number };
    await server.cli('approvals', 'reject', String(id), '--reason', 'no');
    await openRules();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await fill('Tools', 'x_post_tweet');
    await dialog().getByLabel('Decision').selectOption('allow');
    await dialog().getByRole('alert').getByText('Would have allowed 1 call you rejected').waitFor();
    await dialog().getByText('You rejected this').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    const add = ['approvals', 'standing', 'add', '--agent', 'local', '--tool', 'x_post_tweet'];
    await server.cli(...add, '--where', 'text:starts_with:Daily', '--uses', '3', '--yes');
    await page.getByRole('tab', { name: 'Remembered 1' }).click();
    await page.getByText('0 of 3 uses').first().waitFor();
    await server.call('x_post_tweet', { text: 'Daily report' });
    await page.getByText('1 of 3 uses').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Revoke 1' }).click();
    await page.getByText('No remembered decisions').waitFor();
    expect(await server.call('x_post_tweet', { text: 'Daily report 2' })).toMatchObject({
      data: { routed_to_approval: true },
    });
  });

  it('rules edited in the database allow no change, and a person starts again from the page', async () => {
    await openRules();
    await page.getByRole('tab', { name: 'Mode, template, limits' }).click();
    await page.getByRole('button', { name: /^Use / }).first().click();
    await page.getByText('Active for every agent.').waitFor();
    const db = new Database(join(server.home, 'countersign.db'));
    db.prepare("UPDATE settings SET value = ? WHERE key = 'policy_overrides'").run('{"rules":[]}');
    db.close();
    const like = () => server.call('x_like_tweet', { tweet_id: '2' });
    expect(await like()).toMatchObject({
      error: { code: 'policy_error', message: expect.stringContaining('do not match the audit log') },
    });
    const failing = (...args: string[]) =>
      server.cli(...args).catch(({ stdout }: { stdout: string }) => stdout);
    expect(await failing('status')).toContain('Policy         FAILED: The rules stored in the database');
    expect(await failing('doctor')).toMatch(/✗ policy +The rules stored in the database do not match/);
    await openRules();
    const notice = page.getByRole('alert').filter({ hasText: 'do not match the audit log' });
    await notice.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await notice.getByRole('button', { name: 'Discard the stored rules' }).click();
    await notice.waitFor({ state: 'detached' });
    const code = async () => (await like()).error;
    await expect.poll(code, { timeout: 20_000, interval: 500 }).not.toMatchObject({ code: 'policy_error' });
    expect(await server.cli('doctor').catch(({ stdout }: { stdout: string }) => stdout)).toMatch(/✓ policy/);
  });
});
