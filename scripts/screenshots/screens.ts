import type { Page } from 'playwright-core';
import { startSigning } from './passkey.ts';

export interface Screen {
  readonly name: string;
  readonly path: string;
  /** Brings the page to the state that is worth a picture. */
  ready?(page: Page): Promise<unknown>;
  /** Undoes what the picture needed. */
  after?(page: Page): Promise<unknown>;
}

const link = (name: RegExp) => (page: Page) => page.getByRole('link', { name }).first().click();
const button = (name: string | RegExp) => (page: Page) =>
  page
    .getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
    .first()
    .click();
const text = (what: string | RegExp) => (page: Page) => page.getByText(what).first().waitFor();
const selector = (css: string) => (page: Page) => page.locator(css).first().waitFor();
const key = (name: string) => (page: Page) => page.keyboard.press(name);
const all =
  (...steps: ((page: Page) => Promise<unknown>)[]) =>
  async (page: Page): Promise<void> => {
    for (const step of steps) await step(page);
  };
const item = (name: RegExp) => all(link(name), selector('article.item'));
const decided = (name: RegExp) => all(button('Decided'), item(name));
const selectTwo = async (page: Page): Promise<void> => {
  for (const hasText of [/Release 2.4/, /Post a thread/])
    await page.locator('.inbox-row', { hasText }).getByRole('checkbox').click({ force: true });
  await text('2 selected')(page);
};
const holdOne = async (page: Page): Promise<void> => {
  await item(/Post a message|post_message/)(page);
  await page.waitForTimeout(600);
  await page.keyboard.press('a');
  await page.locator('.hold').first().waitFor();
};

/** Of a store that was never used. */
export const EMPTY: readonly Screen[] = [
  { name: 'start', path: '/' },
  { name: 'inbox-empty', path: '/inbox', ready: text('No pending approvals') },
  {
    name: 'decided-empty',
    path: '/inbox',
    ready: all(button('Decided'), text('No decisions yet')),
  },
  { name: 'activity-first', path: '/activity', ready: selector('.call-link') },
  { name: 'agents-empty', path: '/agents', ready: text('No agents yet') },
  { name: 'rules-empty', path: '/policy', ready: text('No custom rules') },
  { name: 'remembered-empty', path: '/policy/remembered', ready: text('No remembered decisions') },
  { name: 'insights-empty', path: '/insights' },
  { name: 'x-discover-empty', path: '/x' },
  { name: 'x-write-empty', path: '/x/write' },
  { name: 'x-calendar-empty', path: '/x/calendar' },
  { name: 'x-targets-empty', path: '/x/targets' },
  { name: 'x-figures-empty', path: '/x/figures' },
  { name: 'research-start', path: '/research' },
  { name: 'dev-empty', path: '/dev' },
  { name: 'assistant-empty', path: '/assistant' },
  { name: 'passkeys-empty', path: '/passkeys' },
];

