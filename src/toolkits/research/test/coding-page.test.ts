import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedResearch } from '../../../../test/web/pages-seed.ts';
import { expectSound, lastCall, roomActs } from '../../../../test/web/pages-support.ts';
import { decide, launchBrowser, startWeb, type WebServer } from '../../../../test/web/support.ts';

let browser: Browser;
let server: WebServer;
let page: Page;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-coding-'));
  [browser, server] = await Promise.all([launchBrowser(), startWeb({ toolkits: 'research' })]);
  const signedIn = await server.signIn(browser);
  page = signedIn.page;
  page.setDefaultTimeout(10_000);
  await seedResearch(await roomActs(server, signedIn.context), folder);
  await page.goto(`${server.url}/research`);
  await page.getByRole('region', { name: 'Text of interview-ada.txt' }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The project file itself, as QualCoder would read it. */
function rows(query: string): Record<string, unknown>[] {
  const file = new Database(join(folder, 'study.qda', 'data.qda'), { readonly: true });
  try {
    return file.prepare(query).all() as Record<string, unknown>[];
  } finally {
    file.close();
  }
}

const coding = () => page.getByRole('region', { name: 'Coding' });
const codebook = () => page.getByRole('region', { name: 'Codebook' });

async function selectWords(words: string): Promise<void> {
  await page.evaluate((sought) => {
    const walker = document.createTreeWalker(document.querySelector('.reader') ?? document.body, 4);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.textContent?.indexOf(sought) ?? -1;
      if (at === -1) continue;
      getSelection()?.setBaseAndExtent(node, at, node, at + sought.length);
      node.parentElement?.dispatchEvent(
        new PointerEvent('pointerup', { bubbles: true, pointerType: 'mouse' }),
      );
      return;
    }
    throw new Error(`“${sought}” is not on the page`);
  }, words);
}

describe('coding on the research page', { timeout: 30_000 }, () => {
  it('shows the codebook next to the text, with numbers, and finds codes', async () => {
    await codebook().getByRole('button').first().waitFor();
    const all = await codebook().getByRole('button').count();
    expect(all).toBe(rows('select * from code_name').length);
    const [first] = rows('select name from code_name order by cid');
    await codebook().getByRole('searchbox').fill(String(first?.name));
    expect(await codebook().getByRole('button').count()).toBeLessThan(all);
    await codebook().getByRole('searchbox').fill('');
    await expectSound(page);
  });

  it('shows a coded passage when it is clicked, and the next one below it', async () => {
    await page
      .locator('.reader [data-mark^="coding-"]', { hasText: /^money$/ })
      .first()
      .click();
    await coding().waitFor();
    const one = await coding().getByRole('heading').innerText();
    await page
      .locator('.reader [data-mark^="coding-"]', { hasText: /^money$/ })
      .first()
      .click();
    await expect.poll(() => coding().getByRole('heading').innerText()).not.toBe(one);
  });

  it('changes memo, importance and code of the passage in place, through the pipeline', async () => {
    await coding().getByLabel('Memo').fill('money again');
    await coding().getByLabel('Important').check();
    await coding().getByRole('button', { name: 'Save' }).click();
    await page.getByText('Coding changed.').waitFor();
    expect(rows("select important from code_text where memo = 'money again'")).toEqual([{ important: 1 }]);
    expect(await lastCall(page, 'update_coding')).toMatchObject({ status: 'ok' });
    const [other] = rows(
      'select name from code_name where cid not in (select cid from code_text where fid = 1) order by cid limit 1',
    );
    const name = String(other?.name ?? rows('select name from code_name where cid = 2')[0]?.name);
    await coding().getByLabel('Code', { exact: true }).selectOption({ label: name });
    await coding().getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => coding().getByRole('heading').innerText()).toBe(name);
    expect(
      rows("select name from code_text join code_name using (cid) where code_text.memo = 'money again'"),
    ).toEqual([{ name }]);
    await expectSound(page);
  });

  it('codes a selected passage with a memo by choosing a code in the codebook', async () => {
    await page.keyboard.press('Escape');
    await selectWords('the neighbours share what they have');
    await page.getByRole('region', { name: 'Passage' }).getByLabel('Memo').fill('solidarity');
    await codebook().getByRole('button').first().click();
    await page.getByText('Coded.').waitFor();
    expect(rows("select seltext from code_text where memo = 'solidarity'")).toEqual([
      { seltext: 'the neighbours share what they have' },
    ]);
    expect(await lastCall(page, 'batch_apply_codes')).toMatchObject({ status: 'ok' });
  });

  it('goes through the passages of a code when no text is selected', async () => {
    await page.keyboard.press('Escape');
    const used = codebook()
      .getByRole('button', { name: /[1-9]\d*$/ })
      .first();
    await used.click();
    await coding().waitFor();
  });

  it('opens a suggestion in the text by click and rejects it by key', async () => {
    const before = await page.locator('.reader .lined.suggestion').count();
    expect(before).toBeGreaterThan(0);
    await page.locator('.reader .lined.suggestion').first().click();
    await page.getByRole('region', { name: 'Suggestion' }).waitFor();
    await decide(page, 'r');
    await page.getByText('Suggestion rejected.').waitFor();
    await expect.poll(() => page.locator('.reader .lined.suggestion').count()).toBeLessThan(before);
  });
});
