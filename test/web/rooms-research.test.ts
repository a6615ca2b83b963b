import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './axe.ts';
import { HOSTILE, INTERVIEW, LARGE, seedResearch } from './rooms-seed.ts';
import { expectUnharmed, roomActs } from './rooms-support.ts';
import { launchBrowser, startWeb, type WebServer } from './support.ts';

let browser: Browser;
let server: WebServer;
let page: Page;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-rooms-'));
  [browser, server] = await Promise.all([launchBrowser(), startWeb({ toolkits: 'research' })]);
  const signedIn = await server.signIn(browser);
  page = signedIn.page;
  await page.goto(`${server.url}/research`);
  await page.getByText('Open a project').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await seedResearch(await roomActs(server, signedIn.context), folder);
  await page.reload();
  await page.getByRole('region', { name: 'Text of interview-ada.txt' }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The codings of the project file itself, as QualCoder would read them. */
function codings(codeId: number): { text: string; start: number; end: number }[] {
  const file = new Database(join(folder, 'study.qda', 'data.qda'), { readonly: true });
  try {
    return file
      .prepare('select seltext as text, pos0 as start, pos1 as end from code_text where cid = ? and fid = 1')
      .all(codeId) as { text: string; start: number; end: number }[];
  } finally {
    file.close();
  }
}

/** Project files count as Qt does, in UTF-16 units, so the emoji before all of this counts twice. */
const place = (words: string) => {
  const start = INTERVIEW.indexOf(words);
  return { text: words, start, end: start + words.length };
};

describe('the research room', { timeout: 30_000 }, () => {
  it('shows codings that overlap as stacked lines, each in the colour of its code', async () => {
    const money = page.locator('.reader [data-mark]', { hasText: /^money$/ });
    await money.nth(2).waitFor();
    expect(await money.count()).toBe(3);
    const bottoms = await money.evaluateAll((spans) =>
      spans.map((span) => Math.round(span.getBoundingClientRect().bottom)),
    );
    expect(new Set(bottoms).size).toBe(3);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('puts a suggestion into the project file when it is accepted by key, and moves on to the next', async () => {
    const walk = place('I walk along the river until it is dark');
    expect(codings(4)).not.toContainEqual(walk);
    await page.keyboard.press('n');
    await page.getByRole('region', { name: 'Suggestion' }).getByText('84 % sure').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Coded as Coping.').waitFor();
    expect(codings(4)).toContainEqual(walk);
    await page.getByRole('region', { name: 'Suggestion' }).getByText('The children cope.').waitFor();
    await page.keyboard.press('r');
    await page.getByText('Suggestion rejected.').waitFor();
    expect(codings(4)).not.toContainEqual(place('They found friends faster than we did.'));
    await page.waitForFunction(() => document.querySelectorAll('.reader .lined.suggestion').length === 0);
  });

  it('codes what is selected with the mouse, in code points although an emoji stands before it', async () => {
    const words = 'the neighbours share what they have';
    await page.evaluate((sought) => {
      const spans = [...document.querySelectorAll('.reader-text span')];
      const node = spans
        .map((span) => span.firstChild)
        .find((child) => child instanceof Text && child.data.includes(sought));
      if (!(node instanceof Text)) throw new Error('The words are not on the page.');
      const range = document.createRange();
      range.setStart(node, node.data.indexOf(sought));
      range.setEnd(node, node.data.indexOf(sought) + sought.length);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      document
        .querySelector('.reader')
        ?.dispatchEvent(new PointerEvent('pointerup', { bubbles: true, pointerType: 'mouse' }));
    }, words);
    await page.getByRole('button', { name: 'Code this passage' }).click();
    await page.getByRole('textbox', { name: 'Find or name a code' }).fill('Neighbours');
    await page.keyboard.press('Enter');
    await page.getByText('Coded.', { exact: true }).waitFor();
    expect(codings(6)).toEqual([place(words)]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Taken back.').waitFor();
    expect(codings(6)).toEqual([]);
  });

  it('codes a paragraph by keyboard alone', async () => {
    await page.locator('.reader').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    for (let words = 0; words < 3; words += 1) await page.keyboard.press('Shift+ArrowLeft');
    const passage = await page.locator('.picked-passage').allTextContents();
    await page.keyboard.press('c');
    await page.getByRole('textbox', { name: 'Find or name a code' }).fill('money');
    await page.keyboard.press('Enter');
    await page.getByText('Coded.', { exact: true }).last().waitFor();
    expect(codings(3)).toContainEqual(place(passage.join('')));
    expect(passage.join('').length).toBeGreaterThan(20);
  });

  it('scrolls a document of a million characters to the passage that an agent points at', async () => {
    const client = await server.agent();
    const words = 'Line 8765: the river was quiet';
    const start = [...LARGE.slice(0, LARGE.indexOf(words))].length;
    const answer = await client.callTool({
      name: 'navigate_to_segment',
      arguments: { source_id: 3, start_pos: start, end_pos: start + words.length },
    });
    expect(JSON.stringify(answer.structuredContent)).toContain('"shown":true');
    const shown = page.locator('.reader [data-shown]');
    await shown.waitFor();
    expect(await shown.textContent()).toBe(words);
    await page.waitForFunction(() => {
      const mark = document.querySelector('.reader [data-shown]')?.getBoundingClientRect();
      const reader = document.querySelector('.reader')?.getBoundingClientRect();
      return mark && reader && mark.top >= reader.top && mark.bottom <= reader.bottom;
    });
    // Only what can be seen is on the page.
    expect(await page.locator('.reader-row').count()).toBeLessThan(200);
  });

  it('shows hostile sources, codes and rationales as text', async () => {
    await page.goto(`${server.url}/research/read/2`);
    await page.locator('.reader-text', { hasText: '<script>window.__harmed = 1</script>' }).waitFor();
    expect(await page.locator('.unseen-mark').first().getAttribute('data-code')).toBe('U+202E');
    await expectUnharmed(page);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Suggestions' }).click();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('done');
    await page.getByText(HOSTILE.slice(0, 40)).first().waitFor();
    await expectUnharmed(page);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('finds duplicates, merges them, and takes the merge back', async () => {
    await page.getByRole('tab', { name: 'Codebook' }).click();
    await page.getByRole('slider').fill('30');
    await page.getByRole('button', { name: 'Look for duplicates' }).click();
    const pair = page.getByRole('listitem').filter({ hasText: 'Merge into Anxious' });
    await pair.getByRole('button', { name: 'Merge into Anxiety' }).first().click();
    await page.getByText('Merged. History can take it back.').waitFor();
    await page
      .getByRole('navigation', { name: 'Codebook' })
      .getByText('Anxious')
      .waitFor({ state: 'detached' });
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await page.getByText('Taken back.').last().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Agreement and tables' }).click();
    const meeting = page
      .getByRole('region', { name: 'Codes that meet' })
      .getByRole('row', { name: /Anxiety Money/ });
    await meeting.first().waitFor();
    await expectUnharmed(page);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
