import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from './endpoint.ts';
import { ALL_ENDPOINTS } from './table.ts';

interface Operation {
  readonly path: readonly string[];
  readonly query: Readonly<
    Record<
      string,
      {
        readonly required?: true;
        readonly min?: number;
        readonly max?: number;
        readonly values?: readonly string[];
      }
    >
  >;
  readonly body: { readonly names: readonly string[]; readonly required: readonly string[] };
  /** Absent where X takes no user's token. */
  readonly user_scopes?: readonly string[];
  readonly app: boolean;
  readonly responses: readonly string[];
}
interface Specification {
  readonly scopes: readonly string[];
  readonly operations: Readonly<Record<string, Operation>>;
  /** Method and path of what the table does not use. */
  readonly others: readonly string[];
}

/** X requires it; the document says the caller need not: the table sends a fallback. */
const FILLED_IN: Readonly<Record<string, readonly string[]>> = {
  x_v2_compliance_jobs: ['type'],
  x_v2_tweets_hide_reply: ['hidden'],
  x_v2_tweets_unhide_reply: ['hidden'],
};
/** X lets it be missing; without it the request means nothing to these tools. */
const DEMANDED: Readonly<Record<string, readonly string[]>> = {
  media_initialize: ['media_type', 'total_bytes'],
  x_v2_dm_send_in_conversation: ['text'],
  x_v2_dm_send_to_participant: ['text'],
  x_v2_stream_rules_add: ['add'],
  x_v2_stream_rules_delete: ['delete'],
};
/** Values the document has beyond X's list. */
const EXTRA_VALUES = ['expired'];

const spec = JSON.parse(readFileSync('test/data/x-api/2.167.json', 'utf8')) as Specification;
const listed = ALL_ENDPOINTS.filter((endpoint) => !endpoint.unlisted).map(
  (endpoint) => [endpoint.id, endpoint] as const,
);
const keyOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

function operationOf(endpoint: Endpoint): Operation {
  const operation = spec.operations[keyOf(endpoint)];
  if (!operation) throw new Error(`${keyOf(endpoint)} is not in the specification`);
  return operation;
}

describe('the endpoint table and the official specification', () => {
  it('names only endpoints as unlisted that X indeed does not list', () => {
    const official = new Set([...Object.keys(spec.operations), ...spec.others]);
    expect(official.size).toBe(178);
    const unlisted = ALL_ENDPOINTS.filter((endpoint) => endpoint.unlisted);
    expect(unlisted.filter((endpoint) => official.has(keyOf(endpoint)))).toEqual([]);
    expect(sorted(unlisted.filter(({ host }) => host === 'api.x.com').map(({ id }) => id))).toEqual([
      'x_v2_blocks_create',
      'x_v2_blocks_delete',
      'x_v2_dm_conversation_by_id',
      'x_v2_dm_conversations',
      'x_v2_users_pin_tweet',
      'x_v2_users_unpin_tweet',
    ]);
  });

  it.each(listed)('%s has the method, path and parameters of X', (id, endpoint) => {
    const { path, query, body } = operationOf(endpoint);
    const params = Object.values(endpoint.params);
    expect(
      params
        .filter((param) => param.in === 'path')
        .map(({ wire }) => wire)
        .sort(),
    ).toEqual([...path].sort());

    const ours = new Set([
      ...params.filter((param) => param.in === 'query').map(({ wire }) => wire),
      ...params.filter((param) => param.in === 'body').map(({ wire }) => wire.split(/[.[]/)[0] ?? ''),
      ...Object.keys(endpoint.queryConstants ?? {}),
      ...Object.keys(endpoint.bodyConstants ?? {}),
      ...endpoint.others,
    ]);
    expect(sorted(ours)).toEqual(sorted([...Object.keys(query), ...body.names]));

    const required = [
      ...Object.keys(query).filter((name) => query[name]?.required),
      ...body.required,
      ...(DEMANDED[id] ?? []),
    ];
    const demanded = [
      ...params
        .filter((param) => param.in !== 'path' && param.required)
        .map(({ wire }) => wire.split(/[.[]/)[0] ?? ''),
      ...Object.keys(endpoint.bodyConstants ?? {}),
      ...(FILLED_IN[id] ?? []),
    ];
    expect(sorted(demanded)).toEqual(sorted(required));
  });

  it.each(listed)('%s asks for the credentials and scopes of X', (_id, endpoint) => {
    const { user_scopes: user, app, responses } = operationOf(endpoint);
    expect(endpoint.credentials).toEqual([...(user ? ['user'] : []), ...(app ? ['app'] : [])]);
    expect([...endpoint.scopes].sort()).toEqual([...(user ?? [])].sort());
    expect(responses).toContain(String(endpoint.success));
  });

  it.each(listed)('%s keeps within the bounds of X', (_id, endpoint) => {
    for (const [name, official] of Object.entries(operationOf(endpoint).query)) {
      const param = Object.values(endpoint.params).find(
        ({ wire, in: place }) => wire === name && place === 'query',
      );
      if (param?.values && official.values) {
        const extra = EXTRA_VALUES.filter((value) => param.values?.includes(value));
        expect(sorted(param.values)).toEqual(sorted([...official.values, ...extra]));
      }
      if (param?.kind !== 'integer') continue;
      expect({ name, min: param.min, max: param.max }).toEqual({
        name,
        min: official.min,
        max: official.max,
      });
    }
  });

  it('asks only for scopes that X offers', () => {
    const asked = sorted(ALL_ENDPOINTS.flatMap(({ scopes }) => scopes));
    expect(asked.filter((scope) => !spec.scopes.includes(scope))).toEqual([]);
  });
});
