import type { JsonObject, JsonSchema } from '../../../contract/json.ts';
import type { Schema, SchemaIssue } from '../../../contract/schema.ts';
import type { Endpoint, Param } from '../endpoints/endpoint.ts';
import { problemWith } from '../endpoints/values.ts';

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
      const issues = [...issuesWith(endpoint, value as Record<string, unknown>)];
      return issues.length > 0 ? { ok: false, issues } : { ok: true, value: value as JsonObject };
    },
  };
}

function* issuesWith(endpoint: Endpoint, args: Readonly<Record<string, unknown>>): Generator<SchemaIssue> {
  for (const [name, param] of Object.entries(endpoint.params)) {
    const value = args[name];
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
