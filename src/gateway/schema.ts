import { type OutputUnit, Validator } from '@cfworker/json-schema';
import type { JsonObject, JsonSchema } from '../contract/json.ts';
import type { Parsed, Schema, SchemaIssue } from '../contract/schema.ts';
import { put } from '../lib/lookup.ts';

/**
 * A server's own JSON Schema as a port: listed verbatim, compiled on the first call. The validator interprets the
 * schema; code made from a stranger's schema would run in this process.
 */
export function jsonSchema(json: JsonSchema): Schema<JsonObject> {
  let check: ((value: unknown) => SchemaIssue[]) | undefined;
  return {
    json,
    parse(value): Parsed<JsonObject> {
      if (value === null || typeof value !== 'object' || Array.isArray(value))
        return { ok: false, issues: [{ path: '', message: 'must be an object' }] };
      check ??= compile(json);
      const issues = check(value);
      return issues.length === 0 ? { ok: true, value: value as JsonObject } : { ok: false, issues };
    },
  };
}

/** Accepts every result: when it arrives the effect has happened, and refusing it would only hide that. */
export const anyResult = (json: JsonSchema = {}): Schema => ({
  json,
  parse: (value) => ({ ok: true, value }),
});

/** Top-level arguments that the schema does not declare; the server may read them all the same. */
export function undeclared({ properties }: JsonSchema, args: JsonObject): string[] {
  const known = isSchema(properties) ? properties : {};
  return Object.keys(args).filter((name) => !Object.hasOwn(known, name));
}

function compile(json: JsonSchema): (value: unknown) => SchemaIssue[] {
  let safe: JsonSchema;
  let quick: Validator;
  try {
    safe = withoutPatterns(json);
    quick = new Validator(safe, '2020-12');
  } catch {
    return () => [UNUSABLE];
  }
  const comparesItems = hasKey(json, (key) => key === 'uniqueItems');
  return (value) => {
    if (comparesItems && longestArray(value) > MAX_COMPARED) return [TOO_MANY];
    try {
      steps = 0;
      if (quick.validate(value).valid) return [];
      steps = 0;
      return toIssues(new Validator(safe, '2020-12', false).validate(value).errors);
    } catch {
      // A reference that leads nowhere or back to itself, or no end: what cannot be checked is not sent.
      return [steps > MAX_STEPS ? ENDLESS : UNUSABLE];
    }
  };
}

const unusable = (why: string): SchemaIssue => ({
  path: '',
  message: `cannot be checked because the schema of this tool ${why}`,
});
const UNUSABLE = unusable('has a reference that does not resolve');
const ENDLESS = unusable('takes too long to evaluate');
/** Items are compared each with each. */
const MAX_COMPARED = 3_000;
const TOO_MANY: SchemaIssue = { path: '', message: `have a list of more than ${MAX_COMPARED} items` };

/** Well below a second. A few references of a stranger, each used twice, take longer than the universe. */
const MAX_STEPS = 200_000;
let steps = 0;

/** The validator reads this key of every schema it enters, so that its steps are counted here. */
const COUNTED: object = Object.create(null, {
  $recursiveAnchor: {
    get() {
      steps += 1;
      if (steps > MAX_STEPS) throw new Error('too many steps');
      return undefined;
    },
  },
});

const MAPS = new Set([
  'properties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
]);
const PLAIN = new Set(['const', 'enum', 'default', 'examples']);
const isPattern = (key: string): boolean =>
  key === 'pattern' || key === 'patternProperties' || key === 'format';
/** Of another draft, or no keyword at all. */
const OTHERS = new Set(['$recursiveAnchor', '$recursiveRef', '__proto__']);

/**
 * Regular expressions of a stranger can take longer than the universe, so the server checks its own patterns. Formats
 * are annotations in 2020-12.
 */
