import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Ran, type Terminal } from '../../../../test/cli/support.ts';
import { openStorage } from '../../../app/open-storage.ts';
import { commandHost } from '../../../cli/command-host.ts';
import { createLeases } from '../../../kernel/store/database.ts';
import { authX, type SignInFlags } from '../cli/sign-in.ts';
import { startXWorld, type XWorld } from './support/sandbox.ts';

let world: XWorld;
let terminal: Terminal;
beforeEach(async () => {
  world = await startXWorld();
  terminal = openTerminal(`[x_api]\nclient_id = "client"\napi_base_url = "${world.sandbox.url}"\n`);
});
afterEach(async () => {
  terminal.close();
  await world[Symbol.asyncDispose]();
});

const tokenFile = (): string => join(terminal.home, 'x-tokens.json');

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

const signIn = (flags: SignInFlags, json = false): Promise<Ran> =>
  terminal.watch(() =>
    authX(commandHost('x', { json }), flags, {
      authorizeUrl: `${world.sandbox.url}/i/oauth2/authorize`,
      open: (url) => void fetch(url),
      ask: async (question) => {
        const url = /https?:\/\/\S+/.exec(question)?.[0] ?? '';
        return (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
      },
    }),
  );

describe('countersign auth x', () => {
  it('signs in when the browser comes back, names the account and keeps the tokens private', async () => {
    const { code, out } = await signIn({ port: await freePort() });
    expect(code).toBe(0);
    expect(out).toMatch(/Signed in to X as @\w+\./);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(tokenFile(), 'utf8'))).toMatchObject({
      client_id: 'client',
      user: { username: expect.any(String) },
    });
    const status = await terminal.run('auth', 'x', 'status');
    expect(status.out).toMatch(/Provider +x_api/);
    expect(status.out).toMatch(/Missing scopes +none/);
  });

  it('signs in by paste, with fewer scopes, and says which are missing', async () => {
    const answer = await signIn({ paste: true, scopes: 'tweet.read, users.read offline.access' }, true);
    expect(JSON.parse(answer.out)).toMatchObject({
      signed_in: true,
      scopes: ['tweet.read', 'users.read', 'offline.access'],
      missing_scopes: expect.arrayContaining(['tweet.write', 'dm.read']),
    });
    expect((await terminal.run('x', 'status')).out).toMatch(/Missing scopes .*tweet\.write/);
  });

  it('refuses a scope that no tool uses and signs no one in', async () => {
    await expect(signIn({ paste: true, scopes: 'ads.write' })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('ads.write'),
    });
    expect(existsSync(tokenFile())).toBe(false);
  });

  it('says in its own words why a pasted address was no use, without hints meant for tools', async () => {
    const pasted = (text: string) =>
      terminal.watch(() => authX(commandHost('x', {}), { paste: true }, { ask: async () => text }));
    await expect(pasted('what now?')).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/state differs.*start again\.$/),
    });
    await expect(pasted('')).rejects.toMatchObject({
      exitCode: 1,
      message: 'Paste the whole address your browser was sent to, or the code in it.',
    });
  });

  it('shows why X refused the code, in the words of X', async () => {
    const used = terminal.watch(() =>
      authX(
        commandHost('x', {}),
        { paste: true },
        {
          authorizeUrl: `${world.sandbox.url}/i/oauth2/authorize`,
          async ask(question) {
            const url = /https?:\/\/\S+/.exec(question)?.[0] ?? '';
            const location = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
            return location.replace(/code=[^&]+/, 'code=another');
          },
        },
      ),
    );
    await expect(used).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('X did not accept the sign-in: "'),
    });
    await expect(used).rejects.toThrow(/authorization code/i);
    expect(existsSync(tokenFile())).toBe(false);
  });

  it('sends the person to the configured authorize address', async () => {
    const authorize = `${world.sandbox.url}/i/oauth2/authorize`;
    terminal.configure(
      `[x_api]\nclient_id = "client"\napi_base_url = "${world.sandbox.url}"\nauthorize_url = "${authorize}"\n`,
    );
    let asked = '';
    const { code } = await terminal.watch(() =>
      authX(
        commandHost('x', {}),
        { paste: true },
        {
          async ask(question) {
            asked = /https?:\/\/\S+/.exec(question)?.[0] ?? '';
            return (await fetch(asked, { redirect: 'manual' })).headers.get('location') ?? '';
          },
        },
      ),
    );
    expect(code).toBe(0);
    expect(asked.startsWith(`${authorize}?`)).toBe(true);
    expect(existsSync(tokenFile())).toBe(true);
  });

  it("names an address in status that is not X's own, and only then", async () => {
    expect((await terminal.run('x', 'status')).out).toContain(
      `API address    ${world.sandbox.url} (not X's own)`,
    );
    terminal.configure(
      '[x_api]\nprovider_backend = "sandbox"\napi_base_url = "https://api.x.com/"\nads_base_url = "https://ads.example.com"\n',
    );
    const { out } = await terminal.run('x', 'status');
    expect(out).not.toContain('API address');
    expect(out).toContain("Ads address    https://ads.example.com (not X's own)");
  });

  it('is found under `countersign x` too', async () => {
    expect((await terminal.run('x', 'auth', 'status')).out).toBe((await terminal.run('x', 'status')).out);
  });

  it('says what to create and where to put it when there is no client id', async () => {
    terminal.configure('');
    const { code, err } = await terminal.run('auth', 'x', '--no-browser');
    expect(code).toBe(1);
    expect(err).toContain('client_id = ');
    expect(err).toContain('http://127.0.0.1:8080/callback');
    expect((await terminal.run('auth', 'x', '--port', '0')).code).toBe(2);
  });

  it('forgets the tokens on sign-out, says what is used from then on, and has nothing to forget twice', async () => {
    await signIn({ paste: true });
    const { code, out } = await terminal.run('auth', 'x', 'sign-out');
    expect(code).toBe(0);
    expect(out).toContain('local sandbox is now in use');
    expect(existsSync(tokenFile())).toBe(false);
    expect((await terminal.run('auth', 'x', 'sign-out')).code).toBe(1);
  });

  it('revokes both tokens at X, which then takes neither, and forgets them', async () => {
    await signIn({ paste: true });
    const { access_token, refresh_token } = JSON.parse(readFileSync(tokenFile(), 'utf8')) as Record<
      string,
      string
    >;
    const { code, out } = await terminal.run('x', 'revoke');
    expect(code).toBe(0);
    expect(out).toContain('Revoked. X no longer accepts the tokens');
    expect(out).toContain('local sandbox is now in use');
    expect(existsSync(tokenFile())).toBe(false);
    const me = await fetch(`${world.sandbox.url}/2/users/me`, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(me.status).toBe(401);
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refresh_token ?? '' });
    expect((await fetch(`${world.sandbox.url}/2/oauth2/token`, { method: 'POST', body })).status).toBe(400);
    const again = await terminal.run('x', 'revoke');
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('Not signed in to X.') });
  });

  it('keeps every server from refreshing while it revokes', async () => {
    await signIn({ paste: true });
    const held: boolean[] = [];
    const x = createServer(async (_request, response) => {
      const store = await openStorage({ url: join(terminal.home, 'countersign.db') });
      const leases = createLeases(store, () => new Date());
      held.push(!(await leases.acquire('x-token-refresh', 1000)));
      await store.close();
      response.setHeader('content-type', 'application/json').end('{"revoked":true}');
    });
    await new Promise<void>((resolve) => x.listen(0, '127.0.0.1', resolve));
    const { port } = x.address() as AddressInfo;
    terminal.configure(`[x_api]\nclient_id = "client"\napi_base_url = "http://127.0.0.1:${port}"\n`);
    expect((await terminal.run('x', 'revoke')).code).toBe(0);
    await new Promise((resolve) => x.close(resolve));
    expect(held).toEqual([true, true]);
    expect(existsSync(tokenFile())).toBe(false);
  });

  it('keeps the tokens when X cannot be reached, and says what else to do', async () => {
    await signIn({ paste: true });
    await world.sandbox.close();
    const { code, err } = await terminal.run('x', 'revoke');
    expect(code).toBe(1);
    expect(err).toContain('They are still stored here');
    expect(err).toContain('countersign auth x sign-out');
    expect(existsSync(tokenFile())).toBe(true);
  });
});
