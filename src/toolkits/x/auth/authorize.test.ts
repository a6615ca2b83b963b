import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { beginAuthorization, codeFromPaste, codeFromRedirect, missingFrom, wantedScopes } from './sign-in.ts';

const begin = () =>
  beginAuthorization({
    clientId: 'client',
    scopes: ['tweet.read', 'users.read'],
    redirectUri: 'http://127.0.0.1:8080/callback',
  });

describe('a sign-in', () => {
  it('sends the person to X with a S256 challenge, a state and the scopes', () => {
    const { url, state, verifier } = begin();
    const { origin, pathname, searchParams } = new URL(url);
    expect(`${origin}${pathname}`).toBe('https://x.com/i/oauth2/authorize');
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client',
      redirect_uri: 'http://127.0.0.1:8080/callback',
      scope: 'tweet.read users.read',
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    expect(verifier).toHaveLength(43);
    expect(url).not.toContain(verifier);
    expect(begin().state).not.toBe(state);
  });

  it('takes the code of a redirect with its own state only', () => {
    const authorization = begin();
    expect(
      codeFromRedirect(new URLSearchParams({ state: authorization.state, code: 'abc' }), authorization),
    ).toBe('abc');
    const wrong: Record<string, string>[] = [
      { code: 'abc' },
      { state: 'other', code: 'abc' },
      { state: '', code: 'abc' },
      { state: authorization.state },
    ];
    for (const params of wrong) {
      expect(() => codeFromRedirect(new URLSearchParams(params), authorization)).toThrow(
        expect.objectContaining({ code: 'x_auth_expired' }),
      );
    }
    expect(() =>
      codeFromRedirect(
        new URLSearchParams({ state: authorization.state, error: 'access_denied' }),
        authorization,
      ),
    ).toThrow(expect.objectContaining({ code: 'x_forbidden' }));
  });

  it('takes a pasted address, whose state it checks, or a pasted code', () => {
    const authorization = begin();
    expect(
      codeFromPaste(
        ` http://127.0.0.1:8080/callback?state=${authorization.state}&code=theCode123 \n`,
        authorization,
      ),
    ).toBe('theCode123');
    expect(codeFromPaste('VGhpc0lzQUNvZGU-_.~x', authorization)).toBe('VGhpc0lzQUNvZGU-_.~x');
    expect(() =>
      codeFromPaste('http://127.0.0.1:8080/callback?state=forged&code=theCode123', authorization),
    ).toThrow(expect.objectContaining({ code: 'x_auth_expired' }));
    for (const junk of ['', 'short', 'not a code at all']) {
      expect(() => codeFromPaste(junk, authorization)).toThrow(
        expect.objectContaining({ code: 'invalid_input' }),
      );
    }
  });

  it('asks for every scope some tool needs, and for staying signed in', () => {
    expect(wantedScopes()).toEqual([
      'block.read',
      'block.write',
      'bookmark.read',
      'bookmark.write',
      'dm.read',
      'dm.write',
      'follows.read',
      'follows.write',
      'like.read',
      'like.write',
      'list.read',
      'list.write',
      'media.write',
      'mute.read',
      'mute.write',
      'offline.access',
      'space.read',
      'tweet.moderate.write',
      'tweet.read',
      'tweet.write',
      'users.read',
    ]);
    expect(missingFrom(wantedScopes().filter((scope) => !scope.startsWith('dm.')))).toEqual([
      'dm.read',
      'dm.write',
    ]);
  });
});
