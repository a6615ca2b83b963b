import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import { startXWorld } from '../test/support/sandbox.ts';
import type { RawRequest } from './api.ts';
import { guardRaw, RAW_HOSTS } from './raw-guard.ts';

/** Ways to write an address that is not one of ours. */
const OTHER_HOSTS = [
  '127.0.0.1',
  '127.1',
  '0.0.0.0',
  '0',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '017700000001',
  '0177.0.0.1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '[fe80::1%25eth0]',
  '169.254.169.254',
  '[fd00:ec2::254]',
  '10.0.0.1',
  '192.168.0.1',
  '172.16.0.1',
  '100.64.0.1',
  'localhost',
  'localhost.localdomain',
  'metadata.google.internal',
  'evil.com',
  'x.com',
  'twitter.com',
  'api.twitter.com',
  'ads-api.twitter.com',
  'pbs.twimg.com',
  'api.x.com.evil.com',
  'evil.com.api.x.com.',
  'api.x.com.',
  'api.x.com..',
  'xapi.x.com',
  'api-x.com',
  'apix.com',
  'api.x.co',
  'api.x.comm',
  'a.api.x.com',
  'api.x.com:443',
  'api.x.com:80',
  'api.x.com:8080',
  'api.x.com:',
  'api.x.com:0',
  'api.x.com:443@evil.com',
  'user@api.x.com',
  'user:pass@api.x.com',
  '@api.x.com',
  'api.x.com@evil.com',
  'api.x.com%40evil.com',
  'api.x.com%2f@evil.com',
  'api.x.com%00.evil.com',
  'api.x.com%23.evil.com',
  'api%2ex%2ecom',
  'ap%69.x.com',
  'API.X.COM',
  'Api.X.com',
  'api.x.com\\@evil.com',
  'api.x.com\\.evil.com',
  'api.x.com;evil.com',
  'api.x.com,evil.com',
  'api.x.com&evil.com',
  '*.x.com',
  '',
  '.',
  '..',
  '-',
  '_',
  'xn--api-x.com',
  'api.x.com\u3002evil.com',
  '\u0430pi.x.com',
  'api\u3002x\u3002com',
  'ａｐｉ.x.com',
  'api.x.com\u200b',
  '\ufeffapi.x.com',
  'api.ⓧ.com',
];

/** Paths that mean something else to one parser than to another, or that X must never be sent. */
const BAD_PATHS = [
  '',
  '2/users/me',
  'users',
  '//evil.com/2',
  '///evil.com',
  '/\\evil.com',
  '\\\\evil.com',
  '/2//users',
  '/2/users//me',
  '/2/./users',
  '/./2/users',
  '/2/users/.',
  '/../2/users',
  '/2/../../etc/passwd',
  '/2/users/..',
  '/2/..',
  '/..',
  '/.',
  '/2/.../users',
  '/2/%2e%2e/users',
  '/2/%2E%2E/users',
  '/2/.%2e/users',
  '/2/%2e./users',
  '/%2e%2e/%2e%2e',
  '/2/%252e%252e/users',
  '/2/..%2fusers',
  '/2/%2fusers',
  '/2/users%2f..%2f',
  '/2/%5c..%5cusers',
  '/2/users%5cme',
  '/2/users\\..\\me',
  '/2\\users',
  '/2/users%00',
  '/2/users%0d%0aHost:evil',
  '/2/users%0a',
  '/2/users%20me',
  '/2/%75sers',
  '/2/users;a=b',
  '/2/users/me#x',
  '/2/users#@evil.com',
  '#',
  '/#',
  '/2/users/me\r\nHost: evil.com',
  '/2/users/me\nX-A: b',
  '/2/users/me\r',
  '/2/users/me\t',
  '/2/users me',
  ' /2/users/me',
  '/2/users/me ',
  '\u0000/2/users',
  '/2/users/\u0000',
  '/2/users/\u007f',
  '/2/users/ä',
  '/2/users/\u202e',
  '/2/users/😀',
  '/2/users/<script>',
  '/2/users/"x"',
  "/2/users/'x'",
  '/2/users/`x`',
  '/2/users/{id}',
  '/2/users/[id]',
  '/2/users/|x',
  '/2/users/^x',
  '/2/users/*',
  '/2/users/$(id)',
  '/2/users/!x',
  '/2/users/@me',
  '/2/users/=x',
  '/2/users/+x',
  '/2/users/%',
  '/2/users/%zz',
  '/2/users/%u002e',
  'https:/api.x.com/2/users',
  'https:api.x.com/2',
  'https//api.x.com/2',
  'http://api.x.com/2/users/me',
  'HTTP://api.x.com/2',
  'HTTPS://api.x.com/2',
  'ftp://api.x.com/2',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'gopher://api.x.com/',
  'ws://api.x.com/2',
  'blob:https://api.x.com/1',
  'unix:/var/run/x.sock',
  'https://api.x.com//2/users',
  'https://api.x.com/2/../users',
  'https://api.x.com/2/%2e%2e/users',
  'https://api.x.com\\2\\users',
  'https://api.x.com/2/users#frag',
  'https://api.x.com/2/users/me?x=%zz',
  '/2/users?x=%',
  '/2/users?=x',
  '/2/users?x=%0d%0a',
  '/2/users?x=%00',
  '/2/users?%0a=1',
  '/2/users?x=%ff',
  '/2/tweets/search/stream',
  '/2/tweets/sample/stream',
  '/2/tweets/sample10/stream',
  '/2/tweets/firehose/stream',
  '/2/tweets/firehose/stream/lang/en',
  '/2/tweets/compliance/stream',
  '/2/users/compliance/stream',
  '/2/likes/compliance/stream',
  '/2/likes/firehose/stream',
  '/2/likes/sample10/stream',
  '/2/tweets/label/stream',
  '/2/activity/stream',
  '/1.1/statuses/filter.json',
  '/1.1/statuses/sample.json',
  '/1.1/user.json',
  '/1.1/site.json',
  '/2/oauth2/token',
  '/2/oauth2/revoke',
  '/oauth2/token',
  '/oauth2/invalidate_token',
  '/oauth/access_token',
  '/oauth/request_token',
  '/2/oauth2',
  `/${'a'.repeat(3000)}`,
];

