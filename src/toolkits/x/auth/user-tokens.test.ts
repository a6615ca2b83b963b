import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../../../../test/support/child.ts';
import { openTestStore } from '../../../../test/support/engines.ts';
import { createLeases } from '../../../kernel/store/database.ts';
import type { XApi, XApiSettings } from '../client/api.ts';
import { connectX, pickBackend } from '../client/connect.ts';
import type { XClientTables } from '../client/store.ts';
import { freeLeases, silentLog, startXWorld, type XWorld } from '../test/support/sandbox.ts';
import { wantedScopes } from './sign-in.ts';
import { TokenFile, type Tokens, UserTokens, whileNobodyRefreshes } from './user-tokens.ts';

let dataDir: string;
let world: XWorld;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'x-tokens-'));
  world = await startXWorld();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });
});

/** Signs in: a token pair of the sandbox in the token file. */
async function signIn(expiresIn: number, scopes: readonly string[] = wantedScopes()): Promise<Tokens> {
  const grant = await world.sandbox.control('token', { scopes: [...scopes], expires_in: expiresIn });
  const tokens: Tokens = {
    access_token: String(grant.access_token),
    ...(grant.refresh_token ? { refresh_token: String(grant.refresh_token) } : {}),
    expires_at: new Date(world.clock.now().getTime() + expiresIn * 1000).toISOString(),
    scopes: [...scopes],
    client_id: 'client',
    authorized_at: world.clock.now().toISOString(),
  };
  await new TokenFile(dataDir).write(tokens);
  return tokens;
}

const onX = (settings: XApiSettings = {}): Promise<XApi> =>
  connectX({
    settings: { api_base_url: world.sandbox.url, ...settings },
    dataDir,
    db: world.store.db as unknown as Kysely<XClientTables>,
    leases: freeLeases,
    log: silentLog,
    now: world.clock.now,
    sleep: async () => {},
    random: () => 0,
  });

const refreshes = async () => {
  const { items } = await world.sandbox.control('look', { collection: 'tokens' });
  return (items as { used: boolean }[]).filter(({ used }) => used).length;
};

describe('the backend', () => {
  it('is the sandbox until someone signs in, then X, and what the configuration says before either', async () => {
    expect(await pickBackend({ settings: {}, dataDir })).toBe('sandbox');
    await signIn(7200);
    expect(await pickBackend({ settings: {}, dataDir })).toBe('x_api');
    expect(await pickBackend({ settings: { provider_backend: 'scraper' }, dataDir })).toBe('scraper');
  });

  it('is never the sandbox when X was requested and no one is signed in', async () => {
    const api = await onX({ provider_backend: 'x_api' });
    expect(api.provider.backend).toBe('x_api');
    await expect(api.me()).rejects.toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining('countersign auth x'),
    });
    await expect(api.request('x_v2_usage_tweets', {})).rejects.toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining('bearer_token'),
    });
    await expect(api.request('x_ads_accounts', {})).rejects.toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining('consumer_key'),
    });
  });
});

