import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE, INTERVIEW, LARGE, seedResearch } from '../../../../test/web/pages-seed.ts';
import {
  expectSound,
  expectUnharmed,
  lastCall,
  missingPages,
  roomActs,
  tabTo,
} from '../../../../test/web/pages-support.ts';
import { decide, launchBrowser, startWeb, type WebServer } from '../../../../test/web/support.ts';

let browser: Browser;
let server: WebServer;
let page: Page;
let folder: string;
let acts: Awaited<ReturnType<typeof roomActs>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-pages-'));
  [browser, server] = await Promise.all([launchBrowser(), startWeb({ toolkits: 'research' })]);
  const signedIn = await server.signIn(browser);
  page = signedIn.page;
  page.setDefaultTimeout(10_000);
  acts = await roomActs(server, signedIn.context);
  await page.goto(`${server.url}/insights`);
  await page.getByText('No calls in this period').waitFor();
  await expectSound(page);
  await page.goto(`${server.url}/research`);
  await page.getByText('Open a project').waitFor();
  await expectSound(page);
  await seedResearch(acts, folder);
  await acts.person('close_project', {});
  codeElsewhere(join(folder, 'study.qda', 'data.qda'));
  await page.reload();
  // By keyboard alone from the start: the project that was open before is the first thing offered.
  await tabTo(page, 'Open');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Text of interview-ada.txt' }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a colleague does in QualCoder: categories, cases, and codings of her own. */
function codeElsewhere(path: string): void {
  const file = new Database(path);
  file.exec(`
    insert into code_cat (catid, name, owner, date, memo, supercatid) values
      (1, 'Feelings', 'ben', '2026-01-01 10:00:00', '', null), (2, 'Resources', 'ben', '2026-01-01 10:00:00', '', null);
    update code_name set catid = 1 where cid in (1, 2);
    update code_name set catid = 2 where cid in (3, 4);
    insert into cases (caseid, name, memo, owner, date) values (1, 'Ada', '', 'ben', '2026-01-01 10:00:00');
    insert into case_text (caseid, fid, pos0, pos1, owner, date, memo) values (1, 1, 0, 400, 'ben', '2026-01-01', '')`);
  const words = 'I worry about money every single day';
  const { start, end } = place(words);
  file
    .prepare(
      `insert into code_text (cid, fid, seltext, pos0, pos1, owner, date, memo, important)
       values (1, 1, ?, ?, ?, 'ben', '2026-01-02 10:00:00', '', null)`,
    )
    .run(words, start, end);
  file.close();
}

