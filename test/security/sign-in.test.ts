import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../src/app/app.ts';
import { webPorts } from '../../src/app/web-ports.ts';
import { createWebApp } from '../../src/web/server.ts';
import { createSignInLink } from '../../src/web/sign-in.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const SCRAPE_TOKEN = 'for-the-monitor-alone';

describe('signing in', () => {
  let home: string;
  let app: App;
  let web: ReturnType<typeof createWebApp>;
  let clock: number;
  beforeEach(async () => {
    clock = Date.UTC(2026, 0, 1);
    home = mkdtempSync(join(tmpdir(), 'countersign-sign-in-'));
    const env = {
      COUNTERSIGN_HOME: home,
      HOME: home,
      COUNTERSIGN_LOG__LEVEL: 'silent',
      COUNTERSIGN_TELEMETRY__SCRAPE_TOKEN: SCRAPE_TOKEN,
    };
    app = await openApp({ env, now: () => new Date(clock) });
    web = createWebApp(webPorts(app));
  });
  afterEach(async () => {
    await app.close();
    rmSync(home, { recursive: true, force: true });
  });

  const link = async (): Promise<URL> =>
    new URL(await createSignInLink(app.database, app.person, 'http://localhost', app.now()));
  const follow = ({ pathname, search }: URL) => web.request(`${pathname}${search}`);
  const session = (cookie: string) => web.request('/api/session', { headers: { cookie } });
  const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? '';

  it('works with a link for ten minutes, and not after', async () => {
    const [early, late] = [await link(), await link()];
    clock += 10 * MINUTE - 1;
    expect((await follow(early)).status).toBe(303);
    clock += 2;
    const refused = await follow(late);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('set-cookie')).toBeNull();
  });

  it('does not spend a link on a look at it, or on a browser that fetches ahead', async () => {
    const { pathname, search } = await link();
    const looks: RequestInit[] = [
      { method: 'HEAD' },
      { headers: { 'sec-purpose': 'prefetch' } },
      { headers: { 'sec-purpose': 'prefetch;prerender' } },
      { headers: { purpose: 'prefetch' } },
      { headers: { 'x-moz': 'prefetch' } },
    ];
    for (const look of looks) {
      const looked = await web.request(`${pathname}${search}`, look);
      expect([looked.status, looked.headers.get('set-cookie')]).toEqual([503, null]);
    }
    expect((await web.request(`${pathname}${search}`)).status).toBe(303);
  });

  it('reads nothing of a request by someone who is not signed in', async () => {
    let read = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          read += 1;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body, duplex: 'half' };
    expect((await web.request('/api/sign-out', init as RequestInit)).status).toBe(401);
    expect(read).toBe(0);
  });

  it.each(['signs out', 'stays signed in for too long'])(
    'ends the events of a person who %s',
    async (how) => {
      const cookie = cookieOf(await follow(await link()));
      const { csrf } = (await (await session(cookie)).json()) as { csrf: string };
      const events = await web.request('/api/events', { headers: { cookie } });
      const reader = events.body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('event: hello');
      if (how === 'signs out')
        await web.request('/api/sign-out', { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } });
      else clock += 31 * DAY;
      await app.kernel.events.publish('approval', { id: 77 });
      let rest = '';
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) break;
        rest += new TextDecoder().decode(value);
      }
      expect(rest).not.toContain('77');
      expect((await web.request('/api/events', { headers: { cookie } })).status).toBe(401);
    },
  );

  it('gives the cookie to no script, and behind TLS to no plain connection', async () => {
    const plain = (await follow(await link())).headers.get('set-cookie') ?? '';
    expect(plain).toMatch(/; HttpOnly/);
    expect(plain).toMatch(/; SameSite=Strict/);
    expect(plain).not.toMatch(/; Secure/);
    const { pathname, search } = await link();
    const headers = { 'x-forwarded-proto': 'https' };
    const proxied = await web.request(`${pathname}${search}`, { headers });
    expect(proxied.headers.get('set-cookie')).toMatch(/; Secure/);
  });

  it('leads to the page that the link names, and to no other site', async () => {
    const to = async (page?: string) => {
      const made = await createSignInLink(app.database, app.person, 'http://localhost', app.now(), page);
      const url = new URL(made);
      return { url, location: (await follow(url)).headers.get('location') };
    };
    const inbox = await to('/inbox/3');
    expect(inbox.location).toMatch(/^\/inbox\/3#s=/);
    const first = await to();
    expect(first.url.searchParams.has('to')).toBe(false);
    expect(first.location).toMatch(/^\/#s=/);
    expect((await to('https://evil.example/')).location).toMatch(/^\/#s=/);
  });

  it('works with a link once', async () => {
    const one = await link();
    expect((await follow(one)).status).toBe(303);
    expect((await follow(one)).status).toBe(403);
  });

  it('needs the session that a link starts: the secret of the link itself opens nothing', async () => {
    const one = await link();
    const secret = one.searchParams.get('token') ?? '';
    const name = cookieOf(await follow(await link())).split('=')[0];
    expect((await session(`${name}=${secret}`)).status).toBe(401);
    // Neither does the secret of a session work as a link.
    const own = cookieOf(await follow(one)).split('=')[1];
    expect((await web.request(`/sign-in?token=${own}`)).status).toBe(403);
  });

  it('lasts thirty days, and not longer', async () => {
    const cookie = cookieOf(await follow(await link()));
    clock += 30 * DAY - 1;
    expect((await session(cookie)).status).toBe(200);
    clock += 1;
    expect((await session(cookie)).status).toBe(401);
  });

  it('ends when the person signs out', async () => {
    const cookie = cookieOf(await follow(await link()));
    const { csrf } = (await (await session(cookie)).json()) as { csrf: string };
    const out = await web.request('/api/sign-out', {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrf },
    });
    expect(out.status).toBe(200);
    expect(await out.json()).toEqual({ signed_out: true });
    const after = await session(cookie);
    expect(after.status).toBe(401);
    expect(await after.json()).toMatchObject({ code: 'signed_out' });
  });

  it('takes the cookie away from the path it was given for', async () => {
    const answer = await follow(await link());
    const cookie = cookieOf(answer);
    const path = /path=([^;]+)/i.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
    const { csrf } = (await (await session(cookie)).json()) as { csrf: string };
    const headers = { cookie, 'x-csrf-token': csrf };
    const out = await web.request(`${path}/sign-out`, { method: 'POST', headers });
    expect(out.headers.get('set-cookie')).toMatch(new RegExp(`Max-Age=0; Path=${path}$`));
  });

  it('lets a change through only with the token of the same session', async () => {
    const [mine, other] = [cookieOf(await follow(await link())), cookieOf(await follow(await link()))];
    const read = await session(mine);
    const { csrf, person } = (await read.json()) as { csrf: string; person: string };
    expect(person).toBe(app.person.id);
    const foreign = ((await (await session(other)).json()) as { csrf: string }).csrf;
    const signOut = (token: Record<string, string>) =>
      web.request('/api/sign-out', { method: 'POST', headers: { cookie: mine, ...token } });
    for (const wrong of [
      {},
      { 'x-csrf-token': '' },
      { 'x-csrf-token': foreign },
      { 'x-csrf-token': `${csrf}x` },
    ] as Record<string, string>[]) {
      const refused = await signOut(wrong);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ code: 'csrf' });
    }
    expect((await session(mine)).status).toBe(200);
    expect((await signOut({ 'x-csrf-token': csrf })).status).toBe(200);
  });

  it('lets a monitor with its token or a signed-in person read the metrics, and no one else', async () => {
    const cookie = cookieOf(await follow(await link()));
    const metrics = (headers: Record<string, string>) => web.request('/metrics', { headers });
    const refused = await metrics({});
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect((await metrics({ authorization: `Bearer ${SCRAPE_TOKEN}` })).status).toBe(200);
    for (const shown of [
      'Bearer wrong',
      `Bearer ${SCRAPE_TOKEN}x`,
      `Bearer ${SCRAPE_TOKEN} x`,
      `No Bearer ${SCRAPE_TOKEN}`,
      SCRAPE_TOKEN,
      `Basic ${SCRAPE_TOKEN}`,
    ])
      expect((await metrics({ authorization: shown })).status).toBe(401);
    expect((await metrics({ cookie: `${cookie}x` })).status).toBe(401);
    expect((await metrics({ cookie })).status).toBe(200);
  });

  it('has no token for a monitor where none is configured', async () => {
    const without = createWebApp({ ...webPorts(app), scrapeToken: undefined });
    for (const authorization of ['Bearer undefined', `Bearer ${SCRAPE_TOKEN}`])
      expect((await without.request('/metrics', { headers: { authorization } })).status).toBe(401);
  });
});