const writeRule = async (page: Page): Promise<void> => {
  await button('Add a rule')(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('posts-run');
  await page.getByRole('combobox', { name: 'Tools' }).fill('x_post_tweet');
  await page.getByLabel('Decision').selectOption('allow');
  await text(/you rejected/)(page);
};
const wrongRule = async (page: Page): Promise<void> => {
  await button('Add a rule')(page);
  await page.getByRole('combobox', { name: 'Tools' }).fill('x_post_twet');
  await text(/did you mean/)(page);
};
const explainCall = async (page: Page): Promise<void> => {
  await button('Explain a call')(page);
  await page.getByLabel('Call', { exact: true }).fill('x_post_tweet {"text": "Hello"}');
  await button('Explain')(page);
  await selector('.explain-rules li')(page);
};

const createAgent = async (page: Page): Promise<void> => {
  await button('Create an agent')(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('day-shift');
};

const tryQuery = async (page: Page): Promise<void> => {
  await button('Try query')(page);
  const form = page.getByRole('form', { name: 'Try query' });
  await form.getByLabel('statement (required)').fill('SELECT * FROM table_sizes');
  await form.getByRole('button', { name: 'Run query' }).click();
  await form.getByText('The call succeeded.').waitFor();
};

const INBOX: readonly Screen[] = [
  { name: 'inbox', path: '/', ready: item(/Release 2.4/) },
  { name: 'inbox-list', path: '/', ready: selector('.inbox-row') },
  { name: 'inbox-thread', path: '/', ready: item(/Post a thread/) },
  { name: 'inbox-diff', path: '/', ready: all(item(/Open “Round half/), selector('.diff-box')) },
  {
    name: 'inbox-coding',
    path: '/?toolkit=research',
    ready: all(item(/Apply “Coping”/), selector('.passage')),
  },
  { name: 'inbox-database', path: '/', ready: item(/execute_sql/) },
  { name: 'inbox-sign', path: '/', ready: all(item(/execute_sql/), startSigning) },
  { name: 'inbox-hold', path: '/?toolkit=slack', ready: holdOne, after: key('u') },
  { name: 'inbox-none', path: '/?q=zebra', ready: text('Nothing matches these filters.') },
  { name: 'inbox-merge', path: '/', ready: item(/Merge/) },
  { name: 'inbox-destroy', path: '/', ready: item(/delete/) },
  { name: 'inbox-exact', path: '/', ready: all(item(/Release 2.4/), button('Show the exact arguments')) },
  { name: 'inbox-done', path: '/', ready: all(decided(/Status: all systems/), text('Undo')) },
  { name: 'inbox-rejected', path: '/', ready: all(decided(/Our competitor/), text('We do not gloat.')) },
  { name: 'inbox-edit', path: '/', ready: all(item(/Release 2.4/), key('e'), selector('dialog')) },
  { name: 'inbox-edit-thread', path: '/', ready: all(item(/Post a thread/), key('e'), selector('dialog')) },
  { name: 'inbox-reject', path: '/', ready: all(item(/Release 2.4/), key('r'), selector('dialog')) },
  { name: 'inbox-approve-many', path: '/?toolkit=x', ready: all(selectTwo, key('a'), selector('dialog')) },
  { name: 'inbox-reject-many', path: '/?toolkit=x', ready: all(selectTwo, key('r'), selector('dialog')) },
  { name: 'inbox-keys', path: '/', ready: all(selector('.inbox-row'), key('?'), selector('dialog')) },
  { name: 'inbox-filter', path: '/?toolkit=x', ready: all(button('Filter'), text('Older than 7 days')) },
  {
    name: 'inbox-remember',
    path: '/',
    ready: all(item(/Release 2.4/), key('m'), text(/would still ask|No past|would have allowed/)),
  },
  { name: 'inbox-palette', path: '/', ready: all(selector('.inbox-row'), key('Control+k'), text('Go to')) },
  { name: 'inbox-selected', path: '/?toolkit=x', ready: selectTwo },
];

const GOVERNANCE: readonly Screen[] = [
  { name: 'activity', path: '/activity', ready: selector('.call-link') },
  { name: 'activity-none', path: '/activity?agent=agent:nobody', ready: text('No matching calls') },
  {
    name: 'activity-call',
    path: '/activity?tool=x_post_tweet',
    ready: all(selector('.call-link'), link(/Status: all systems/), text('Verified here')),
  },
  {
    name: 'activity-run',
    path: '/activity?tool=runs_create',
    ready: all(
      link(/Started a run/),
      (page) => page.getByText('Technical details').click(),
      link(/^\w+-\w+-/),
      text('Export this run'),
    ),
  },
  { name: 'agents', path: '/agents', ready: text('Last decisions') },
  { name: 'agent', path: '/agents/mira', ready: text('Last decisions') },
  { name: 'servers', path: '/servers', ready: text('slack') },
  { name: 'server-changed', path: '/servers/slack', ready: selector('.server-changes ins') },
  { name: 'server-try', path: '/servers/postgres', ready: tryQuery },
  { name: 'passkeys', path: '/passkeys', ready: text('Fingerprint') },
  { name: 'passkeys-add', path: '/passkeys', ready: all(button('Add a passkey'), selector('dialog')) },
  { name: 'not-found', path: '/nowhere', ready: selector('h1') },
  { name: 'agents-create', path: '/agents', ready: createAgent },
  { name: 'agents-token', path: '/agents/night-shift', ready: text('token since') },
  {
    name: 'agents-revoke',
    path: '/agents/night-shift',
    ready: all(button('Revoke night-shift'), selector('dialog')),
  },
  { name: 'matrix', path: '/policy/permissions', ready: selector('.matrix tbody tr') },
  { name: 'rules', path: '/policy', ready: text('How calls are decided') },
  { name: 'rule', path: '/policy', ready: writeRule },
  { name: 'rule-wrong', path: '/policy', ready: wrongRule },
  { name: 'explain', path: '/policy', ready: explainCall },
  { name: 'remembered', path: '/policy/remembered', ready: selector('.remembered') },
  { name: 'settings', path: '/policy/settings', ready: text('Resets') },
];

const ROOMS: readonly Screen[] = [
  { name: 'insights', path: '/insights', ready: selector('canvas') },
  { name: 'insights-table', path: '/insights', ready: all(selector('canvas'), button('Show table')) },
  { name: 'x-discover', path: '/x', ready: selector('.card') },
  { name: 'x-reply', path: '/x', ready: all(button('Reply'), selector('dialog')) },
  { name: 'x-write', path: '/x/write', ready: text('Cold starts') },
  { name: 'x-edit', path: '/x/write', ready: all(button(/^Edit/), selector('dialog')) },
  { name: 'x-calendar', path: '/x/calendar', ready: text('Office hours') },
  { name: 'x-published', path: '/x/published', ready: text('second person for support') },
  { name: 'x-targets', path: '/x/targets', ready: text(/lena_learns/) },
  { name: 'x-figures', path: '/x/figures', ready: selector('.card') },
  { name: 'research-read', path: '/research/read/1', ready: selector('.reader-row') },
  { name: 'research-suggestions', path: '/research/suggestions', ready: text(/habit that helps/) },
  { name: 'research-codes', path: '/research/codes', ready: text('Anxiety') },
  {
    name: 'research-duplicates',
    path: '/research/codes',
    ready: all(button('Find duplicates'), text(/% alike$|No codes are that similar/)),
  },
  { name: 'research-numbers', path: '/research/numbers', ready: text(/Krippendorff/) },
  { name: 'research-history', path: '/research/history', ready: text('Undo') },
  { name: 'dev-pulls', path: '/dev/pulls', ready: selector('.diff-box') },
  { name: 'dev-pull', path: '/dev/pulls', ready: all(button(/Explain how amounts/), selector('.diff-box')) },
  { name: 'dev-issues', path: '/dev/issues', ready: text('Rounding is off') },
  { name: 'dev-runs', path: '/dev/runs', ready: text('Fix the rounding fault') },
  { name: 'dev-qa', path: '/dev/qa', ready: text(/failed/) },
  { name: 'dev-qa-output', path: '/dev/qa', ready: all(button('Show output'), text('14 tests passed')) },
  { name: 'assistant', path: '/assistant', ready: text(/three open questions/) },
];

/** Of a store with two weeks of work in it. */
export const FULL: readonly Screen[] = [...INBOX, ...GOVERNANCE, ...ROOMS];

const pointed = async (page: Page): Promise<void> => {
  await page.locator('.live-on').first().waitFor({ state: 'attached' });
  await page.request.post(new URL('/tools/navigate_to_segment', page.url()).href, {
    headers: { 'user-agent': 'research-desk/1.0.0' },
    data: { arguments: { source_id: 1, start_pos: 54, end_pos: 91 } },
  });
  await text('An agent is pointing to a passage')(page);
};

/** Only this page shows it: the other pictures are taken of a server that runs. */
const paused = async (page: Page): Promise<void> => {
  await page.route('**/api/s/*/session', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), paused: true } });
  });
  await page.reload();
  await text('New changes are refused')(page);
};