/** Rows of the project file itself, as QualCoder would read them. */
function rowsOf(query: string): Record<string, unknown>[] {
  const file = new Database(join(folder, 'study.qda', 'data.qda'), { readonly: true });
  try {
    return file.prepare(query).all() as Record<string, unknown>[];
  } finally {
    file.close();
  }
}

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
    await money.nth(3).waitFor();
    expect(await money.count()).toBe(4);
    const colours = await money.evaluateAll((spans) =>
      spans.map((span) => getComputedStyle(span).borderBottomColor),
    );
    expect(new Set(colours)).toEqual(
      new Set(['rgb(238, 102, 119)', 'rgb(68, 119, 170)', 'rgb(170, 51, 119)']),
    );
    const bottoms = await money.evaluateAll((spans) =>
      spans.map((span) => Math.round(span.getBoundingClientRect().bottom)),
    );
    expect(new Set(bottoms).size).toBe(4);
    await expectSound(page);
  });

  it('puts a suggestion into the project file when it is accepted by key, and moves on to the next', async () => {
    const walk = place('I walk along the river until it is dark');
    expect(codings(4)).not.toContainEqual(walk);
    await page.keyboard.press('n');
    await page.getByRole('region', { name: 'Suggestion' }).getByText('84 % sure').waitFor();
    await decide(page, 'a');
    await page.getByText('Coded as Coping.').waitFor();
    expect(await lastCall(page, 'apply_code')).toMatchObject({ status: 'ok', transport: 'approval' });
    expect(codings(4)).toContainEqual(walk);
    await page.getByRole('region', { name: 'Suggestion' }).getByText('The children cope.').waitFor();
    await decide(page, 'r');
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
    await page.getByText('Undone.').waitFor();
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

  it('keeps only the rows in sight while a million characters are scrolled through, and none stays blank', async () => {
    await page.goto(`${server.url}/research/read/3`);
    await page.getByText(/^1,\d{3},\d{3} characters/).waitFor();
    for (const share of [0.2, 0.5, 0.8, 1]) {
      await page
        .locator('.reader-list')
        .evaluate((list, at) => list.scrollTo(0, list.scrollHeight * at), share);
      await page.waitForFunction(() => {
        const box = document.querySelector('.reader')?.getBoundingClientRect();
        const middle = box && document.elementFromPoint(box.x + 120, box.y + box.height / 2);
        return middle?.closest('.reader-row')?.textContent?.includes('the river was quiet');
      });
      expect(await page.locator('.reader-row').count()).toBeLessThan(200);
    }
    await page.locator('.reader-row', { hasText: 'Line 10000:' }).waitFor();
  });

  it('brings the reader to the front when an agent points at a passage while another tab is open', async () => {
    await page.getByRole('tab', { name: 'Codebook' }).click();
    const words = 'the neighbours share what they have';
    const start = [...INTERVIEW.slice(0, INTERVIEW.indexOf(words))].length;
    await server.call('navigate_to_segment', {
      source_id: 1,
      start_pos: start,
      end_pos: start + words.length,
    });
    const shown = page.locator('.reader [data-shown]');
    await shown.first().waitFor();
    expect((await shown.allTextContents()).join('')).toBe(words);
  });

  it('removes a coding from the page and from the file by key or pointer, and brings it back', async () => {
    const coped = place('We talk. My sister calls on Sundays');
    expect(codings(4)).toContainEqual(coped);
    // By key from coding to coding, in the order of the text.
    const inspected = page.getByRole('region', { name: 'Coding', exact: true });
    // Codings arrive after the text.
    await page.locator('.reader [data-mark]').first().waitFor();
    await page.keyboard.press('k');
    await inspected.waitFor();
    for (let step = 0; step < 10; step += 1) {
      const shown = await inspected.textContent();
      if (shown?.includes(coped.text)) break;
      await page.keyboard.press('j');
      await expect.poll(() => inspected.textContent(), { timeout: 10_000 }).not.toBe(shown);
    }
    await inspected.getByText(coped.text).waitFor();
    await decide(page, 'd');
    await page.getByText('Coding removed.').waitFor();
    expect(codings(4)).not.toContainEqual(coped);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Undone.').last().waitFor();
    expect(codings(4)).toContainEqual(coped);
    // And with the pointer, from the margin.
    const notes = page.locator('.reader-note', { hasText: 'Coping' });
    await notes.nth(1).waitFor();
    // The margin is drawn again when the project has been read again.
    const pointAtFirst = async () => {
      await notes.first().click();
      return inspected.textContent();
    };
    await expect.poll(pointAtFirst, { timeout: 10_000 }).toContain(coped.text);
    await inspected.getByRole('button', { name: 'Remove coding' }).click();
    await expect.poll(() => codings(4), { timeout: 10_000 }).not.toContainEqual(coped);
    expect(await lastCall(page, 'remove_coding')).toMatchObject({
      principal: expect.stringMatching(/^person:/),
      status: 'ok',
    });
  });

  it('takes a file as a new source', async () => {
    await page.getByText('Add a source').click();
    await page.getByLabel('Text file').setInputFiles({
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('A quiet afternoon.'),
    });
    await page.getByRole('button', { name: 'Add source' }).click();
    await page
      .getByRole('navigation', { name: 'Sources' })
      .getByRole('button', { name: /notes\.txt/ })
      .click();
    await page.locator('.reader-text', { hasText: 'A quiet afternoon.' }).waitFor();
    expect(rowsOf("select fulltext from source where name = 'notes.txt'")).toEqual([
      { fulltext: 'A quiet afternoon.' },
    ]);
  });

  it('decides on every kind of suggestion with the keys of the list', async () => {
    await page.getByRole('tab', { name: /Suggestions \(2\)/ }).click();
    await page.getByText('New code "Belonging"').waitFor();
    await expectSound(page);
    await page.keyboard.press('j');
    await decide(page, 'r');
    await page.getByText('Both name the same feeling.').waitFor({ state: 'detached' });
    await decide(page, 'a');
    await page.getByText('No pending suggestions').waitFor();
    expect(rowsOf("select color from code_name where name = 'Belonging'")).toEqual([{ color: '#66CCEE' }]);
    expect(rowsOf("select cid from code_name where name = 'Anxious'").length).toBe(1);
  });

  it('shows the codebook as a tree, and a code changed on the page changes in the file', async () => {
    await page.getByRole('tab', { name: 'Codebook' }).click();
    const tree = page.getByRole('navigation', { name: 'Codebook' });
    const resources = tree
      .getByRole('listitem')
      .filter({ has: page.locator('summary', { hasText: 'Resources' }) });
    await resources.getByRole('button', { name: /Money/ }).waitFor();
    expect(await resources.locator('button').allTextContents()).toEqual([
      expect.stringContaining('Money'),
      expect.stringContaining('Coping'),
    ]);
    await resources.getByRole('button', { name: /Money/ }).click();
    await page.getByRole('textbox', { name: 'Memo' }).fill('Wages, rent and debt.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect(rowsOf('select memo from code_name where cid = 3')).toEqual([{ memo: 'Wages, rent and debt.' }]);
    // Someone else's change arrives automatically.
    await acts.person('create_code', { name: 'Arrived in the meantime', color: '#009988' });
    await tree.getByText('Arrived in the meantime').waitFor();
    await expectSound(page);
  });

  it('shows hostile sources, codes and rationales as text', async () => {
    await page.goto(`${server.url}/research/read/2`);
    await page.locator('.reader-text', { hasText: '<script>window.__harmed = 1</script>' }).waitFor();
    expect(await page.locator('.unseen-mark').first().getAttribute('data-code')).toBe('U+202E');
    await expectSound(page);
    await page.getByRole('tab', { name: 'Suggestions' }).click();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('done');
    await page.getByText(HOSTILE.slice(0, 40)).first().waitFor();
    await expectSound(page);
  });

  it('finds duplicates, merges them, and takes the merge back', async () => {
    await page.getByRole('tab', { name: 'Codebook' }).click();
    await page.getByRole('slider').fill('30');
    await page.getByRole('button', { name: 'Find duplicates' }).click();
    const pair = page.getByRole('listitem').filter({ hasText: 'Merge into Anxious' });
    await pair.getByRole('button', { name: 'Merge into Anxiety' }).first().click();
    await page.getByText('Merged. You can undo this in History.').waitFor();
    await page
      .getByRole('navigation', { name: 'Codebook' })
      .getByText('Anxious')
      .waitFor({ state: 'detached' });
    await expectSound(page);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await page.getByText('Undone.').last().waitFor();
    await expectSound(page);
    await page
      .getByRole('region', { name: 'Changes to the project' })

      .getByRole('row', { name: /Anxious/ })
      .first()
      .waitFor();
    await page.getByRole('tab', { name: 'Agreement and tables' }).click();
    const kappa = page
      .getByRole('region', { name: 'Agreement between coders' })
      .getByRole('row', { name: /^Anxiety ben, / });
    await kappa.first().waitFor();
    const [, , measure, value, interval, observed, units] = await kappa
      .first()
      .getByRole('cell')
      .allTextContents();
    expect(measure).toBe('Cohen’s κ');
    // Both coded the same 36 characters, one of them 33 more.
    expect(Number(value)).toBeGreaterThan(0.6);
    expect(Number(value)).toBeLessThan(0.7);
    expect(interval).toMatch(/^0\.\d\d to 0\.\d\d$/);
    expect(observed).toMatch(/^9\d\.\d %$/);
    expect(Number(units)).toBe([...INTERVIEW].length);
    const byCase = page.getByRole('region', { name: 'Codes by case' }).getByRole('row', { name: /^Anxiety/ });
    expect(await byCase.getByRole('cell').allTextContents()).toEqual(['Anxiety', '2']);
    const meeting = page
      .getByRole('region', { name: 'Codes that share text' })
      .getByRole('row', { name: /Anxiety Money/ });
    await meeting.first().waitFor();
    await expectSound(page);
  });

  it('links to no missing page', { timeout: 180_000 }, async () => {
    expect(await missingPages(page, server.url, ['/research'], '/research')).toEqual([]);
  });

  it('fits a phone on every tab', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['read/1', 'suggestions', 'codes', 'numbers', 'history']) {
      await page.goto(`${server.url}/research/${path}`);
      await page
        .getByRole('tabpanel')
        .locator(':is(.reader-row, .empty, .card, .table):visible')
        .first()
        .waitFor();
      await expectUnharmed(page);
    }
  });
});
