import { readFileSync } from 'node:fs';
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv';
import { ALL_ENDPOINTS } from '../../endpoints/table.ts';

export interface DescribedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** JSON text, or empty. */
  readonly body: string;
}

interface Schema {
  readonly type?: string;
  readonly [key: string]: unknown;
}

interface Operation {
  readonly path?: Readonly<Record<string, Schema>>;
  readonly query: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
}

/** Endpoints our documents have and X's description does not. */
const UNDESCRIBED: readonly string[] = ALL_ENDPOINTS.filter(({ unlisted }) => unlisted).map(
  ({ method, path }) => `${method} ${path}`,
);

/** X's description as a judge: what it has against a request. */
export function openDescription(): (request: DescribedRequest) => string[] {
  const file = JSON.parse(readFileSync('test/data/x-api/2.167-schemas.json', 'utf8')) as {
    readonly $defs: Readonly<Record<string, AnySchema>>;
    readonly operations: Readonly<Record<string, Operation>>;
  };
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const known = new Map<string, ValidateFunction>();
  const check = (key: string, schema: Schema, value: unknown): string[] => {
    const validate = known.get(key) ?? ajv.compile({ ...schema, $defs: file.$defs });
    known.set(key, validate);
    if (validate(value)) return [];
    return [`${key}: ${ajv.errorsText(validate.errors)} (${JSON.stringify(value)})`];
  };
  const operations = Object.entries(file.operations);
  return ({ method, path, query, body }) => {
    const matches = operations.flatMap(([key, operation]) => {
      const [verb, template = ''] = key.split(' ');
      const values = verb === method ? placeholders(template, path) : undefined;
      return values ? [{ key, operation, values }] : [];
    });
    // `/2/users/me` also looks like `/2/users/{id}`: the one with fewer placeholders is meant.
    const [found] = matches.sort((a, b) => Object.keys(a.values).length - Object.keys(b.values).length);
    if (!found) {
      const listed = UNDESCRIBED.some((key) => {
        const [verb, template = ''] = key.split(' ');
        return verb === method && placeholders(template, path) !== undefined;
      });
      return listed ? [] : [`${method} ${path} is not described`];
    }
    const { key, operation, values } = found;
    const says: string[] = [];
    for (const [name, text] of Object.entries(values)) {
      says.push(...check(`${key} {${name}}`, operation.path?.[name] ?? {}, text));
    }
    for (const [name, text] of query) {
      const schema = operation.query[name];
      if (!schema) says.push(`${key} has no parameter ${name}`);
      else says.push(...check(`${key} ?${name}`, schema, typed(schema, text)));
    }
    if (body !== '' && operation.body) says.push(...check(`${key} body`, operation.body, JSON.parse(body)));
    else if (body !== '') says.push(`${key} takes no JSON body`);
    return says;
  };
}

function placeholders(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [template.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (part.startsWith('{')) values[part.slice(1, -1)] = decodeURIComponent(text);
    else if (part !== text) return undefined;
  }
  return values;
}

function typed({ type }: Schema, text: string): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true';
  return type === 'array' ? text.split(',') : text;
}
