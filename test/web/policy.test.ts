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
  await page.goto(`${server.url}/agents`);
  await page.getByRole('tab', { name: 'Rules' }).click();
  await page.getByRole('button', { name: 'Add a rule' }).waitFor();
}

const dialog = () => page.getByRole('dialog');
const fill = (label: string, value: string) => dialog().getByLabel(label, { exact: true }).fill(value);
const tick = (group: string, name: string) =>
  dialog().getByRole('group', { name: group }).getByRole('checkbox', { name, exact: true }).check();
const stored = async (): Promise<{ rules: Record<string, unknown>[] }> =>
  (await page.evaluate("fetch('/api/policy').then((r) => r.json()).then((p) => p.overrides)")) as {
    rules: Record<string, unknown>[];
  };

const WHOLE = {
  id: 'night-shift',
  label: 'Nobody posts at night',
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
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await fill('Name', WHOLE.id);
    await fill('What it is for', WHOLE.label);
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
    await dialog().getByRole('checkbox', { name: 'In force' }).uncheck();
    await dialog()
      .getByText(/Of the last \d+ calls/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await page.getByText('The rule night-shift is in force.').waitFor();
    expect((await stored()).rules).toEqual([WHOLE]);
    await page
      .getByText(
        'tools x_post_tweet*, x_reply_to_tweet; categories write; toolkits x; effects change; by agent:claude, system:*; in autopilot; on Mon, Fri; from 22:00 to 06:30; Europe/Berlin; when size(args.text) > 3',
      )
      .waitFor();

    await page.getByRole('button', { name: 'Edit night-shift' }).click();
    await fill('Reason', 'People sleep at night.');
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect((await stored()).rules).toEqual([{ ...WHOLE, reason: 'People sleep at night.' }]);
    await page.getByRole('button', { name: 'Remove night-shift' }).click();
    await page.getByText('You have written no rule here').waitFor();
  });

  it('previews a rule on the last calls: how many it stops, how many it lets through, what is wrong with it', async () => {
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await fill('Tools', 'x_post_tweet');
    await dialog()
      .getByText(/would have stopped 3\b/)
      .waitFor();
    await fill('Condition', "args.text.contains('http')");
    await dialog()
      .getByText(/would have stopped 1\b/)
      .waitFor();
    await fill('Condition', "args.txt.contains('http')");
    await dialog().getByRole('alert').getByText("did you mean 'text'").waitFor();
    await fill('Condition', '');
    await fill('Tools', '');
    await fill('Categories', 'wirte');
    await dialog().getByRole('alert').getByText("did you mean 'write'").waitFor();
    await fill('Categories', '');
    await tick('Effects', 'change');
    await dialog()
      .getByText(/would have stopped 4\b/)
      .waitFor();
    await tick('Modes', 'composer');
    await dialog()
      .getByText(/would have stopped 0\b/)
      .waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('puts a rule in force by days and times', async () => {
    const today = new Date();
    const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
    const day = (offset: number): string => days[(today.getUTCDay() + offset) % 7] ?? '';
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await fill('Name', 'rest-day');
    await fill('Tools', 'x_like_tweet');
    await dialog().getByLabel('Decision').selectOption('deny');
    await fill('Time zone', 'UTC');
    // Tomorrow too, should midnight pass meanwhile.
    await tick('Days', day(0));
    await tick('Days', day(1));
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await page.getByText('The rule rest-day is in force.').waitFor();
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
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await server.call('x_like_tweet', { tweet_id: '1234567890' })).toMatchObject({ success: true });
  });
});

describe('the rules page', () => {
  it('shows the rules of the configuration file, and what strangers wrote in them as text', async () => {
    await openRules();
    await page.getByRole('heading', { name: 'In the configuration file' }).waitFor();
    await page.getByText('tools x_unfollow_user').waitFor();
    const text = await page.getByRole('main').textContent();
    expect(text).toContain(
      '<img src=x onerror="window.hacked=1"> [press](javascript:alert(1)) U+202Egpj.exe',
    );
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main :is(img, script, a[href^="javascript"])').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows the matrix of what each agent may do as policy explains it', async () => {
    await page.getByRole('tab', { name: 'What they may do' }).click();
    await page.getByRole('row', { name: /^x_unfollow_user change deny/ }).waitFor();
    await page.getByRole('combobox', { name: 'Toolkit' }).selectOption('research');
    await page.getByRole('row', { name: /^create_code change allow/ }).waitFor();
    expect(await page.getByRole('row', { name: /^x_/ }).count()).toBe(0);
  });

  it('puts a template in force', async () => {
    await page.getByRole('tab', { name: 'Mode, template, limits' }).click();
    await page.getByRole('button', { name: 'Use safe default' }).click();
    await page.getByRole('button', { name: 'Use none' }).waitFor();
    const routed = await server.call('x_post_tweet', { text: 'Now it asks' });
    expect(routed).toMatchObject({ data: { routed_to_approval: true } });
  });
});
