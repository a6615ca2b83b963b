import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../lib/canonical.ts';
import { isSecretName, redactPrivate, redactSecrets } from './privacy.ts';

describe('redactPrivate', () => {
  it('replaces marked arguments by a salted hash that anyone who knows the value can check', () => {
    const shown = redactPrivate({ text: 'meet me at noon', to: 'ada' }, ['text']);
    expect(shown.to).toBe('ada');
    const { $hash, $salt } = shown.text as { $hash: string; $salt: string };
    expect($hash).toBe(
      `sha256:${createHash('sha256')
        .update($salt + canonicalJson('meet me at noon'))
        .digest('hex')}`,
    );
    expect(JSON.stringify(shown)).not.toContain('noon');
  });

  it('gives the same value another hash each time', () => {
    expect(redactPrivate({ a: 1 }, ['a'])).not.toEqual(redactPrivate({ a: 1 }, ['a']));
  });

  it('hides what is named like a secret at any depth, whole', () => {
    const shown = redactPrivate({
      config: { apiKey: 'k-123', nested: [{ 'X-Api-Key': 'k-456' }] },
      headers: { Authorization: { scheme: 'Bearer', value: 'k-789' } },
      note: 'visible',
    });
    const text = JSON.stringify(shown);
    for (const secret of ['k-123', 'k-456', 'k-789']) expect(text).not.toContain(secret);
    expect(text).toContain('visible');
  });

  it('keeps a field named __proto__ as a field', () => {
    const shown = redactPrivate(JSON.parse('{"__proto__":{"password":"p"},"a":1}'));
    expect(Object.keys(shown)).toEqual(['__proto__', 'a']);
    expect(JSON.stringify(shown)).not.toContain('"p"');
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
  });

  it('copies nothing where there is nothing to hide', () => {
    const args = { a: null, list: [1, null, { b: 'c' }], nested: { d: [] }, password: null };
    expect(redactPrivate(args)).toBe(args);
    expect(redactSecrets(args.list)).toBe(args.list);
    expect(redactSecrets(null)).toBeNull();
  });

  it('hides one item of a list and keeps the others', () => {
    const shown = redactSecrets([{ id: 1 }, { password: 'p' }, 'x']);
    expect(shown).toEqual([
      { id: 1 },
      { password: { $hash: expect.stringMatching(/^sha256:/), $salt: expect.any(String) } },
      'x',
    ]);
  });

  it('leaves results without secrets as they are', () => {
    const result = { posts: [{ id: '1', text: 'hello' }], next_token: 'abc' };
    expect(redactSecrets(result)).toEqual(result);
  });

  it.each([
    'token',
    'access_token',
    'apiKey',
    'API-KEY',
    'password',
    'userPassword',
    'authorization',
    'client_secret',
    'clientSecret',
    'cookie',
    'private_key',
    'bearer',
    'refreshToken',
    'oauth_token_secret',
    'apikey',
    'secretkey',
    'privatekey',
    'accesskey',
    'credential',
    'credentials',
    'sessionid',
    'session_id',
    'X--Api--Key',
    'password_hash',
    'Authorization-Header',
    'steal_next_token',
    'next_token_secret',
  ])('takes %s for a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    'max_tokens',
    'tokens',
    'next_token',
    'paginationToken',
    'text',
    'author',
    'keyword',
    'key',
    'secretary',
    'tokenize',
    'passage',
    'public_key',
    'no_password_needed',
    'passwordless',
  ])('does not take %s for a secret', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});
