import { describe, expect, it } from 'vitest';
import { passkeyPage } from './passkey-page.ts';

const page = (host: string, options: { publicUrl?: string; rpId?: string } = {}) =>
  passkeyPage(new Request('http://internal/api', { headers: { host } }), {
    publicUrl: options.publicUrl,
    rpId: options.rpId,
  });

describe('the page on which passkeys are used', () => {
  it('is a local name with its port, each with keys of its own', () => {
    expect(page('localhost:8765')).toEqual({
      usable: true,
      origin: 'http://localhost:8765',
      rpId: 'localhost',
    });
    expect(page('countersign.localhost:8765')).toEqual({
      usable: true,
      origin: 'http://countersign.localhost:8765',
      rpId: 'countersign.localhost',
    });
  });

  it('is never an address, and names the page to use instead', () => {
    for (const host of ['127.0.0.1:8765', '[::1]:8765', '192.168.1.5:8765'])
      expect(page(host)).toMatchObject({ usable: false, instead: 'http://localhost:8765' });
  });

  it('is the public address behind HTTPS, with its host or a parent domain', () => {
    const publicUrl = 'https://sign.example.org';
    const origin = publicUrl;
    expect(page('sign.example.org', { publicUrl })).toEqual({
      usable: true,
      origin,
      rpId: 'sign.example.org',
    });
    expect(page('sign.example.org', { publicUrl, rpId: 'example.org' })).toMatchObject({
      rpId: 'example.org',
    });
    expect(page('other.example.org', { publicUrl })).toMatchObject({ usable: false, instead: origin });
  });

  it('is not the public address without HTTPS, and names it with HTTPS', () => {
    const publicUrl = 'http://sign.example.org';
    expect(page('sign.example.org', { publicUrl })).toMatchObject({
      usable: false,
      instead: 'https://sign.example.org',
    });
  });
});
