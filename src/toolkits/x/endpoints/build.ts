import { lookup, put } from '../../../lib/lookup.ts';
import type { Endpoint, Param } from './endpoint.ts';
import { inDescribedSpelling } from './field-values.ts';
import { problemWith, splitList } from './values.ts';

export type WireValue = string | number | boolean | null | WireValue[] | { [key: string]: WireValue };

export interface WireRequest {
  readonly method: Endpoint['method'];
  readonly host: string;
  /** Percent-encoded. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body:
    | { readonly type: 'none' }
    | { readonly type: 'json'; readonly value: { [key: string]: WireValue } }
    | { readonly type: 'form'; readonly pairs: readonly (readonly [string, string])[] }
    | { readonly type: 'multipart'; readonly parts: readonly (readonly [string, string | Uint8Array])[] };
}

/** An argument that X would refuse, named as the caller named it. */
export class ParamError extends Error {
  readonly param: string;

  constructor(param: string, problem: string) {
    super(`${param} ${problem}`);
    this.name = 'ParamError';
    this.param = param;
  }
}

/** Puts each argument where the table says. Nothing reaches a path or a header that did not pass its pattern. */
export function buildRequest(endpoint: Endpoint, args: Readonly<Record<string, unknown>>): WireRequest {
  for (const name of Object.keys(args)) {
    if (!Object.hasOwn(endpoint.params, name))
      throw new ParamError(name, `is not a parameter of ${endpoint.id}`);
  }
  let path = endpoint.path;
  const query: [string, string][] = Object.entries(endpoint.queryConstants ?? {});
  const body: { [key: string]: WireValue } = {};
  const flat: [string, string | Uint8Array][] = [];
  for (const [wire, value] of Object.entries(endpoint.bodyConstants ?? {})) place(body, wire, value);

  for (const [name, param] of Object.entries(endpoint.params)) {
    const value = lookup(args, name) ?? param.fallback;
    if (value === undefined) {
      if (param.required || param.in === 'path') throw new ParamError(name, 'is required');
      continue;
    }
    const problem = problemWith(param, value);
    if (problem) throw new ParamError(name, problem);
    if (param.in === 'path') path = path.replace(`{${param.wire}}`, encodeURIComponent(asText(param, value)));
    else if (param.in === 'query') query.push([param.wire, asText(param, value)]);
    else if (endpoint.encoding === 'json') place(body, param.wire, asJson(param, value));
    else flat.push([param.wire, value instanceof Uint8Array ? value : asText(param, value)]);
  }
  return {
    method: endpoint.method,
    host: endpoint.host,
    path,
    query: inDescribedSpelling(endpoint, query),
    body: wrap(endpoint, body, flat),
  };
}

function wrap(
  endpoint: Endpoint,
  value: { [key: string]: WireValue },
  flat: [string, string | Uint8Array][],
): WireRequest['body'] {
  switch (endpoint.encoding) {
    case 'json':
      return { type: 'json', value };
    case 'form':
      return {
        type: 'form',
        pairs: flat.filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
      };
    case 'multipart':
      return { type: 'multipart', parts: flat };
    case 'none':
      return { type: 'none' };
  }
}

function asText(param: Param, value: unknown): string {
  if (param.kind === 'csv') return splitList(String(value)).join(',');
  if (Array.isArray(value)) return value.join(',');
  // X's Ads API refuses fractions of a second.
  if (param.kind === 'time') return `${new Date(String(value)).toISOString().slice(0, 19)}Z`;
  if (param.kind === 'username') return String(value).replace(/^@/, '');
  return String(value);
}

function asJson(param: Param, value: unknown): WireValue {
  if (param.kind === 'csv') return splitList(String(value));
  if (param.kind === 'time' || param.kind === 'username') return asText(param, value);
  return value as WireValue;
}

/** `message.attachments[].media_id` with [1, 2] becomes message: { attachments: [{ media_id: 1 }, { media_id: 2 }] }. */
function place(target: { [key: string]: WireValue }, wire: string, value: WireValue): void {
  const [list, item] = wire.split('[].');
  const steps = (list ?? wire).split('.');
  const last = steps.pop() ?? wire;
  let at = target;
  for (const step of steps) {
    const inner = (lookup(at, step) ?? {}) as { [key: string]: WireValue };
    put(at, step, inner);
    at = inner;
  }
  put(at, last, item && Array.isArray(value) ? value.map((each) => ({ [item]: each })) : value);
}