function withoutPatterns(json: JsonSchema): JsonSchema {
  const refsAreLoose = hasKey(json, isPattern);
  const loosen = (schema: unknown): { value: unknown; loose: boolean } => {
    if (Array.isArray(schema)) {
      const all = schema.map(loosen);
      return { value: all.map(({ value }) => value), loose: all.some(({ loose }) => loose) };
    }
    if (!isSchema(schema)) return { value: schema, loose: false };
    const copy = Object.create(COUNTED) as JsonSchema;
    const loose = new Set<string>();
    for (const [key, value] of Object.entries(schema)) {
      if (isPattern(key) || (key === '$ref' && refsAreLoose)) loose.add(key);
      if (isPattern(key) || OTHERS.has(key)) continue;
      if (PLAIN.has(key)) put(copy, key, value);
      else if (MAPS.has(key) && isSchema(value)) {
        const inner = Object.entries(value).map(([name, one]) => [name, loosen(one)] as const);
        put(copy, key, Object.fromEntries(inner.map(([name, one]) => [name, one.value])));
        if (inner.some(([, one]) => one.loose)) loose.add(key);
      } else {
        const inner = loosen(value);
        put(copy, key, inner.value);
        if (inner.loose) loose.add(key);
      }
    }
    dropUncheckable(copy, loose);
    return { value: copy, loose: loose.size > 0 };
  };
  return loosen(json).value as JsonSchema;
}

/** Without its patterns a schema accepts more; where it must not match, or only once, it would refuse what is right. */
function dropUncheckable(copy: JsonSchema, loose: ReadonlySet<string>): void {
  const dropped = [
    ...(loose.has('not') ? ['not'] : []),
    ...(loose.has('if') ? ['if', 'then', 'else'] : []),
    ...(loose.has('contains') ? ['maxContains'] : []),
    ...(loose.has('patternProperties') ? ['additionalProperties'] : []),
    ...(loose.size > 0 ? ['unevaluatedProperties', 'unevaluatedItems'] : []),
  ];
  for (const key of dropped) delete copy[key];
  if (!loose.has('oneOf')) return;
  const atLeastOne = Object.assign(Object.create(COUNTED), { anyOf: copy.oneOf });
  copy.allOf = [...(Array.isArray(copy.allOf) ? copy.allOf : []), atLeastOne];
  delete copy.oneOf;
}

const hasKey = (value: unknown, wanted: (key: string) => boolean): boolean =>
  value !== null &&
  typeof value === 'object' &&
  Object.entries(value).some(([key, inner]) => wanted(key) || hasKey(inner, wanted));

function longestArray(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce<number>((most, one) => Math.max(most, longestArray(one)), own);
}

/** Keywords that only report that something below them failed. */
const OUTER = new Set([
  'properties',
  'items',
  'prefixItems',
  'allOf',
  '$ref',
  'if',
  'then',
  'else',
  'additionalProperties',
  'unevaluatedProperties',
  'dependentSchemas',
]);

function toIssues(errors: readonly OutputUnit[]): SchemaIssue[] {
  const inner = errors.filter(({ keyword }) => !OUTER.has(keyword));
  const issues = (inner.length > 0 ? inner : errors).map(toIssue);
  const known = new Set<string>();
  return issues.filter(({ path, message }) => {
    const key = `${path}\n${message}`;
    return !known.has(key) && known.add(key);
  });
}

function toIssue({ keyword, instanceLocation, error }: OutputUnit): SchemaIssue {
  const path = pathOf(instanceLocation);
  if (keyword === 'false') return { path, message: 'is not a known argument' };
  const missing = keyword === 'required' ? /"(.*)"/s.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { path: path ? `${path}.${missing}` : missing, message: 'is missing' };
  return { path, message: error.replace(/\.$/, '').replace(/^Instance /, '') };
}

/** `#/files/0/path` as a caller writes it: `files[0].path`. */
function pathOf(pointer: string): string {
  let text = '';
  for (const part of pointer.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    text += /^\d+$/.test(name) ? `[${name}]` : `${text ? '.' : ''}${name}`;
  }
  return text;
}

const isSchema = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
