/**
 * Keeps the shell of the installed app (its page, scripts, styles and fonts), so that it opens and says that the server
 * is not running. Data is never kept: whatever the API, the tools or a sign-in link answer goes past this file.
 */

/** The few parts of a worker's own interface that are used here; the page's types do not have them. */
interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Waiting {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Tab {
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}
interface Clicking extends Waiting {
  readonly notification: Notification;
}
interface Scope {
  readonly clients: {
    claim(): Promise<void>;
    matchAll(filter: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly Tab[]>;
    openWindow(path: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Waiting) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: Clicking) => void): void;
}

const worker = self as unknown as Scope;
const PAGE = 'countersign-page';
const ASSETS = 'countersign-assets';
/** Addresses of programs and of signing in; anything else that is opened as a page is the app. */
const NOT_THE_APP = /^\/(api|sign-in|mcp|tools|metrics|health)(\/|$)/;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin || NOT_THE_APP.test(pathname)) return;
  if (request.mode === 'navigate') event.respondWith(openPage(request));
  else if (pathname.startsWith('/assets/')) event.respondWith(loadAsset(request));
});

/** From the server, always: the kept page is for when there is none. */
async function openPage(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    if (response.ok && response.headers.get('content-type')?.startsWith('text/html'))
      await keepPage(response.clone());
    return response;
  } catch (error) {
    const kept = await (await caches.open(PAGE)).match('/');
    if (kept) return kept;
    throw error;
  }
}

/** A page of another build needs other assets; those of the one before it are dropped. */
async function keepPage(response: Response): Promise<void> {
  const cache = await caches.open(PAGE);
  const before = await (await cache.match('/'))?.text();
  const now = await response.clone().text();
  if (before === now) return;
  if (before !== undefined) await caches.delete(ASSETS);
  await cache.put('/', response);
}

/** Names of assets change with their content, so one that is kept is right. */
async function loadAsset(request: Request): Promise<Response> {
  const cache = await caches.open(ASSETS);
  const kept = await cache.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

/** An open tab goes to the approval; without one, a new tab does. Nothing is decided here. */
worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { path } = event.notification.data as { path: string };
  const show = async (): Promise<void> => {
    const [tab] = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
    if (!tab) return void (await worker.clients.openWindow(path));
    tab.postMessage({ open: path });
    await tab.focus();
  };
  event.waitUntil(show());
});
