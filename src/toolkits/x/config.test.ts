import { describe, expect, it } from 'vitest';
import { xApi } from './config.ts';
import { plainConnections } from './tools/settings.ts';

describe('addresses of X in the configuration', () => {
  it.each(['https://api.example.com', 'http://127.0.0.1:4000', 'https://api.example.com/'])(
    'takes %s',
    (url) => {
      expect(xApi.schema.safeParse({ api_base_url: url, ads_base_url: url }).success).toBe(true);
    },
  );

  it.each([
    'https://api.example.com/2',
    'https://api.example.com/?a=b',
    'https://user:word@api.example.com',
    'ftp://api.example.com',
    'api.example.com',
  ])('refuses %s, which would lead requests elsewhere', (api_base_url) => {
    expect(xApi.schema.safeParse({ api_base_url }).success).toBe(false);
  });

  it('are warned about when tokens would cross a network in plain text', () => {
    const warned = (api_base_url: string) => plainConnections({ xApi: xApi.schema.parse({ api_base_url }) });
    expect(warned('http://x.example.com')).toMatchObject([{ path: 'x_api.api_base_url' }]);
    for (const fine of [
      'http://localhost:1',
      'http://127.0.0.1:1',
      'http://[::1]:1',
      'https://x.example.com',
    ])
      expect(warned(fine)).toEqual([]);
  });
});
