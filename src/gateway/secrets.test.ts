import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideSecrets, maskable } from './secrets.ts';

const hidden = (text: string, ...secrets: string[]): string => hideSecrets(text, maskable(secrets));

describe('a secret', () => {
  it('is masked in base64, base64url and hexadecimal, whatever comes before and after it', () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 6, maxLength: 60 }), text, text, (secret, a, b) => {
        for (const encoding of ['base64', 'base64url', 'hex'] as const) {
          const said = Buffer.from(`${a}${secret}${b}`).toString(encoding);
          const shown = hidden(said, secret);
          expect(shown).toContain('[secret]');
          // Of the first and the last byte, a character next to it may show a few bits.
          const rest = shown.split('[secret]').join('').length;
          expect(rest).toBeLessThanOrEqual(Buffer.from(`${a}${b}`).toString(encoding).length + 4);
        }
      }),
    );
  });

  it('is masked in Basic credentials, those it is given and those a server makes', () => {
    const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;
    for (const user of ['a', 'ad', 'ada', 'lovelace'])
      expect(hidden(basic(`${user}:planted-s3cr3t`), 'planted-s3cr3t')).toMatch(/^Basic .*\[secret\]/);
    const given = basic('ada:planted-s3cr3t');
    for (const said of [given, given.slice(6), 'ada:planted-s3cr3t', 'password planted-s3cr3t'])
      expect(hidden(said, given)).not.toMatch(/planted|cGxhbnRlZC|YWRhOnBs/);
    expect(hidden('token planted-s3cr3t', 'Bearer planted-s3cr3t')).toBe('token [secret]');
  });

  it('is masked in a URL, in either case of its escapes', () => {
    const secret = 'a/b c+d?é';
    const inUrl = encodeURIComponent(secret);
    for (const said of [inUrl, inUrl.toLowerCase(), new URLSearchParams({ q: secret }).toString()])
      expect(hidden(said, secret)).toContain('[secret]');
  });
});
