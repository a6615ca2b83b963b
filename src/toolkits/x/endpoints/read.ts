import { isObject } from '../../../lib/is-object.ts';
import { lookup, put } from '../../../lib/lookup.ts';
import type { Endpoint, Param } from './endpoint.ts';
import { allowedOldValues, allowedValues } from './field-values.ts';
import { problemWith, splitList } from './values.ts';

export interface IncomingRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, string>;
  /** The parsed JSON or form body; multipart parts that are files as bytes. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export interface Reading {
  /** By the table's parameter names. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly problems: readonly { readonly name: string; readonly value: string; readonly message: string }[];
}

/** The other direction of `buildRequest`: what a server makes of a request, and what it has against it. */
export function readRequest(endpoint: Endpoint, request: IncomingRequest): Reading {
  const args: Record<string, unknown> = {};
  const problems: { name: string; value: string; message: string }[] = [];
  const printStderr = (name: string, value: unknown, message: string) =>
    problems.push({ name, value: value === undefined ? '' : String(value), message });

  for (const [name, param] of Object.entries(endpoint.params)) {
    const raw = find(param, request, endpoint);
    if (raw === undefined) {
      if (param.required)
        printStderr(param.wire, undefined, `The \`${param.wire}\` ${place(param)} can not be empty`);
      continue;
    }
    const value = fromWire(param, raw, endpoint);
    const problem = problemWith(param, value);
    if (problem)
      printStderr(
        param.wire,
        raw,
        `The \`${param.wire}\` ${place(param)} value [${String(raw).slice(0, 100)}] ${problem}`,
      );
    else put(args, name, value);
  }
  const isOld = request.query.has('tweet.fields');
  for (const [key, text] of request.query) {
    const known = names(endpoint, 'query');
    const allowed = (isOld ? allowedOldValues : allowedValues)(endpoint, key);
    const stranger = allowed && splitList(text).find((value) => !allowed.includes(value));
    if (stranger !== undefined) {
      const says = `The \`${key}\` query parameter value [${stranger}] is not one of [${allowed?.join(',')}]`;
      printStderr(key, stranger, says);
    }
    if (!known.includes(key))
      printStderr(
        key,
        request.query.get(key),
        `The query parameter [${key}] is not one of [${known.join(',')}]`,
      );
  }
  for (const key of Object.keys(request.body ?? {})) {
    if (!names(endpoint, 'body').includes(key)) {
      printStderr(
        key,
        '',
        `$.${key}: is not defined in the schema and the schema does not allow additional properties`,
      );
    }
  }
  return { args, problems };
}

const place = (param: Param): string => (param.in === 'body' ? 'body field' : 'query parameter');

function names(endpoint: Endpoint, where: 'query' | 'body'): string[] {
  const own = Object.values(endpoint.params)
    .filter((param) => param.in === where)
    .map((param) => (where === 'body' ? (param.wire.split(/[.[]/)[0] ?? '') : param.wire));
  const constants = where === 'query' ? endpoint.queryConstants : endpoint.bodyConstants;
  const all = [...own, ...Object.keys(constants ?? {}), ...endpoint.others];
  return where === 'query' && all.includes('post.fields') ? [...all, 'tweet.fields'] : all;
}

function find(param: Param, request: IncomingRequest, endpoint: Endpoint): unknown {
  if (param.in === 'path') return lookup(request.path, param.wire);
  if (param.in === 'query') return request.query.get(param.wire);
  if (endpoint.encoding !== 'json') return lookup(request.body, param.wire);
  const [list, item] = param.wire.split('[].');
  let at: unknown = request.body;
  for (const step of (list ?? '').split('.')) at = isObject(at) ? lookup(at, step) : undefined;
  return item && Array.isArray(at)
    ? at.map((each) => (isObject(each) ? lookup(each, item) : undefined)).join(',')
    : at;
}

/** Query, path and form carry text only; a JSON body has its types already. */
function fromWire(param: Param, raw: unknown, endpoint: Endpoint): unknown {
  if (typeof raw !== 'string' || (param.in === 'body' && endpoint.encoding === 'json')) return raw;
  switch (param.kind) {
    case 'integer':
      return /^-?\d+$/.test(raw) ? Number(raw) : raw;
    case 'boolean':
      return raw === 'true' ? true : raw === 'false' ? false : raw;
    case 'ids':
    case 'texts':
      return splitList(raw);
    default:
      return raw;
  }
}
