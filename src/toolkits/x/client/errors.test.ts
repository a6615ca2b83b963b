import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { faultInside, networkError, toToolError } from './errors.ts';

const now = new Date('2026-02-25T12:00:00Z');
const read = { endpoint: ENDPOINTS.tweet_by_id, change: false, now };
const change = { endpoint: ENDPOINTS.create_tweet, change: true, now };
const reply = (status: number, json: JsonValue = {}, headers: Record<string, string> = {}) => ({
  status,
  json,
  headers,
});

describe('an error of X', () => {
  it('is x_rate_limited with the reset time of the header on 429', () => {
    const fault = toToolError(reply(429, {}, { 'x-rate-limit-reset': '1772024400' }), read);
    expect(fault).toMatchObject({ code: 'x_rate_limited', retryable: true, effect: 'none' });
    expect(fault.resetAt?.toISOString()).toBe('2026-02-25T13:00:00.000Z');
  });

  it('shows the detail inside the list of errors rather than the general one around it', () => {
    const body = {
      title: 'Invalid Request',
      detail: 'One or more parameters to your request was invalid.',
      errors: [{ detail: 'Reply to this conversation is not allowed' }],
    };
    expect(toToolError(reply(400, body), read).message).toContain(
      'Reply to this conversation is not allowed',
    );
  });

  it('takes retry-after where X sends no reset', () => {
    expect(toToolError(reply(429, {}, { 'retry-after': '60' }), read).resetAt?.toISOString()).toBe(
      '2026-02-25T12:01:00.000Z',
    );
  });

  it('is x_rate_limited but not worth repeating when the monthly cap is reached', () => {
    const body = {
      title: 'UsageCapExceeded',
      detail: 'Usage cap exceeded',
      type: 'https://api.x.com/2/problems/usage-capped',
    };
    expect(toToolError(reply(429, body), read)).toMatchObject({ code: 'x_rate_limited', retryable: false });
  });

  it.each([
    [401, { title: 'Unauthorized', detail: 'Unauthorized' }, 'x_auth_expired', false],
    [403, { detail: 'You are not permitted to perform this action.' }, 'x_forbidden', false],
    [
      403,
      {
        errors: [
          { code: 64, message: 'Your account is suspended and is not permitted to access this feature.' },
        ],
      },
      'x_account_restricted',
      false,
    ],
    [
      403,
      {
        errors: [
          {
            code: 326,
            message:
              'To protect our users from spam and other malicious activity, this account is temporarily locked.',
          },
        ],
      },
      'x_account_restricted',
      false,
    ],
    [403, { detail: 'Your account has been locked.' }, 'x_account_restricted', false],
    [403, { detail: 'You are not allowed to create a Tweet with duplicate content.' }, 'x_forbidden', false],
    [404, { type: 'https://api.x.com/2/problems/resource-not-found' }, 'not_found', false],
    [400, { detail: 'One or more parameters to your request was invalid.' }, 'x_api_error', false],
    [422, {}, 'x_api_error', false],
    [302, {}, 'x_api_error', false],
    [500, {}, 'x_api_error', true],
    [503, {}, 'x_api_error', true],
    [
      401,
      {
        errors: [
          { code: 'UNAUTHORIZED_CLIENT_APPLICATION', message: 'The client application is not authorized' },
        ],
      },
      'x_forbidden',
      false,
    ],
  ] as const)('%i %j is %s', (status, body, code, retryable) => {
    expect(toToolError(reply(status, body as unknown as JsonValue), read)).toMatchObject({
      code,
      retryable,
      effect: 'none',
    });
  });

  it('names the missing scope on 403 when the token lacks one', () => {
    const fault = toToolError(reply(403, { title: 'Forbidden', detail: 'Forbidden' }), {
      ...change,
      granted: ['tweet.read', 'users.read'],
    });
    expect(fault).toMatchObject({ code: 'x_forbidden', message: expect.stringContaining('tweet.write') });
  });

  it('leaves a change in doubt when X fails on its own side, but not when it refuses', () => {
    expect(toToolError(reply(502), change).effect).toBe('unknown');
    expect(toToolError(reply(403), change).effect).toBe('none');
    expect(toToolError(reply(429), change).effect).toBe('none');
  });

  it('says that X no longer offers an endpoint that its specification lacks', () => {
    const fault = toToolError(reply(404, { title: 'Not Found' }), {
      endpoint: ENDPOINTS.x_v2_blocks_create,
      change: true,
      now,
    });
    expect(fault).toMatchObject({
      code: 'x_api_error',
      retryable: false,
      message: expect.stringContaining('no longer offers'),
    });
  });

  it('quotes what X said and keeps the body for the log', () => {
    const fault = toToolError(reply(400, { detail: 'Bad query' }), read);
    expect(fault.message).toContain('"Bad query"');
    expect(fault.cause).toEqual({ status: 400, body: { detail: 'Bad query' } });
  });

  it('survives bodies of any shape', () => {
    for (const body of [
      null,
      'text',
      7,
      [],
      [1],
      { errors: 'no' },
      { errors: [null, 3] },
      { detail: 5 },
    ] as JsonValue[]) {
      expect(toToolError(reply(418, body), read).code).toBe('x_api_error');
    }
    expect(toToolError({ status: 500, json: undefined, headers: {} }, read).code).toBe('x_api_error');
  });
});

describe('a 200 that holds an error', () => {
  it('is not_found when X does not have the item', () => {
    const body = {
      errors: [
        {
          type: 'https://api.x.com/2/problems/resource-not-found',
          detail: 'Could not find tweet with id: [1].',
        },
      ],
    };
    expect(faultInside(body, read)).toMatchObject({ code: 'not_found' });
  });

  it('is x_forbidden when X does not show the item', () => {
    const body = {
      errors: [{ type: 'https://api.x.com/2/problems/not-authorized-for-resource', detail: 'Sorry' }],
    };
    expect(faultInside(body, read)).toMatchObject({ code: 'x_forbidden' });
  });

  it('is not an error when there is data next to the errors', () => {
    expect(faultInside({ data: [], errors: [{}] }, read)).toBeUndefined();
    expect(faultInside({ meta: { result_count: 0 } }, read)).toBeUndefined();
  });
});

describe('a broken connection', () => {
  it('is certain only when nothing was sent', () => {
    expect(networkError(undefined, { change: true, sent: false })).toMatchObject({
      effect: 'none',
      retryable: true,
    });
    expect(networkError(undefined, { change: true, sent: true })).toMatchObject({
      effect: 'unknown',
      retryable: false,
    });
    expect(networkError(undefined, { change: false, sent: true })).toMatchObject({
      effect: 'none',
      retryable: true,
    });
  });
});
