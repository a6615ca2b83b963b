import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';
import type { FieldRow } from '../../contract/presentation.ts';
import { isObject } from '../../lib/is-object.ts';
import { lookup } from '../../lib/lookup.ts';
import { humanName } from '../../lib/words.ts';

const MAX_ROWS = 200;
const MAX_DEPTH = 6;
const SHORT_ID = 12;

/** Arguments as rows that a person reads, from what the schema says about them. */
export function fieldRows(args: JsonObject, schema: JsonSchema, omit: ReadonlySet<string>): FieldRow[] {
  const shown = Object.entries(args).filter(([name]) => !omit.has(name));
  const rows = shown.flatMap(([name, value]) => rowsOf(name, value, propertyOf(schema, name), 0));
  if (rows.length <= MAX_ROWS) return rows;
  const more = rows.length - MAX_ROWS;
  return [
    ...rows.slice(0, MAX_ROWS),
    {
      name: '…',
      label: 'More',
      depth: 0,
      type: 'none',
      text: `${more} more ${more === 1 ? 'value' : 'values'} in the exact arguments`,
    },
  ];
}

function rowsOf(name: string, value: JsonValue, schema: JsonSchema | undefined, depth: number): FieldRow[] {
  const base = { name, label: typeof schema?.title === 'string' ? schema.title : humanName(name), depth };
  if (value === null) return [{ ...base, type: 'none', text: 'none' }];
  if (Array.isArray(value)) return listRows(base, value, schema);
  if (isObject(value)) {
    const entries = Object.entries(value);
    const text = entries.length === 1 ? '1 value' : `${entries.length} values`;
    const head: FieldRow = { ...base, type: 'group', text };
    if (depth >= MAX_DEPTH) return [head];
    return [head, ...entries.flatMap(([key, part]) => rowsOf(key, part, propertyOf(schema, key), depth + 1))];
  }
  return [{ ...base, ...scalar(name, value), ...departure(value, schema) }];
}

function listRows(
  base: Pick<FieldRow, 'name' | 'label' | 'depth'>,
  value: JsonValue[],
  schema: JsonSchema | undefined,
): FieldRow[] {
  const isShort = value.every((one) => typeof one !== 'object' && String(one).length <= 40);
  if (isShort && value.length > 0 && value.length <= 8) {
    const parts = value.map((one) => scalar(base.name, one as string | number | boolean));
    const exact = parts.some((part) => part.exact !== undefined) ? value.map(String).join(', ') : undefined;
    return [
      { ...base, type: 'list', text: parts.map(({ text }) => text).join(', '), ...(exact ? { exact } : {}) },
    ];
  }
  const head: FieldRow = {
    ...base,
    type: 'list',
    text: value.length === 1 ? '1 value' : `${value.length} values`,
  };
  if (base.depth >= MAX_DEPTH) return [head];
  const ofItems = schema?.items;
  const items = isObject(ofItems) ? ofItems : undefined;
  const parts = value.flatMap((one, index) => rowsOf(String(index + 1), one, items, base.depth + 1));
  return [head, ...parts];
}

type Scalar = Pick<FieldRow, 'type' | 'text' | 'note' | 'exact'>;

function scalar(name: string, value: JsonValue): Scalar {
  if (typeof value === 'boolean') return { type: 'yes/no', text: value ? 'yes' : 'no' };
  if (isIdName(name) || (typeof value === 'string' && looksLikeId(value))) return idScalar(String(value));
  if (typeof value === 'number') {
    const unit = durationOf(name, value);
    return { type: 'number', text: formatNumber(value), ...(unit ? { note: unit } : {}) };
  }
  const text = String(value);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/u.test(text) && !Number.isNaN(Date.parse(text)))
    return {
      type: 'time',
      text: `${new Date(text).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      exact: text,
    };
  const isCode = /(^|_)(sql|query|statement|code|script|command|body|patch)$/iu.test(name);
  return { type: isCode && text !== '' ? 'code' : 'text', text: text === '' ? 'empty' : text };
}

/** An ID says nothing to a person beyond whether two are the same, so its ends are enough. */
function idScalar(value: string): Scalar {
  if (value.length <= SHORT_ID) return { type: 'id', text: value };
  return { type: 'id', text: `${value.slice(0, 3)}…${value.slice(-4)}`, exact: value };
}

const isIdName = (name: string): boolean => /(^|[_-])(id|ids|uuid|guid|hash|sha)$|[a-z](Id|Ids)$/u.test(name);

/** UUIDs, long runs of digits or hexadecimal digits, and opaque tokens with a prefix (`pi_3Nx…`). */
const looksLikeId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu.test(text) ||
  /^\d{10,}$/u.test(text) ||
  (/^[0-9a-f]{16,}$/iu.test(text) && /\d/u.test(text)) ||
  (/^[a-z]{2,8}_[A-Za-z0-9]{10,}$/u.test(text) && /\d/u.test(text) && /[A-Z]/u.test(text));

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
