import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reader, type Script, tool } from '../gateway/scripted.ts';
import { seriousFindings } from './axe.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"> \u202Egpj.exe';
const SCRIPTED = resolve('test/gateway/scripted-server.mjs');
const file = join(tmpdir(), `servers-page-${process.pid}.json`);
const write = (script: Script): void => writeFileSync(file, JSON.stringify(script));
const inputSchema = {
  type: 'object',
  required: ['path'],
  properties: {
    path: { type: 'string', description: 'Where to look.' },
    depth: { type: 'integer' },
    mode: { enum: ['fast', 'slow'] },
    all: { type: 'boolean' },
    filter: { type: 'object' },
  },
};
const look = (description: string) => reader('look', { description, inputSchema });

let server: WebServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  write({
    tools: [look('Looks.'), tool('act'), tool('note')],
    answers: { look: { stderr: 'a line for the log' } },
  });
  const rule = '[[mcp_policy.rules]]\nid = "ask-first"\ntools = ["s__note"]\naction = "ask"\n';
  const table = `${rule}[servers.s]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([SCRIPTED, file])}\n`;
  [browser, server] = await Promise.all([launchBrowser(), startWeb({ toolkits: 'x,s', config: table })]);
  await server.cli('servers', 'show', 's', '--refresh');
  page = (await server.signIn(browser)).page;
  page.setDefaultTimeout(30_000);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const card = (name: string) => page.getByRole('article', { name });

describe('the page Servers', () => {
  it('lists a server in quarantine and trusts its tools, each with the effect a person chose', async () => {
    await page.goto(server.url);
    await page.getByRole('link', { name: 'Servers' }).click();
    const row = page.getByRole('row', { name: /Quarantined/ });
    await row.getByRole('link', { name: 's', exact: true }).click();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText('changes and destructive calls require approval by default').waitFor();
    await card('act').getByLabel('Effect of act').selectOption('destroy');
    for (const name of ['act', 'look', 'note']) {
      await card(name)
        .getByRole('button', { name: `Trust ${name}` })
        .click();
      await card(name).getByText('Trusted', { exact: true }).waitFor();
    }
    // A rule that names it applies to its first call already.
    expect(await server.call('s__note', {})).toMatchObject({ routed_to_approval: true });
    await card('act').getByText('server claims change').waitFor();
    const shown = JSON.parse(await server.cli('servers', 'show', 's', '--json')) as {
      tools: { tool: string; effect: string; state: string }[];
    };
    expect(shown.tools.map(({ tool: name, effect, state }) => [name, effect, state])).toEqual([
      ['act', 'destroy', 'trusted'],
      ['look', 'read', 'trusted'],
      ['note', 'change', 'trusted'],
    ]);
  });

  it('calls a tool with a form made from its schema, through the pipeline, and shows its log', async () => {
    await card('look').getByRole('button', { name: 'Try look' }).click();
    const form = page.getByRole('form', { name: 'Try look' });
    await form.getByLabel('path (required)').fill('/tmp');
    await form.getByLabel('depth').fill('2');
    await form.getByLabel('mode').selectOption('slow');
    await form.getByLabel('all').selectOption('false');
    await form.getByLabel('filter').fill('{');
    await form.getByRole('button', { name: 'Run look' }).click();
    await form.getByText('This is not valid JSON.').waitFor();
    await form.getByLabel('filter').fill('{"a":1}');
    await form.getByRole('button', { name: 'Run look' }).click();
    await form.getByText('The call succeeded.').waitFor();
    const [sent] = readFileSync(`${file}.calls`, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).arguments);
    expect(sent).toEqual({ path: '/tmp', depth: 2, mode: 'slow', all: false, filter: { a: 1 } });
    const recorded = await page.evaluate(
      "fetch('/api/s/' + localStorage.getItem('countersign.place') + '/activity').then((r) => r.text())",
    );
    expect(recorded).toMatch(/"tool":"s__look"[^}]*"principal":"person:/);
    await page.getByText('a line for the log').waitFor();
    await page.getByText('Ready', { exact: true }).waitFor();
  });

  it('restarts the server before its next call', async () => {
    const starts = () => readFileSync(`${file}.starts`, 'utf8').split('\n').filter(Boolean).length;
    const before = starts();
    await page.getByRole('button', { name: 'Restart server' }).click();
    await page.getByText('s will be restarted before its next call.').waitFor();
    const form = page.getByRole('form', { name: 'Try look' });
    await expect
      .poll(
        async () => {
          await form.getByRole('button', { name: 'Run look' }).click();
          return starts();
        },
        { timeout: 60_000, interval: 1_000 },
      )
      .toBeGreaterThan(before);
  });

  it('shows a changed definition field by field, as text, and trusts it again', async () => {
    write({ tools: [look(HOSTILE), tool('act'), tool('note')] });
    await server.cli('servers', 'show', 's', '--refresh');
    await card('look').getByText('Changed', { exact: true }).waitFor();
    const diff = card('look').locator('dl');
    await diff.getByText('description', { exact: true }).waitFor();
    await diff.locator('del').getByText('Looks.').waitFor();
    await diff.locator('ins').getByText('<img src=x').waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await seriousFindings(page)).toEqual([]);
    await card('look').getByRole('button', { name: 'Trust look' }).click();
    await card('look').getByText('Trusted', { exact: true }).waitFor();
  });

  it('says what of a listing is too much to be stored', async () => {
    write({ tools: [look(HOSTILE), tool('act'), tool('long', { description: 'x'.repeat(300_000) })] });
    const out = await server.cli('servers', 'show', 's', '--refresh');
    const note = '1 of the tools that s lists is ignored';
    expect(out).toContain(`Warning: ${note}`);
    await page.getByText(note, { exact: false }).first().waitFor();
    await card('act').waitFor();
    expect(await card('long').count()).toBe(0);
  });
});