describe('a signed-in account', () => {
  it('uses its token while it is good', async () => {
    await signIn(7200);
    expect(await (await onX()).me()).toMatchObject({ username: 'adamarsh_dev' });
    expect(await refreshes()).toBe(0);
  });

  it('refreshes while serving, minutes before the token runs out, and keeps the sign-in', async () => {
    const first = await signIn(7200);
    const api = await onX();
    await api.me();
    world.clock.advance(7_000_000);
    await api.request('tweet_by_id', { tweet_id: '1234567890' });
    const now = await new TokenFile(dataDir).read();
    expect(now?.access_token).not.toBe(first.access_token);
    expect(now).toMatchObject({
      authorized_at: first.authorized_at,
      scopes: first.scopes,
      client_id: 'client',
    });
    expect(await refreshes()).toBe(1);
  });

  it('refreshes once for any number of calls at the same time', async () => {
    await signIn(60);
    const api = await onX();
    await Promise.all(
      Array.from({ length: 12 }, () => api.request('tweet_by_id', { tweet_id: '1234567890' })),
    );
    expect(await refreshes()).toBe(1);
  });

  it('gets a new token and continues when X refuses the old one before its time', async () => {
    const tokens = await signIn(7200);
    await new TokenFile(dataDir).write({ ...tokens, access_token: 'revoked' });
    const api = await onX();
    expect((await api.request('create_tweet', { text: 'after a 401' })).status).toBe(201);
    expect(await refreshes()).toBe(1);
  });

  it('is x_auth_expired when the refresh token no longer works', async () => {
    const tokens = await signIn(60);
    await new TokenFile(dataDir).write({ ...tokens, refresh_token: 'used-up' });
    await expect((await onX()).me()).rejects.toMatchObject({ code: 'x_auth_expired', retryable: false });
  });

  it('is x_auth_expired when the token ran out and cannot be renewed', async () => {
    await signIn(60, ['tweet.read', 'users.read']);
    const api = await onX();
    await api.me();
    world.clock.advance(61_000);
    await expect(api.me()).rejects.toMatchObject({ code: 'x_auth_expired' });
  });

  it('is refused with the missing scope before anything is sent', async () => {
    await signIn(7200, ['tweet.read', 'users.read', 'offline.access']);
    await expect((await onX()).request('create_tweet', { text: 'x' })).rejects.toMatchObject({
      code: 'x_forbidden',
      message: expect.stringContaining('tweet.write'),
      detail: { missing_scopes: ['tweet.write'] },
    });
  });

  it('uses the app-only token where X takes nothing else, and the signature for the Ads API', async () => {
    await signIn(7200);
    const { app_token, consumer_key, consumer_secret, access_token, access_token_secret } =
      world.sandbox.credentials;
    const withBearer = await onX({ bearer_token: app_token });
    expect((await withBearer.request('x_v2_stream_rules_list', {})).status).toBe(200);
    const withKeys = await onX({ consumer_key, consumer_secret, access_token, access_token_secret });
    expect((await withKeys.request('x_v2_usage_tweets', {})).status).toBe(200);
    expect(await withKeys.access()).toMatchObject({
      tier: 'Basic',
      can_use_ads: true,
      can_use_app_only: true,
      missing_scopes: [],
    });
  });

  it('stays away from an endpoint until the limit lifts', async () => {
    await signIn(7200);
    const api = await onX();
    await world.sandbox.control('fault', { kind: 'rate_limited', endpoint: 'followers', reset_in: 100 });
    const ask = () => api.request('followers', { user_id: '2001000001' });
    await expect(ask()).rejects.toMatchObject({ code: 'x_rate_limited' });
    await expect(ask()).rejects.toMatchObject({ code: 'x_rate_limited' });
    const [row] = (await api.usage(new Date(0))).filter(({ endpoint }) => endpoint === 'followers');
    expect(row?.calls).toBe(1);
    world.clock.advance(101_000);
    expect((await ask()).status).toBe(200);
  });

  it('knows that nothing happened when X cannot be reached at all', async () => {
    await signIn(7200);
    const gone = await startXWorld();
    const { url } = gone.sandbox;
    await gone[Symbol.asyncDispose]();
    const api = await onX({ api_base_url: url });
    await expect(api.request('create_tweet', { text: 'x', in_reply_to_id: '1' })).rejects.toMatchObject({
      code: 'x_network_error',
      effect: 'none',
      retryable: true,
    });
  });
});

describe('signing out', () => {
  const ports = async () => {
    const store = await openTestStore('sqlite');
    const holder = () => createLeases(store.database, world.clock.now);
    const sleep = () => new Promise<void>((resolve) => void setImmediate(resolve));
    return { store, sleep, server: holder(), person: holder(), file: new TokenFile(dataDir) };
  };

  it('waits for a refresh under way, whose answer would bring the tokens back', async () => {
    const { store, sleep, server, person, file } = await ports();
    await signIn(60);
    let signedOut: Promise<void> | undefined;
    const tokens = new UserTokens({
      file,
      leases: server,
      sleep,
      now: world.clock.now,
      refresh: async (stale) => {
        signedOut = whileNobodyRefreshes({ leases: person, sleep }, () => file.remove());
        for (let turn = 0; turn < 20; turn++) await sleep();
        return { ...stale, access_token: 'fresh' };
      },
    });
    expect(await tokens.current()).toMatchObject({ access_token: 'fresh' });
    await signedOut;
    expect(await file.read()).toBeUndefined();
    await store.close();
  });

  it('is not undone by a refresh that waited for it', async () => {
    const { store, sleep, server, person, file } = await ports();
    await signIn(60);
    const tokens = new UserTokens({
      file,
      leases: server,
      sleep,
      now: world.clock.now,
      refresh: async (stale) => ({ ...stale, access_token: 'fresh' }),
    });
    let refreshed: Promise<unknown> | undefined;
    await whileNobodyRefreshes({ leases: person, sleep }, async () => {
      refreshed = expect(tokens.current()).rejects.toMatchObject({ code: 'x_not_configured' });
      for (let turn = 0; turn < 20; turn++) await sleep();
      await file.remove();
    });
    await refreshed;
    expect(await file.read()).toBeUndefined();
    await store.close();
  });
});

describe('the token file', () => {
  it('says what to do when it is damaged', async () => {
    await writeFile(new TokenFile(dataDir).path, '{"access_token": 3}');
    await expect(new TokenFile(dataDir).read()).rejects.toMatchObject({
      code: 'x_not_configured',
      message: expect.stringContaining('countersign auth x'),
    });
  });
});

describe('several processes', () => {
  it('refresh a token that ran out once, and all of them go on with the new one', async () => {
    await signIn(60);
    world.clock.advance(120_000);
    const store = join(dataDir, 'store.db');
    const args = [dataDir, store, world.sandbox.url, world.clock.now().toISOString()];
    // One after the other makes the store; together they ask.
    const children = [];
    for (let index = 0; index < 3; index++) {
      const child = await startChild('x-token-user', args);
      await child.said('ready');
      children.push(child);
    }
    for (const child of children) child.send('go');
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    for (const child of children) expect(child.output()).toContain('me adamarsh_dev');
    expect(await refreshes()).toBe(1);
  });
});
