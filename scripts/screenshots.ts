// Takes a picture of every screen, light and dark, desktop and phone: `npm run screenshots [NAME…]`.
// They go to .tmp/screenshots (or SCREENSHOTS); the one that the README shows goes to docs/images as well.
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { clientPlace } from '../src/app/client-place.ts';
import { CLIENTS } from '../src/clients/formats.ts';
import { snippetsFor } from '../src/clients/snippets.ts';
import { apiBase, launchBrowser, startWeb, type WebServer } from '../test/web/support.ts';
import { enrol } from './screenshots/passkey.ts';
import { EMPTY, FULL, type Screen, TAMPERED, UNSETTLED } from './screenshots/screens.ts';
import { cutOff, fill, makeFolder, tamper, writePast } from './screenshots/seed.ts';
import { fillServers, serverConfig } from './screenshots/servers.ts';

const FOLDER = process.env.SCREENSHOTS ?? join('.tmp', 'screenshots');
const SIZES = [
  { suffix: '', viewport: { width: 1280, height: 800 } },
  { suffix: '-phone', viewport: { width: 390, height: 844 } },
] as const;
const LOOKS = SIZES.flatMap(({ suffix, viewport }) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    options: { viewport, colorScheme },
    suffix: `${suffix}${colorScheme === 'dark' ? '-dark' : ''}`,
  })),
);
type Look = (typeof LOOKS)[number];
const PATIENCE_MS = 20_000;
/** Charts and lengths are drawn a moment after the page. */
const SETTLE_MS = 400;
const TALLEST = 2400;

const wanted = process.argv.slice(2);
const missing: string[] = [];
const isWanted = ({ name }: Screen): boolean => wanted.length === 0 || wanted.includes(name);

/** The window as high as the page, so that nothing is below its edge and what sticks to the edge sits right. */
async function showAll(page: Page): Promise<void> {
  const size = page.viewportSize();
  const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
  if (size && height > size.height)
    await page.setViewportSize({ width: size.width, height: Math.min(height, TALLEST) });
}

async function take(page: Page, url: string, screen: Screen, look: Look): Promise<void> {
  const { name, path, ready, after } = screen;
  try {
    await page.setViewportSize(look.options.viewport);
    await page.goto(`${url}${path}`);
    await page.getByRole('heading').first().waitFor();
    await ready?.(page);
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.waitForTimeout(SETTLE_MS);
    await showAll(page);
  } catch (error) {
    missing.push(`${name}${look.suffix}: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
  }
  await page.screenshot({ path: join(FOLDER, `${name}${look.suffix}.png`) });
  await after?.(page);
}

async function takeAll(browser: Browser, server: WebServer, screens: readonly Screen[]): Promise<void> {
  for (const look of LOOKS) {
    const { page, context } = await server.signIn(browser, look.options);
    page.setDefaultTimeout(PATIENCE_MS);
    // The guide names the program by its file here; pictures show it as it is called where it is installed.
    const own = { command: 'countersign', args: ['mcp', 'serve'], env: {} };
    await page.route('**/api/s/*/snippets', (route) =>
      route.fulfill({ json: snippetsFor(CLIENTS, clientPlace(), own) }),
    );
    for (const screen of screens.filter(isWanted)) await take(page, server.url, screen, look);
    await context.close();
  }
}

/** What a browser sees before anyone signs in. */
async function takeSignIn(browser: Browser, server: WebServer): Promise<void> {
  const screen = { name: 'sign-in', path: '/' };
  for (const look of LOOKS) {
    const context = await browser.newContext(look.options);
    if (isWanted(screen)) await take(await context.newPage(), server.url, screen, look);
    await context.close();
  }
}

mkdirSync(FOLDER, { recursive: true });
const folder = makeFolder();
// Without hinting letters stand where a screen of today puts them.
const browser = await launchBrowser('--font-render-hinting=none');
const empty = await startWeb();
try {
  await takeSignIn(browser, empty);
  await takeAll(browser, empty, EMPTY);
} finally {
  await empty.close();
}
const full = await startWeb({
  config: serverConfig(folder.path) + folder.config,
  toolkits: 'x,dev,research,assistant,postgres,slack',
});
try {
  const { context, page } = await full.signIn(browser);
  const base = await apiBase(context, full.url);
  await fill(full, { base, request: context.request }, folder.path, {
    named: true,
    besides: (acts) => fillServers(full, folder.path, acts),
  });
  await enrol(page, full.url);
  await context.close();
  await full.stop();
  writePast(full.home);
  await full.start();
  await takeAll(browser, full, FULL);
  await full.stop();
  cutOff(full.home);
  await full.start();
  await takeAll(browser, full, UNSETTLED);
  await full.cli('passkeys', 'reset', '--yes');
  await full.stop();
  tamper(full.home);
  await full.start();
  await takeAll(browser, full, TAMPERED);
} finally {
  await browser.close();
  await full.close();
  rmSync(folder.path, { recursive: true, force: true });
}
if (wanted.length === 0 || wanted.includes('inbox')) {
  mkdirSync(join('docs', 'images'), { recursive: true });
  copyFileSync(join(FOLDER, 'inbox.png'), join('docs', 'images', 'inbox.png'));
}
if (missing.length > 0) throw new Error(`Not as they should be:\n${missing.join('\n')}`);
