import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';
import type { FieldRow } from '../../contract/presentation.ts';
import { isObject } from '../../lib/is-object.ts';
import { lookup } from '../../lib/lookup.ts';
import { humanName } from '../../lib/words.ts';

const MAX_ROWS = 200;
const MAX_DEPTH = 6;
const SHORT_ID = 12;

/**
 * Arguments as rows that a person reads, from what the schema says about them. Nothing is left out: what would be too
 * many rows, or lies too deep for them, is one row with its JSON.
 */
export function fieldRows(args: JsonObject, schema: JsonSchema, omit: ReadonlySet<string>): FieldRow[] {
  const shown = Object.entries(args).filter(([name]) => !omit.has(name));
  const rows: FieldRow[] = [];
  for (const [at, [name, value]] of shown.entries()) {
    const left = MAX_ROWS - rows.length;
    // The last row stands for all the arguments that have none of their own.
    if (left <= 1 && at < shown.length - 1) return [...rows, moreRow(shown.slice(at))];
    const own = rowsOf(name, value, propertyOf(schema, name), 0);
    rows.push(...(own.length <= left ? own : [jsonRow(baseOf(name, propertyOf(schema, name), 0), value)]));
  }
  return rows;
}

const moreRow = (rest: readonly (readonly [string, JsonValue])[]): FieldRow =>
  jsonRow({ name: '…', label: `${rest.length} more values`, depth: 0 }, Object.fromEntries(rest));

type Base = Pick<FieldRow, 'name' | 'label' | 'depth'>;

const baseOf = (name: string, schema: JsonSchema | undefined, depth: number): Base => ({
  name,
  label: typeof schema?.title === 'string' ? schema.title : humanName(name),
  depth,
});

const jsonRow = (base: Base, value: JsonValue): FieldRow => ({
  ...base,
  type: 'code',
  text: JSON.stringify(value, null, 1),
});

function rowsOf(name: string, value: JsonValue, schema: JsonSchema | undefined, depth: number): FieldRow[] {
  const base = baseOf(name, schema, depth);
  if (value === null) return [{ ...base, type: 'none', text: 'none' }];
  if (Array.isArray(value)) return listRows(base, value, schema);
  if (isObject(value)) {
    const entries = Object.entries(value);
    if (depth >= MAX_DEPTH) return [jsonRow(base, value)];
    const text = entries.length === 1 ? '1 value' : `${entries.length} values`;
    const head: FieldRow = { ...base, type: 'group', text };
    return [head, ...entries.flatMap(([key, part]) => rowsOf(key, part, propertyOf(schema, key), depth + 1))];
  }
  return [{ ...base, ...scalar(name, value), ...departure(value, schema) }];
}

function listRows(base: Base, value: JsonValue[], schema: JsonSchema | undefined): FieldRow[] {
  if (value.length > 0 && value.length <= 8 && value.every(isListed)) {
    const parts = value.map((one) => scalar(base.name, one));
    const exact = parts.some((part) => part.exact !== undefined) ? value.map(String).join(', ') : undefined;
    return [
      { ...base, type: 'list', text: parts.map(({ text }) => text).join(', '), ...(exact ? { exact } : {}) },
    ];
  }
  if (base.depth >= MAX_DEPTH) return [jsonRow(base, value)];
  const head: FieldRow = {
    ...base,
    type: 'list',
    text: value.length === 1 ? '1 value' : `${value.length} values`,
  };
  const ofItems = schema?.items;
  const items = isObject(ofItems) ? ofItems : undefined;
  const parts = value.flatMap((one, index) => rowsOf(String(index + 1), one, items, base.depth + 1));
  return [head, ...parts];
}

/** Short enough for a row with others, and without what would make one value look like two. */
const isListed = (one: JsonValue): boolean =>
  typeof one !== 'object' && String(one).length <= 40 && !/[,\n]/u.test(String(one));

type Scalar = Pick<FieldRow, 'type' | 'text' | 'note' | 'exact'>;

function scalar(name: string, value: JsonValue): Scalar {
  if (typeof value === 'boolean') return { type: 'yes/no', text: value ? 'yes' : 'no' };
  const text = String(value);
  if (UUID.test(text) || (isIdName(name) && (DIGITS.test(text) || HEX.test(text)))) return shortId(text);
  if (typeof value === 'number') {
    const unit = durationOf(name, value);
    return { type: 'number', text: formatNumber(value), ...(unit ? { note: unit } : {}) };
  }
  const time = TIME.test(text) ? formatTime(text) : undefined;
  if (time !== undefined) return { type: 'time', text: time, exact: text };
  const isCode = /(^|_)(sql|query|statement|code|script|command|body|patch)$/iu.test(name);
  return { type: isCode && text !== '' ? 'code' : 'text', text: text === '' ? 'empty' : text };
}

/** An ID says nothing to a person beyond whether two are the same, so its ends are enough. */
function shortId(value: string): Scalar {
  if (value.length <= SHORT_ID) return { type: 'id', text: value };
  return { type: 'id', text: `${value.slice(0, 3)}…${value.slice(-4)}`, exact: value };
}

export const isIdName = (name: string): boolean =>
  /(^|[_$-])(id|ids|uuid|guid|hash|sha|salt)$|[a-z](Id|Ids)$/u.test(name);

/** A name alone makes no ID, whatever stands in such a field; digits without the name may be an amount or an account. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu;
const DIGITS = /^\d{1,40}$/u;
const HEX = /^[0-9a-f]{7,128}$/iu;

/** A point in time with its zone, to the millisecond: nothing else may stand in it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/u;

function formatTime(text: string): string | undefined {
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  const [day, time = ''] = new Date(at).toISOString().split('T');
  return `${day} ${time.replace(/(?::00)?\.000Z$|Z$/u, '')} UTC`;
}

const formatNumber = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString('en-US') : String(value);

function durationOf(name: string, value: number): string | undefined {
  const unit = /(?:_|[a-z](?=M))(ms|Ms|millis(?:econds)?)$/u.test(name)
    ? 1
    : /_(s|sec|secs|seconds)$/u.test(name)
      ? 1000
      : undefined;
  if (unit === undefined) return undefined;
  const seconds = (value * unit) / 1000;
  if (seconds < 1) return undefined;
  if (seconds < 120) return unit === 1 ? `${seconds} s` : undefined;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** A value that departs from the default is what a person should see first. */
function departure(value: JsonValue, schema: JsonSchema | undefined): Pick<FieldRow, 'note' | 'warn'> {
  if (schema === undefined || schema.default === value) return {};
  const { default: usual } = schema;
  if (typeof usual !== 'boolean' && typeof usual !== 'number' && typeof usual !== 'string') return {};
  const text = typeof usual === 'boolean' ? (usual ? 'yes' : 'no') : String(usual);
  return { note: `default is ${text === '' ? 'empty' : text}`, warn: typeof usual === 'boolean' };
}

function propertyOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const properties = schema?.properties as Record<string, JsonSchema> | undefined;
  return lookup(properties, name);
}