const BAD_HEADERS = [
  ['Authorization', 'Bearer x'],
  ['authorization', 'x'],
  ['Host', 'evil.com'],
  ['Cookie', 'a=b'],
  ['Set-Cookie', 'a=b'],
  ['Transfer-Encoding', 'chunked'],
  ['Proxy-Authorization', 'x'],
  ['Proxy-Connection', 'x'],
  ['Content-Length', '5'],
  ['Connection', 'close'],
  ['TE', 'trailers'],
  ['Upgrade', 'h2c'],
  ['Expect', '100-continue'],
  ['X-Forwarded-For', '1.1.1.1'],
  ['Forwarded', 'x'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Method-Override', 'DELETE'],
  ['X-Sandbox-Host', 'evil'],
  ['X-A', 'b\r\nAuthorization: x'],
  ['X-A', 'b\nc'],
  ['X-A\r\nB', 'c'],
  ['X A', 'b'],
  ['', 'b'],
  ['X-Ä', 'b'],
  ['X-A', 'ü'],
  ['X:A', 'b'],
  ['Content-Type', 'text/plain'],
  ['Content-Type', 'multipart/form-data'],
] as const;

const hostile: [string, RawRequest][] = [
  ...OTHER_HOSTS.map((host): [string, RawRequest] => [
    `https URL on ${JSON.stringify(host)}`,
    { method: 'GET', endpoint: `https://${host}/2/users/me` },
  ]),
  ...OTHER_HOSTS.map((host): [string, RawRequest] => [
    `host ${JSON.stringify(host)}`,
    { method: 'GET', endpoint: '/2/users/me', host },
  ]),
  ...BAD_PATHS.map((endpoint): [string, RawRequest] => [
    `endpoint ${JSON.stringify(endpoint.slice(0, 60))}`,
    { method: 'GET', endpoint },
  ]),
  ...BAD_HEADERS.map(([key, value]): [string, RawRequest] => [
    `header ${JSON.stringify(`${key}: ${value}`)}`,
    { method: 'POST', endpoint: '/2/tweets', headers: [{ key, value }], body: {} },
  ]),
  [
    'two hosts that differ',
    { method: 'GET', endpoint: 'https://api.x.com/2/users/me', host: 'ads-api.x.com' },
  ],
  ['a body with GET', { method: 'GET', endpoint: '/2/users/me', body: { a: 1 } }],
  ['a body that is not JSON', { method: 'POST', endpoint: '/2/tweets', body: 'text=hi' }],
  ['a body that is a list', { method: 'POST', endpoint: '/2/tweets', body: [1] }],
  [
    'a body that is too large',
    { method: 'POST', endpoint: '/2/tweets', body: JSON.stringify({ text: 'x'.repeat(2_000_000) }) },
  ],
  [
    'a nested body for the Ads API',
    { method: 'POST', endpoint: '/12/accounts/abc/campaigns', host: 'ads-api.x.com', body: { a: { b: 1 } } },
  ],
  [
    'control characters in the query',
    { method: 'GET', endpoint: '/2/users/me', query: [{ key: 'a', value: 'b\r\nc' }] },
  ],
  ['an empty query name', { method: 'GET', endpoint: '/2/users/me', query: [{ key: '', value: 'b' }] }],
  [
    'too many headers',
    {
      method: 'GET',
      endpoint: '/2/users/me',
      headers: Array.from({ length: 21 }, (_, i) => ({ key: `X-A${i}`, value: 'b' })),
    },
  ],
  [
    'too many query parameters',
    {
      method: 'GET',
      endpoint: '/2/users/me',
      query: Array.from({ length: 101 }, (_, i) => ({ key: `a${i}`, value: 'b' })),
    },
  ],
];

describe('universal requests', () => {
  it('are tried with more than 200 hostile inputs', () => {
    expect(hostile.length).toBeGreaterThan(200);
  });

  it.each(hostile)('refuse %s', (_name, request) => {
    let thrown: unknown;
    try {
      guardRaw(request);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ToolError);
    expect(thrown).toMatchObject({ code: 'invalid_input', effect: 'none', retryable: false });
  });

  it('reach nothing at all when they are refused', async () => {
    await using world = await startXWorld();
    for (const [, request] of hostile)
      await expect(world.api.raw(request)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await world.api.usage(new Date(0))).toEqual([]);
  });

  it.each([
    [{ endpoint: '/2/users/me' }, 'https://api.x.com/2/users/me', 'public_api'],
    [
      { endpoint: 'https://api.x.com/2/tweets/1?tweet.fields=lang' },
      'https://api.x.com/2/tweets/1',
      'public_api',
    ],
    [{ endpoint: '/12/accounts', host: 'ads-api.x.com' }, 'https://ads-api.x.com/12/accounts', 'ads'],
    [{ endpoint: '/2/dm_events' }, 'https://api.x.com/2/dm_events', 'direct_message'],
    [
      { endpoint: '/2/tweets/search/stream/rules' },
      'https://api.x.com/2/tweets/search/stream/rules',
      'enterprise_admin',
    ],
    [
      { endpoint: 'https://upload.x.com/1.1/media/upload.json' },
      'https://upload.x.com/1.1/media/upload.json',
      'media_upload',
    ],
    [{ endpoint: 'https://api.x.com' }, 'https://api.x.com/', 'public_api'],
  ])('let %j through to %s', (request, url, family) => {
    const guarded = guardRaw({ method: 'GET', ...request });
    expect(guarded).toMatchObject({ url, family });
    expect(RAW_HOSTS).toContain(new URL(guarded.url).host);
  });

  it('decode the query of an address once and encode it again', () => {
    const { request } = guardRaw({
      method: 'GET',
      endpoint: '/2/tweets/search/recent?query=from%3Aa%20b+c',
      query: [{ key: 'max_results', value: '10' }],
    });
    expect(request.query).toEqual([
      ['query', 'from:a b c'],
      ['max_results', '10'],
    ]);
  });
});

describe('universal requests on the sandbox', () => {
  it('read, change and show X’s own errors without throwing', async () => {
    await using world = await startXWorld();
    const read = await world.api.raw({
      method: 'GET',
      endpoint: '/2/users/me',
      query: [{ key: 'user.fields', value: 'verified' }],
    });
    expect(read).toMatchObject({
      status: 200,
      json: { data: { username: 'adamarsh_dev', verified: false } },
    });
    const posted = await world.api.raw({
      method: 'POST',
      endpoint: 'https://api.x.com/2/tweets',
      body: '{"text":"raw hello"}',
    });
    expect(posted).toMatchObject({ status: 201, json: { data: { text: 'raw hello' } } });
    const refused = await world.api.raw({
      method: 'POST',
      endpoint: '/2/tweets',
      body: { text: 'raw hello' },
    });
    expect(refused).toMatchObject({ status: 403, json: { detail: expect.stringContaining('duplicate') } });
    expect(refused.rateLimit?.limit).toBe(100);
    const unknown = await world.api.raw({ method: 'GET', endpoint: '/2/nothing/here' });
    expect(unknown.status).toBe(404);
    const ads = await world.api.raw({
      method: 'PUT',
      endpoint: '/12/accounts/18ce54d4x5t/campaigns/8wku3',
      host: 'ads-api.x.com',
      body: { name: 'Raw' },
    });
    expect(ads).toMatchObject({ status: 200, json: { data: { name: 'Raw' } } });
    const appOnly = await world.api.raw({ method: 'GET', endpoint: '/2/usage/tweets' });
    expect(appOnly.status).toBe(200);
  });

  it('follow no redirect', async () => {
    await using world = await startXWorld();
    const { createServer } = await import('node:http');
    const elsewhere: string[] = [];
    const server = createServer((request, response) => {
      elsewhere.push(request.url ?? '');
      response.writeHead(302, { location: `${world.sandbox.url}/2/users/me` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const { send } = await import('./send.ts');
    const answer = await send(guardRaw({ method: 'GET', endpoint: '/2/users/me' }).request, {
      origin,
      headers: {},
      timeoutMs: 5000,
    });
    expect(answer.status).toBe(302);
    expect(elsewhere).toEqual(['/2/users/me']);
    expect(await world.api.usage(new Date(0))).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('deleting through a POST', () => {
  it('is refused, because only a delete is asked about as one', () => {
    for (const endpoint of [
      '/1.1/statuses/destroy/20.json',
      'https://api.x.com/1.1/statuses/destroy/20.json',
      '/1.1/lists/destroy.json',
      '/1.1/lists/members/destroy_all.json',
      '/1.1/direct_messages/events/destroy.json',
    ]) {
      expect(() => guardRaw({ method: 'POST', endpoint }), endpoint).toThrow(/deletes/);
    }
    expect(() => guardRaw({ method: 'POST', endpoint: '/1.1/statuses/update.json' })).not.toThrow();
  });
});
