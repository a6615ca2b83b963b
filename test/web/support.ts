import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/chromium.mjs';

const run = promisify(execFile);
const MAIN = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The real Chromium that all pages are tried in. */
export const launchBrowser = (...more: readonly string[]): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium() ?? 'chromium', args: [...ARGS, ...more] });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}

export interface WebServer {
  readonly url: string;
  readonly home: string;
  /** Runs the command line on the same data, as a person in a terminal would. */
  cli(...args: string[]): Promise<string>;
  /** A fresh sign-in link, to a page if one is named. */
  link(page?: string): Promise<string>;
  /** Opens a signed-in page in a browser context of its own. */
  signIn(browser: Browser, options?: Parameters<Browser['newContext']>[0]): Promise<SignedIn>;
  /** An MCP client over HTTP, as an agent uses it. */
  agent(name?: string): Promise<Client>;
  /** One call by an agent without MCP, over the documented REST endpoint. */
  call(tool: string, args: object): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and removes its data. */
  close(): Promise<void>;
}

export interface SignedIn {
  readonly page: Page;
  readonly context: BrowserContext;
}

interface Options {
  readonly toolkits?: string;
  /** Text of the configuration file. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where the server starts; a clone there is a repository of the dev toolkit. */
  readonly cwd?: string;
}

/** The loops rest, whatever the time of day: what they would find is not what a test put there. */
function restingHours(): Record<string, string> {
  const start = (new Date().getUTCHours() + 12) % 24;
  return {
    COUNTERSIGN_SCHEDULE__ACTIVE_HOURS_START: String(start),
    COUNTERSIGN_SCHEDULE__ACTIVE_HOURS_END: String((start + 1) % 24),
  };
}

/** The built product as a process of its own, with its own data and port. */
export async function startWeb({
  toolkits = 'x,dev,research,assistant',
  config,
  env,
  cwd,
}: Options = {}): Promise<WebServer> {
  const home = mkdtempSync(join(tmpdir(), 'countersign-web-'));
  if (config) writeFileSync(join(home, 'config.toml'), config);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment = {
    ...process.env,
    COUNTERSIGN_HOME: home,
    COUNTERSIGN_SERVER__PORT: String(port),
    ...restingHours(),
    ...env,
  };
  const agents: Client[] = [];
  let child: ChildProcess | undefined;

  const cli = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [MAIN, ...args], { env: environment })).stdout;
  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, [MAIN, 'up', '--toolkits', toolkits], {
      env: environment,
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    let told = '';
    await new Promise<void>((ready, fail) => {
      started.stderr?.on('data', (chunk: Buffer) => {
        told += chunk.toString();
        if (told.includes('Countersign is running')) ready();
      });
      started.once('exit', (code) => fail(new Error(`The server ended with ${code}: ${told}`)));
    });
  };
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((done) => running.once('exit', done));
    running.kill('SIGTERM');
    await ended;
  };
  const link = async (to?: string): Promise<string> => {
    const args = ['open', ...(to === undefined ? [] : [to]), '--no-browser'];
    const { url: address } = JSON.parse(await cli('--json', ...args)) as { url: string };
    return address;
  };
  await start();
  return {
    url,
    home,
    cli,
    link,
    start,
    stop,
    async signIn(browser, options) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      await page.goto(await link());
      await page.locator('#main').waitFor();
      return { page, context };
    },
    async agent(name = 'test-agent') {
      const client = new Client({ name, version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      agents.push(client);
      return client;
    },
    async call(tool, args) {
      const response = await fetch(`${url}/tools/${tool}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ arguments: args }),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    async close() {
      await Promise.allSettled(agents.map((agent) => agent.close()));
      await stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Presses a key that decides once the page takes it: not right after another key, nor after what is shown has changed. */
export async function decide(page: Page, key: string): Promise<void> {
  await page.waitForTimeout(500);
  if ((await page.locator('.inbox-page').count()) > 0)
    await page.locator('.item-actions > .button:first-child:not([aria-disabled])').waitFor();
  await page.keyboard.press(key);
}

/** Where this browser's session reaches the API: its cookie goes to no other path. */
export async function apiBase(context: BrowserContext, url: string): Promise<string> {
  const cookie = (await context.cookies()).find(({ name }) => name === 'countersign_session');
  if (!cookie) throw new Error('No one is signed in.');
  return url + cookie.path;
}
