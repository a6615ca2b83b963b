import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSafeForTokens, signIn } from '../../src/gateway/login.ts';
import { startProtected } from './authorization-server.ts';
import { httpServer, openPlace, type Place } from './support.ts';

let remote: Awaited<ReturnType<typeof startProtected>>;
let place: Place;
beforeEach(async () => {
  remote = await startProtected();
  place = await openPlace(httpServer('o', remote.url));
});
afterEach(async () => {
  await place.close();
  await remote.close();
});

/** The person's browser: it follows the redirect back to us. */
const browse = (link: URL): void => void fetch(link);

const login = (open: (link: URL) => void = browse): Promise<string> =>
  signIn({ dataDir: place.dir, server: 'o', url: remote.url, open });

const textOf = (outcome: object): string => JSON.stringify(outcome);

describe('a server that wants OAuth', () => {
  it('is reached after a sign-in with PKCE, with tokens that only their owner can read', async () => {
    await expect(place.trust('o')).rejects.toThrow('countersign servers login o');
    const path = await login();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await place.trust('o');
    const { outcome } = await place.call('o__whoami', {});
    expect(outcome.status).toBe('ok');
    expect(remote.seen).toEqual(['authorization_code']);
  });

  it('keeps its tokens out of results, evidence and logs', async () => {
    const path = await login();
    await place.trust('o');
    const { outcome } = await place.call('o__whoami', {});
    const stored = JSON.parse(readFileSync(path, 'utf8'))[remote.url].tokens.access_token as string;
    expect(stored).toMatch(/^access-/);
    expect(textOf(outcome)).not.toContain(stored);
    await place.app.kernel.flush();
    for (const file of readdirSync(place.dir, { recursive: true, encoding: 'utf8' })) {
      const full = join(place.dir, file);
      if (full === path || !statSync(full).isFile()) continue;
      expect(readFileSync(full).includes(stored), file).toBe(false);
    }
  });

  it('refreshes an expired token without a person, and stores the new one', async () => {
    const path = await login();
    await place.trust('o');
    const before = readFileSync(path, 'utf8');
    remote.expireAccess();
    expect((await place.call('o__whoami', {})).outcome.status).toBe('ok');
    expect(remote.seen).toEqual(['authorization_code', 'refresh_token']);
    expect(readFileSync(path, 'utf8')).not.toBe(before);
    await place.reopen();
    expect((await place.call('o__whoami', {})).outcome.status).toBe('ok');
  });

  it('names the command when a person must sign in again, and sends nothing', async () => {
    await login();
    await place.trust('o', { whoami: 'change' });
    remote.revoke();
    const { outcome } = await place.call('o__whoami', {});
    const message = expect.stringContaining('countersign servers login o');
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'server_unavailable', message } });
  });

  it('takes no answer with another state, and stores nothing when a sign-in is refused', async () => {
    const stop = new AbortController();
    const answers: number[] = [];
    const signing = signIn({
      dataDir: place.dir,
      server: 'o',
      url: remote.url,
      signal: stop.signal,
      open: async (link) => {
        const back = new URL(link.searchParams.get('redirect_uri') ?? '');
        back.search = '?code=stolen&state=guessed';
        answers.push((await fetch(back)).status);
        back.search = `?error=access_denied&state=${link.searchParams.get('state')}`;
        answers.push((await fetch(back)).status);
      },
    });
    await expect(signing).rejects.toThrow('access_denied');
    expect(answers[0]).toBe(400);
    expect(readdirSync(place.dir)).not.toContain('server-tokens.json');
  });
});

it.each([
  ['https://example.org/mcp', true],
  ['http://127.0.0.1:8080/mcp', true],
  ['http://localhost/mcp', true],
  ['http://127.0.0.1.example.org/mcp', false],
  ['http://example.org/mcp', false],
])('sends tokens to %s: %s', (url, safe) => {
  expect(isSafeForTokens(url)).toBe(safe);
});