/** Of the same store with a change cut off half-way. */
export const UNSETTLED: readonly Screen[] = [
  { name: 'inbox-unsettled', path: '/', ready: text('Outcome unknown') },
  { name: 'pointed', path: '/activity', ready: pointed },
  { name: 'paused', path: '/agents', ready: paused },
];

/** Of the same store after someone edited its rows and reset its passkeys. */
export const TAMPERED: readonly Screen[] = [
  {
    name: 'inbox-tampered',
    path: '/',
    ready: all(decided(/Our competitor/), text('is not what the audit log has')),
  },
  {
    name: 'inbox-unlogged',
    path: '/?toolkit=x',
    ready: all(link(/Permanently delete/), selector('.item-missing')),
  },
  {
    name: 'inbox-damaged',
    path: '/?toolkit=x',
    ready: all(link(/Cannot be read/), selector('.item-missing')),
  },
  { name: 'inbox-damaged-list', path: '/?toolkit=x', ready: text('Cannot be read') },
  { name: 'x-damaged', path: '/x', ready: text(/cannot be read/) },
  { name: 'activity-tampered', path: '/activity', ready: text('Differs from the log') },
  {
    name: 'activity-call-tampered',
    path: '/activity?tool=x_post_tweet',
    ready: all(link(/Status: all systems/), text('Not verified')),
  },
  {
    name: 'activity-call-damaged',
    path: '/activity?tool=x_search_tweets',
    ready: all(link(/Searched posts|Search/), text('Not verified')),
  },
  {
    name: 'activity-call-unproven',
    path: '/activity?tool=x_like_tweet',
    ready: all((page) => page.locator('.call-link').last().click(), text('Not proven')),
  },
  { name: 'agent-damaged', path: '/agents/night-shift', ready: text('Cannot be read') },
  { name: 'rules-tampered', path: '/policy', ready: text('do not match the audit log') },
  {
    name: 'matrix-not-offered',
    path: '/policy/permissions',
    ready: (page) => page.getByText('Not offered to agents').first().scrollIntoViewIfNeeded(),
  },
  { name: 'passkeys-reset', path: '/passkeys', ready: text('Resets') },
];
