import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from './endpoint.ts';
import { ALL_ENDPOINTS } from './table.ts';

const path = fileURLToPath(new URL('../../../../../shared/x/openapi-2.167.json', import.meta.url));
const found = existsSync(path);

interface Named {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: {
    readonly minimum?: number;
    readonly maximum?: number;
    readonly enum?: readonly string[];
  };
}
interface Operation {
  readonly parameters?: readonly (Named | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
  readonly responses: Record<string, unknown>;
  readonly security: readonly Record<string, readonly string[]>[];
}
interface Schema {
  readonly $ref?: string;
  readonly properties?: Record<string, unknown>;
  readonly required?: readonly string[];
}
interface Specification {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly parameters: Record<string, Named>;
    readonly schemas: Record<string, Schema>;
    readonly securitySchemes: {
      readonly OAuth2UserToken: {
        readonly flows: { readonly authorizationCode: { readonly scopes: Record<string, string> } };
      };
    };
  };
}

/** X answers the old names to the old parameter, and the documented replies have the old names. */
const OLD_QUERY_NAMES = ['tweet.fields'];
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

describe.skipIf(!found)(
  'the endpoint table beside the official specification (skipped where it is absent)',
  () => {
    const spec = found ? (JSON.parse(readFileSync(path, 'utf8')) as Specification) : undefined;
    const operationOf = (endpoint: Endpoint) => spec?.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    const listed = ALL_ENDPOINTS.filter((endpoint) => !endpoint.unlisted);

    const parametersOf = (operation: Operation): Named[] =>
      (operation.parameters ?? []).map((each) =>
        '$ref' in each ? (spec?.components.parameters[each.$ref.split('/').at(-1) ?? ''] as Named) : each,
      );

    const bodyOf = (operation: Operation): Schema => {
      let schema: Schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema ?? {};
      while (schema.$ref) schema = spec?.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {};
      return schema;
    };

    it('names only endpoints as unlisted that X indeed does not list', () => {
      const wrong = ALL_ENDPOINTS.filter((endpoint) => endpoint.unlisted && operationOf(endpoint));
      expect(wrong.map(({ id }) => id)).toEqual([]);
      const unlisted = ALL_ENDPOINTS.filter(({ unlisted, host }) => unlisted && host === 'api.x.com').map(
        ({ id }) => id,
      );
      expect(unlisted.sort()).toEqual([
        'x_v2_blocks_create',
        'x_v2_blocks_delete',
        'x_v2_dm_conversation_by_id',
        'x_v2_dm_conversations',
        'x_v2_users_pin_tweet',
        'x_v2_users_unpin_tweet',
      ]);
    });

    it.each(listed.map((endpoint) => [endpoint.id, endpoint] as const))(
      '%s has the method, path and parameters of X',
      (id, endpoint) => {
        const operation = operationOf(endpoint);
        if (!operation) throw new Error(`${endpoint.method} ${endpoint.path} is not in the specification`);
        const official = parametersOf(operation);
        const params = Object.values(endpoint.params);

        const paths = official.filter((each) => each.in === 'path').map(({ name }) => name);
        expect(
          params
            .filter((param) => param.in === 'path')
            .map(({ wire }) => wire)
            .sort(),
        ).toEqual(paths.sort());

        const body = bodyOf(operation);
        const ours = new Set([
          ...params.filter((param) => param.in === 'query').map(({ wire }) => wire),
          ...params.filter((param) => param.in === 'body').map(({ wire }) => wire.split(/[.[]/)[0] ?? ''),
          ...Object.keys(endpoint.queryConstants ?? {}),
          ...Object.keys(endpoint.bodyConstants ?? {}),
          ...endpoint.others,
        ]);
        const theirs = [
          ...official.filter((each) => each.in === 'query').map(({ name }) => name),
          ...Object.keys(body.properties ?? {}),
          ...OLD_QUERY_NAMES.filter((name) => ours.has(name)),
        ];
        expect([...ours].sort()).toEqual([...new Set(theirs)].sort());

        const required = [
          ...official.filter((each) => each.in === 'query' && each.required).map(({ name }) => name),
          ...(body.required ?? []),
          ...(DEMANDED[id] ?? []),
        ];
        const demanded = [
          ...params
            .filter((param) => param.in !== 'path' && param.required)
            .map(({ wire }) => wire.split(/[.[]/)[0] ?? ''),
          ...Object.keys(endpoint.bodyConstants ?? {}),
          ...(FILLED_IN[id] ?? []),
        ];
        expect([...new Set(demanded)].sort()).toEqual([...new Set(required)].sort());
      },
    );

    it.each(listed.map((endpoint) => [endpoint.id, endpoint] as const))(
      '%s asks for the credentials and scopes of X',
      (_id, endpoint) => {
        const security = operationOf(endpoint)?.security ?? [];
        const user = security.find((each) => each.OAuth2UserToken)?.OAuth2UserToken;
        const app = security.some((each) => each.BearerToken);
        expect(endpoint.credentials).toEqual([...(user ? ['user'] : []), ...(app ? ['app'] : [])]);
        expect([...endpoint.scopes].sort()).toEqual([...(user ?? [])].sort());
        expect(Object.keys(operationOf(endpoint)?.responses ?? {})).toContain(String(endpoint.success));
      },
    );

    it.each(listed.map((endpoint) => [endpoint.id, endpoint] as const))(
      '%s keeps within the bounds of X',
      (_id, endpoint) => {
        for (const official of parametersOf(operationOf(endpoint) ?? { responses: {}, security: [] })) {
          const param = Object.values(endpoint.params).find(
            ({ wire, in: place }) => wire === official.name && place === 'query',
          );
          const allowed = official.schema?.enum;
          if (param?.values && allowed) {
            expect([...param.values].sort()).toEqual(
              [
                ...new Set([...allowed, ...EXTRA_VALUES.filter((value) => param.values?.includes(value))]),
              ].sort(),
            );
          }
          if (param?.kind !== 'integer') continue;
          expect({ name: official.name, min: param.min, max: param.max }).toEqual({
            name: official.name,
            min: official.schema?.minimum,
            max: official.schema?.maximum,
          });
        }
      },
    );

    it('asks only for scopes that X offers', () => {
      const offered = Object.keys(
        spec?.components.securitySchemes.OAuth2UserToken.flows.authorizationCode.scopes ?? {},
      );
      const asked = new Set(ALL_ENDPOINTS.flatMap(({ scopes }) => scopes));
      expect([...asked].filter((scope) => !offered.includes(scope))).toEqual([]);
    });
  },
);
