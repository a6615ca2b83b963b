import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeClock, startXWorld, type XWorld } from '../test/support/sandbox.ts';
import { signInByCallback, signInByPaste, wantedScopes } from './sign-in.ts';
import { exchangeAppToken, exchangeCode } from './token-endpoint.ts';
import { TokenFile } from './user-tokens.ts';

let dataDir: string;
let world: XWorld;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'x-auth-'));
  world = await startXWorld();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });
});

const options = () => ({
  app: { clientId: 'client', origin: world.sandbox.url, now: world.clock.now },
  dataDir,
  authorizeUrl: `${world.sandbox.url}/i/oauth2/authorize`,
  signal: AbortSignal.timeout(20_000),
});

describe('signing in by callback', () => {
  it('exchanges the code and keeps the tokens in a file only the owner can read', async () => {
    const { tokens, missing } = await signInByCallback({
      ...options(),
      host: '127.0.0.1',
      port: 0,
      open: (url) => void fetch(url),
    });
    expect(missing).toEqual([]);
    expect(tokens).toMatchObject({
      client_id: 'client',
      scopes: wantedScopes(),
      expires_at: '2026-02-25T14:00:00.000Z',
      authorized_at: '2026-02-25T12:00:00.000Z',
    });
    const file = new TokenFile(dataDir);
    expect(await file.read()).toEqual(tokens);
    expect((await stat(file.path)).mode & 0o777).toBe(0o600);
  });

  it('ignores redirects that do not carry its state and still takes the right one', async () => {
    const statuses: number[] = [];
    const { tokens } = await signInByCallback({
      ...options(),
      host: '127.0.0.1',
      port: 0,
      open: async (url) => {
        const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
        statuses.push((await fetch(`${back}?state=forged&code=evil`)).status);
        statuses.push((await fetch(`${back.origin}/elsewhere`)).status);
        statuses.push((await fetch(url)).status);
      },
    });
    expect(tokens.access_token).toMatch(/^sbx-user-/);
    await expect.poll(() => statuses).toEqual([400, 404, 200]);
  });

  it('shows in the browser that access was not granted when the person declined', async () => {
    let page: Promise<string> | undefined;
    const signIn = signInByCallback({
      ...options(),
      host: '127.0.0.1',
      port: 0,
      open: (url) => {
        const { searchParams } = new URL(url);
        const back = `${searchParams.get('redirect_uri')}?state=${searchParams.get('state')}&error=access_denied`;
        page = fetch(back).then((answer) => answer.text());
      },
    });
    await expect(signIn).rejects.toMatchObject({ code: 'x_forbidden' });
    expect(await page).toContain('Access was not granted.');
  });

  it('gives up when no one comes back', async () => {
    await expect(
      signInByCallback({
        ...options(),
        host: '127.0.0.1',
        port: 0,
        signal: AbortSignal.abort(),
        open: () => {},
      }),
    ).rejects.toMatchObject({ code: 'timeout' });
    expect(await new TokenFile(dataDir).read()).toBeUndefined();
  });

  it('requests fewer scopes on demand, says which tools will miss, and refuses scopes no tool uses', async () => {
    const scopes = wantedScopes().filter((scope) => !scope.startsWith('dm.'));
    const result = await signInByCallback({
      ...options(),
      scopes,
      host: '127.0.0.1',
      port: 0,
      open: (url) => void fetch(url),
    });
    expect(result.missing).toEqual(['dm.read', 'dm.write']);
    await expect(
      signInByCallback({ ...options(), scopes: ['ads.write'], host: '127.0.0.1', port: 0, open: () => {} }),
    ).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('ads.write') });
  });
});

describe('signing in by paste', () => {
  it('takes the address the browser ended on', async () => {
    const { tokens } = await signInByPaste({
      ...options(),
      redirectUri: 'http://127.0.0.1:1/callback',
      ask: async (url) => (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '',
    });
    expect(tokens.refresh_token).toMatch(/^sbx-refresh-/);
  });

  it('fails with x_auth_expired when the code is used up or not ours', async () => {
    await expect(
      signInByPaste({
        ...options(),
        redirectUri: 'http://127.0.0.1:1/callback',
        ask: async () => 'sbx-code-unknown',
      }),
    ).rejects.toMatchObject({ code: 'x_auth_expired' });
  });
});

describe('the token endpoint', () => {
  it('gets the client secret by Basic authentication where there is one, and else the client id in the form', async () => {
    const seen: { authorization: string | undefined; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.push({ authorization: request.headers.authorization, body });
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"access_token":"t","expires_in":10,"scope":"tweet.read"}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { now } = fakeClock();
    const grant = { code: 'c', verifier: 'v', redirectUri: 'http://127.0.0.1/callback' };
    await exchangeCode({ clientId: 'id', clientSecret: 's:e', origin, now }, grant);
    await exchangeCode({ clientId: 'id', origin, now }, grant);
    expect(seen[0]?.authorization).toBe(`Basic ${Buffer.from('id:s%3Ae').toString('base64')}`);
    expect(seen[0]?.body).not.toContain('client_id');
    expect(seen[1]?.authorization).toBeUndefined();
    expect(seen[1]?.body).toContain('client_id=id');
    await new Promise((resolve) => server.close(resolve));
  });

  it('gives the app its own token', async () => {
    const { consumer_key, consumer_secret, app_token } = world.sandbox.credentials;
    const app = {
      key: consumer_key ?? '',
      secret: consumer_secret ?? '',
      origin: world.sandbox.url,
      now: world.clock.now,
    };
    expect(await exchangeAppToken(app)).toBe(app_token);
    await expect(exchangeAppToken({ ...app, secret: 'wrong' })).rejects.toMatchObject({
      code: 'x_forbidden',
    });
  });
});
