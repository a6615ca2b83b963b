import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildRequest, ParamError } from './build.ts';
import type { Endpoint, Param } from './endpoint.ts';
import { allowedValues } from './field-values.ts';
import { matchEndpoints } from './match.ts';
import { readRequest } from './read.ts';
import { ALL_ENDPOINTS, ENDPOINTS } from './table.ts';
import { problemWith } from './values.ts';

const digits = fc.stringMatching(/^[1-9]\d{0,18}$/);
const word = fc.stringMatching(/^[A-Za-z0-9]{1,12}$/);

/** Any value a parameter takes. */
function anyValue(endpoint: Endpoint, param: Param): fc.Arbitrary<unknown> {
  const values = param.values ?? allowedValues(endpoint, param.wire);
  switch (param.kind) {
    case 'integer':
      return fc.integer({ min: param.min ?? 0, max: param.max ?? 1_000_000 });
    case 'boolean':
      return param.values ? fc.constantFrom(...param.values.map((value) => value === 'true')) : fc.boolean();
    case 'csv':
      return fc
        .array(values ? fc.constantFrom(...values) : digits, {
          minLength: 1,
          maxLength: Math.min(param.maxItems ?? 5, 5),
        })
        .map((items) => items.join(','));
    case 'ids':
      return fc.array(digits, { minLength: 1, maxLength: Math.min(param.maxItems ?? 5, 5) });
    case 'rules':
      return fc.array(fc.record({ value: word, tag: word }, { requiredKeys: ['value'] }), {
        minLength: 1,
        maxLength: 4,
      });
    case 'binary':
      return fc.uint8Array({ minLength: 1, maxLength: 16 });
    case 'conversation_id':
      return fc.tuple(digits, digits).map(([a, b]) => `${a}-${b}`);
    case 'time':
      return fc
        .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
        .map((date) => `${date.toISOString().slice(0, 19)}Z`);
    case 'space_id':
    case 'ads_id':
    case 'username':
      return word;
    case 'text':
      if (param.values) return fc.constantFrom(...param.values);
      return fc.string({ minLength: 1, maxLength: Math.min(param.maxLength ?? 60, 60), unit: 'grapheme' });
    case 'token':
      return word;
    default:
      return digits;
  }
}

const argsOf = (endpoint: Endpoint): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    Object.fromEntries(
      Object.entries(endpoint.params).map(([name, param]) => [name, anyValue(endpoint, param)]),
    ),
    {
      requiredKeys: Object.entries(endpoint.params)
        .filter(([, param]) => param.required || param.in === 'path')
        .map(([name]) => name),
    },
  ) as fc.Arbitrary<Record<string, unknown>>;

describe.each(ALL_ENDPOINTS.map((endpoint) => [endpoint.id, endpoint] as const))('%s', (_id, endpoint) => {
  it('is read by a server exactly as a client wrote it', () => {
    fc.assert(
      fc.property(argsOf(endpoint), (args) => {
        const wire = buildRequest(endpoint, args);
        const match = matchEndpoints(wire.method, wire.host, wire.path);
        expect(match?.endpoints).toContain(endpoint);
        const body =
          wire.body.type === 'json'
            ? (JSON.parse(JSON.stringify(wire.body.value)) as Record<string, unknown>)
            : wire.body.type === 'form'
              ? Object.fromEntries(wire.body.pairs)
              : wire.body.type === 'multipart'
                ? Object.fromEntries(wire.body.parts)
                : undefined;
        const reading = readRequest(endpoint, { path: match?.path ?? {}, query: new Map(wire.query), body });
        expect(reading.problems).toEqual([]);
        const fallbacks = Object.fromEntries(
          Object.entries(endpoint.params).flatMap(([name, { fallback }]) =>
            fallback === undefined ? [] : [[name, fallback]],
          ),
        );
        // Fields may arrive as expansions: field-values.test.ts.
        const isPlain = ([name]: [string, unknown]): boolean =>
          allowedValues(endpoint, endpoint.params[name]?.wire ?? '') === undefined;
        const plain = (all: object) => Object.fromEntries(Object.entries(all).filter(isPlain));
        expect(plain(reading.args)).toEqual(plain({ ...fallbacks, ...args }));
      }),
      { numRuns: 25 },
    );
  });
});

describe('building a request', () => {
  it('puts nested and repeated fields where X wants them', () => {
    const group = buildRequest(ENDPOINTS.x_v2_dm_create_group, {
      participant_ids: ['1', '2'],
      text: 'hi',
      attachments: '3',
    });
    expect(group.body).toEqual({
      type: 'json',
      value: {
        conversation_type: 'Group',
        participant_ids: ['1', '2'],
        message: { text: 'hi', attachments: [{ media_id: '3' }] },
      },
    });
    const rules = buildRequest(ENDPOINTS.x_v2_stream_rules_delete, { rule_ids: ['1'] });
    expect(rules.body).toEqual({ type: 'json', value: { delete: { ids: ['1'] } } });
    const reply = buildRequest(ENDPOINTS.create_tweet, { text: 'a', in_reply_to_id: '5', media_ids: ['6'] });
    expect(reply.body).toEqual({
      type: 'json',
      value: { text: 'a', reply: { in_reply_to_tweet_id: '5' }, media: { media_ids: ['6'] } },
    });
  });

  it('names what is missing, unknown or malformed', () => {
    expect(() => buildRequest(ENDPOINTS.tweet_by_id, {})).toThrow(new ParamError('tweet_id', 'is required'));
    expect(() => buildRequest(ENDPOINTS.tweet_by_id, { tweet_id: '1', colour: 'red' })).toThrow(
      'colour is not a parameter',
    );
    expect(() =>
      buildRequest(ENDPOINTS.x_v2_dm_send_to_participant, {
        participant_id: '1',
        text: 'a',
        attachments: '1,2',
      }),
    ).toThrow('at most 1');
    expect(() =>
      buildRequest(ENDPOINTS.search_recent, { query: 'a', start_time: '2026-02-30T00:00:00' }),
    ).toThrow('must be a time');
  });

  it('lets nothing into a path that is not of the expected form', () => {
    const paths = ALL_ENDPOINTS.flatMap((endpoint) =>
      Object.values(endpoint.params).filter((param) => param.in === 'path'),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...paths), (value, param) => {
        if (problemWith(param, value) === undefined) expect(value).toMatch(/^@?[A-Za-z0-9_-]+$/);
      }),
    );
  });
});
