import { isObject } from './is-object.ts';
import { lookup } from './lookup.ts';

type Fields = Readonly<Record<string, unknown>>;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN = /^(?! )[\t\x20-\x7e]+(?<! )$/;
const ENCODED = /^=\?base64\?(.*)\?=$/;

/**
 * Arguments that a server's schema marks with `x-mcp-header` are repeated in headers, so that proxies on the way can
 * route by them (SEP-2243). A modern HTTP server refuses a call without them.
 */
export function paramHeaders(schema: Fields, args: Fields): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  collect(schema, args, headers);
  return Object.keys(headers).length === 0 ? undefined : headers;
}

/** The first header that does not repeat its argument; undefined when all do. Names are compared without case. */
export function wrongParamHeader(schema: Fields, args: Fields, given: Headers): string | undefined {
  const wanted = paramHeaders(schema, args) ?? {};
  for (const [name, value] of Object.entries(wanted)) {
    const shown = given.get(name);
    if (shown === null || decode(shown) !== decode(value)) return name;
  }
  const expected = new Set(Object.keys(wanted).map((name) => name.toLowerCase()));
  const declared = new Set(declaredHeaders(schema).map((name) => name.toLowerCase()));
  for (const [name] of given) if (declared.has(name) && !expected.has(name)) return name;
  return undefined;
}

function declaredHeaders(schema: Fields): string[] {
  if (!isObject(schema.properties)) return [];
  return Object.values(schema.properties).flatMap((property) => {
    if (!isObject(property)) return [];
    const header = property['x-mcp-header'];
    const own = typeof header === 'string' && TOKEN.test(header) ? [`Mcp-Param-${header}`] : [];
    return [...own, ...declaredHeaders(property)];
  });
}

/** Text that is not valid base64 or UTF-8 is what it is: it then equals no argument. */
function decode(text: string): string {
  const encoded = ENCODED.exec(text)?.[1];
  if (encoded === undefined) return text;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : text;
}

function collect(schema: Fields, args: Fields, headers: Record<string, string>): void {
  if (!isObject(schema.properties)) return;
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = lookup(args, name);
    if (!isObject(property) || value === undefined || value === null) continue;
    const header = property['x-mcp-header'];
    if (typeof header === 'string' && TOKEN.test(header)) {
      const text = textOf(value);
      if (text !== undefined) headers[`Mcp-Param-${header}`] = encode(text);
    }
    if (isObject(value)) collect(property, value, headers);
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** What a header cannot hold as it is, or what would be taken for encoded, is encoded. */
const encode = (text: string): string =>
  PLAIN.test(text) && !ENCODED.test(text)
    ? text
    : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
