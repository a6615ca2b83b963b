import type { JsonObject, JsonSchema, JsonValue } from '../../../contract/json.ts';
import { type Schema, type SchemaIssue, zodSchema } from '../../../contract/schema.ts';
import { CHANGE_PROFILES, PROFILES, type Profile, type Requirements } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { Endpoint, Param } from '../endpoints/endpoint.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import { resultSchema } from '../endpoints/replies.ts';
import { problemWith, splitList } from '../endpoints/values.ts';

/**
 * The arguments of a table-driven tool, straight from the table: one field per parameter, nothing else. Made without
 * zod, because every process that lists tools would pay for building and converting 67 of them.
 */
export function inputSchema(endpoint: Endpoint): Schema<JsonObject> {
  let json: JsonSchema | undefined;
  return {
    get json() {
      json ??= toJsonSchema(endpoint);
      return json;
    },
    parse(value) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return { ok: false, issues: [{ path: '', message: 'must be an object' }] };
      }
      const args = withLists(endpoint, value as JsonObject);
      const issues = [...issuesWith(endpoint, args)];
      return issues.length > 0 ? { ok: false, issues } : { ok: true, value: args };
    },
  };
}

/** Lists may come as text and texts as lists; policy, approval and X see the one form the table has. */
function withLists(endpoint: Endpoint, args: JsonObject): JsonObject {
  const entries = Object.entries(args).map(([name, value]): [string, JsonValue] => {
    const kind = lookup(endpoint.params, name)?.kind;
    if (kind === 'csv' && Array.isArray(value)) return [name, listed(value)];
    return kind === 'ids' && typeof value === 'string' ? [name, splitList(value)] : [name, value];
  });
  return Object.fromEntries(entries);
}

/** A plain list, or X's own form of attachments: `[{ media_id }]`. Anything else is refused as it is. */
function listed(value: readonly JsonValue[]): JsonValue {
  const texts = value.map((item) =>
    isObject(item) && Object.keys(item).length === 1 ? item.media_id : item,
  );
  return texts.every((item) => typeof item === 'string') ? texts.join(',') : [...value];
}

function* issuesWith(endpoint: Endpoint, args: Readonly<Record<string, unknown>>): Generator<SchemaIssue> {
  for (const [name, param] of Object.entries(endpoint.params)) {
    const value = lookup(args, name);
    const problem =
      value === undefined ? (param.required ? 'is required' : undefined) : problemWith(param, value);
    if (problem) yield { path: name, message: problem };
  }
  for (const name of Object.keys(args)) {
    if (!Object.hasOwn(endpoint.params, name)) yield { path: name, message: 'is not a known argument' };
  }
}

function toJsonSchema(endpoint: Endpoint): JsonSchema {
  const params = Object.entries(endpoint.params);
  const required = params.filter(([, param]) => param.required).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(params.map(([name, param]) => [name, fieldOf(param)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

// Only what helps a caller choose is announced; patterns and lengths are checked all the same, with words that say
// what is wrong, and cost no tokens in every listing.
const fieldOf = (param: Param): JsonSchema => ({
  ...shapeOf(param),
  ...(param.doc ? { description: param.doc } : {}),
});

function shapeOf(param: Param): JsonSchema {
  switch (param.kind) {
    case 'integer':
      return {
        type: 'integer',
        ...(param.min === undefined ? {} : { minimum: param.min }),
        ...(param.max === undefined ? {} : { maximum: param.max }),
      };
    case 'boolean':
      return param.values ? { type: 'boolean', const: param.values[0] === 'true' } : { type: 'boolean' };
    case 'ids':
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'rules':
      return {
        type: 'array',
        items: {
          type: 'object',
          properties: { value: { type: 'string' }, tag: { type: 'string' } },
          required: ['value'],
          additionalProperties: false,
        },
      };
    case 'text':
      return { type: 'string', ...(param.values ? { enum: [...param.values] } : {}) };
    default:
      return { type: 'string' };
  }
}

const made = new Map<string, Schema>();

/** What a table-driven tool returns. Tools with the same reply share one schema, built when it is first needed. */
export function outputSchema(endpoint: Endpoint): Schema {
  const shared = (): Schema => {
    const key = JSON.stringify([endpoint.reply, endpoint.effect === 'read']);
    const known = made.get(key) ?? zodSchema(resultSchema(endpoint), 'output');
    made.set(key, known);
    return known;
  };
  return {
    get json(): JsonSchema {
      return shared().json;
    },
    parse: (value) => shared().parse(value),
  };
}

const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  [/^x_ads_/, 'ads'],
  [/^x_v2_(compliance|usage|stream)_/, 'compliance'],
  [/^x_v2_dm_/, 'direct_message'],
  [/^x_v2_lists_/, 'list'],
  [/^x_v2_(mutes|blocks)_|_(un)?hide_reply$/, 'moderation'],
  [/_(un)?pin_tweet$/, 'engage'],
];

export const categoryOf = (id: GeneratedId): string =>
  CATEGORIES.find(([pattern]) => pattern.test(id))?.[1] ?? 'read';

const isAdminOnly = (id: GeneratedId): boolean => ['ads', 'compliance'].includes(categoryOf(id));

export function profilesOf(id: GeneratedId, endpoint: Endpoint): readonly Profile[] {
  if (isAdminOnly(id)) return ['admin'];
  if (endpoint.effect !== 'read') return CHANGE_PROFILES;
  // The one table-driven read among the core reads of the smallest profile.
  return id === 'x_v2_tweets_lookup' ? PROFILES : ['api-readonly', 'write', 'admin'];
}

/** Scopes the documents name in addition to those X asks for; X has no such scopes for the Ads API and for app-only tokens. */
const DOCUMENTED_SCOPES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^x_ads_/, ['ads.read']],
  [/^x_v2_compliance_/, ['compliance.write']],
  [/^x_v2_usage_/, ['usage.read']],
  [/^x_v2_stream_/, ['tweet.read']],
  [/^x_v2_dm_/, ['dm.read']],
  [/^x_v2_tweets_counts_recent$/, ['tweet.read']],
];

export function requirementsOf(id: GeneratedId, endpoint: Endpoint): Requirements {
  const change = endpoint.effect !== 'read';
  const documented = DOCUMENTED_SCOPES.filter(([pattern]) => pattern.test(id)).flatMap(
    ([, scopes]) => scopes,
  );
  const adsWrite = change && id.startsWith('x_ads_') ? ['ads.write'] : [];
  return {
    xClient: true,
    userAuth: !endpoint.credentials.every((kind) => kind === 'app'),
    scopes: [...new Set([...endpoint.scopes, ...documented, ...adsWrite])].sort(),
    ...(isAdminOnly(id) ? { elevatedAccess: true } : {}),
    ...(isAdminOnly(id) && change ? { db: true } : {}),
  };
}
