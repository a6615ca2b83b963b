import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildRequest } from './build.ts';
import { allowedValues, inOldSpelling } from './field-values.ts';
import { readRequest } from './read.ts';
import { ALL_ENDPOINTS, ENDPOINTS } from './table.ts';

interface Described {
  readonly $defs: Readonly<Record<string, { readonly enum: readonly string[] }>>;
  readonly operations: Readonly<
    Record<
      string,
      { readonly query: Readonly<Record<string, { readonly items?: { readonly $ref?: string } }>> }
    >
  >;
}

const described = JSON.parse(readFileSync('test/data/x-api/2.167-schemas.json', 'utf8')) as Described;
const listed = ALL_ENDPOINTS.filter(({ unlisted, host }) => !unlisted && host === 'api.x.com');

describe('values that choose what a reply contains', () => {
  it.each(listed.map((endpoint) => [endpoint.id, endpoint] as const))(
    'of %s are exactly those of the description',
    (_id, endpoint) => {
      const { query } = described.operations[`${endpoint.method} ${endpoint.path}`] ?? { query: {} };
      for (const [name, { items }] of Object.entries(query)) {
        if (!/fields$|^expansions$/.test(name) || name === 'search_count.fields' || !items?.$ref) continue;
        const values = described.$defs[items.$ref.replace('#/$defs/', '')]?.enum ?? [];
        expect([...(allowedValues(endpoint, name) ?? [])].sort(), name).toEqual([...values].sort());
      }
    },
  );

  const queryOf = (id: 'tweet_by_id' | 'x_v2_lists_get', args: Record<string, string>) =>
    Object.fromEntries(buildRequest(ENDPOINTS[id], args).query);

  it('are sent where the description has them, whichever generation the caller knows', () => {
    expect(
      queryOf('tweet_by_id', {
        tweet_id: '1',
        tweet_fields: 'created_at,author_id,referenced_tweets,note_tweet',
        expansions: 'referenced_tweets.id',
      }),
    ).toMatchObject({
      'post.fields': 'created_at,note_post',
      expansions: 'author_id,referenced_posts',
    });
    expect(queryOf('x_v2_lists_get', { id: '1', list_fields: 'owner_id' })).toEqual({
      expansions: 'owner_id',
    });
  });

  it('keep one the description does not have, for X to judge', () => {
    expect(queryOf('x_v2_lists_get', { id: '1', list_fields: 'brand_new' })).toMatchObject({
      'list.fields': 'brand_new',
    });
  });

  it('can be written in the older spelling, which the sandbox takes as well', () => {
    const { query } = buildRequest(ENDPOINTS.tweet_by_id, { tweet_id: '1' });
    const old = new Map(inOldSpelling(query));
    expect(old.get('tweet.fields')?.split(',')).toEqual(
      expect.arrayContaining(['author_id', 'created_at', 'in_reply_to_user_id', 'referenced_tweets']),
    );
    expect(old.get('expansions')).toContain('referenced_tweets.id');
    expect(old.has('post.fields')).toBe(false);
    const request = { path: { id: '1' }, query: old, body: undefined };
    expect(readRequest(ENDPOINTS.tweet_by_id, request).problems).toEqual([]);
  });

  it.each([
    ['list.fields', 'owner_id'],
    ['expansions', 'creator_id'],
  ])('are refused by the sandbox outside the description: %s=%s', (name, value) => {
    const query = new Map([[name, value]]);
    const { problems } = readRequest(ENDPOINTS.x_v2_lists_get, { path: { id: '1' }, query, body: undefined });
    expect(problems).toMatchObject([{ name, value }]);
  });
});
