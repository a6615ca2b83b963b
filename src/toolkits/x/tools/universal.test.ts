import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import { codeOf, openXKit, type XKit } from '../test/support/kit.ts';

describe('the universal request tools', () => {
  let kit: XKit;
  beforeAll(async () => {
    kit = await openXKit();
  });
  afterAll(() => kit[Symbol.asyncDispose]());

  it('read any endpoint, by path or by address', async () => {
    const byPath = await kit.data('x_get', {
      endpoint: '/2/users/me',
      query_params: { 'user.fields': 'description' },
    });
    expect(byPath).toMatchObject({
      status: 200,
      json: { data: { username: 'adamarsh_dev' } },
      body_text: null,
    });
    expect(byPath.rate_limit).toMatchObject({ remaining: expect.any(Number), recommended_wait_ms: 0 });
    const byUrl = await kit.data('x_get', { endpoint: 'https://api.x.com/2/users/me' });
    expect(byUrl).toMatchObject({ status: 200 });
  });

  it('follow pages when asked to, up to a number of them', async () => {
    const query = [{ key: 'max_results', value: '5' }];
    const args = { endpoint: '/2/users/2001000001/tweets', query, auto_paginate: true, max_pages: 2 };
    const { pages } = await kit.data('x_get', args);
    const ids = (pages as { data: { id: string }[] }[]).map(({ data }) => data.map(({ id }) => id));
    expect(ids).toHaveLength(2);
    expect(new Set(ids.flat()).size).toBe(ids.flat().length);
  });

  it('follow the pages of the Ads API too, which it calls by another name', async () => {
    const { pages } = await kit.data('x_get', {
      endpoint: 'https://ads-api.x.com/12/accounts/18ce54d4x5t/campaigns',
      query_params: { count: '1' },
      auto_paginate: true,
    });
    const names = (pages as { data: { name: string }[] }[]).flatMap(({ data }) =>
      data.map(({ name }) => name),
    );
    expect(names.length).toBeGreaterThan(1);
    expect(new Set(names).size).toBe(names.length);
  });

  it('keep the pages read before one that failed, and say what is missing', async () => {
    await kit.fault({ kind: 'forbidden', endpoint: 'user_tweets', skip: 1 });
    const query = [{ key: 'max_results', value: '5' }];
    const data = await kit.data('x_get', {
      endpoint: '/2/users/2001000001/tweets',
      query,
      auto_paginate: true,
    });
    expect(data).toMatchObject({ pages: [expect.anything()], incomplete: { code: 'x_forbidden' } });
    await kit.sandbox.control('clear_faults');
  });

  it.each([
    ['x_get', { endpoint: 'https://example.com/2/users/me' }],
    ['x_get', { endpoint: 'http://api.x.com/2/users/me' }],
    ['x_get', { endpoint: 'https://api.x.com@evil.example/2/users/me' }],
    ['x_get', { endpoint: '/2/../../etc/passwd' }],
    ['x_get', { endpoint: '/2/%2e%2e/users' }],
    ['x_get', { endpoint: '//evil.example/2' }],
    ['x_get', { endpoint: '/2/tweets/search/stream' }],
    ['x_get', { endpoint: '/2/users/me', headers: [{ key: 'Authorization', value: 'Bearer x' }] }],
    ['x_post', { endpoint: '/2/users/me\r\nHost: evil.example' }],
    ['x_delete', { endpoint: 'https://127.0.0.1/2/tweets/1' }],
  ])('refuse %s %j before anything is asked or sent', async (tool, args) => {
    const { outcome } = await kit.call(tool, args);
    expect(outcome.status).toBe('failed');
    expect(['validation_error', 'invalid_input']).toContain(codeOf(outcome));
  });

  it.each([
    ['rate_limited', 'x_rate_limited'],
    ['unauthorized', 'x_auth_expired'],
    ['forbidden', 'x_forbidden'],
    ['bad_request', 'x_api_error'],
  ])('tell X saying %s as %s', async (kind, code) => {
    await kit.fault({ kind, endpoint: 'me', times: 3 });
    const { outcome } = await kit.call('x_get', { endpoint: '/2/users/me' });
    await kit.sandbox.control('clear_faults');
    kit.clock.advance(901_000);
    expect(codeOf(outcome)).toBe(code);
  });

  it('are under the policy: a DELETE waits for a person and then does what was asked', async () => {
    const { id } = await kit.data('x_post_tweet', { text: 'Deleted the raw way' });
    const { outcome } = await kit.call('x_delete', { endpoint: `/2/tweets/${id}` });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    const { outcome: done } = await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    expect(done).toMatchObject({ status: 'ok', data: { status: 200, json: { data: { deleted: true } } } });
  });
});
