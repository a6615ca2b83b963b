import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';

/** A CEL type name, or the fields of a nested object. */
export type CelType = string | { readonly [field: string]: CelType };

/**
 * The CEL type of a JSON Schema; whatever CEL has no word for is `dyn` and checked when it is evaluated. `only` leaves
 * out all other fields of the outermost object.
 */
export function celType(schema: unknown, only?: ReadonlySet<string>): CelType {
  if (!isSchema(schema)) return 'dyn';
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'array': {
      const items = celType(schema.items);
      return typeof items === 'string' ? `list<${items}>` : 'list<dyn>';
    }
    case 'object':
      return isSchema(schema.properties) ? fieldTypes(schema.properties, only) : 'map<string, dyn>';
    default:
      return 'dyn';
  }
}

function fieldTypes(properties: JsonSchema, only: ReadonlySet<string> | undefined): CelType {
  const fields = Object.entries(properties).filter(([name]) => !only || only.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, celType(field)]));
}

export const argumentNames = ({ properties }: JsonSchema): readonly string[] =>
  isSchema(properties) ? Object.keys(properties) : [];

/** The arguments of several tools as one type: a field that differs between them is `dyn`. */
export function mergeTypes(a: CelType, b: CelType): CelType {
  if (typeof a === 'string' || typeof b === 'string') return a === b ? a : 'dyn';
  const fields = new Map(Object.entries(a));
  for (const [name, type] of Object.entries(b)) {
    const known = fields.get(name);
    fields.set(name, known === undefined ? type : mergeTypes(known, type));
  }
  return Object.fromEntries(fields);
}

/** The fields of the object at a path, or undefined where the type is open. */
export function fieldsAt(type: CelType, path: readonly string[]): readonly string[] | undefined {
  let current: CelType | undefined = type;
  for (const part of path) {
    if (typeof current === 'string' || current === undefined) return undefined;
    current = Object.hasOwn(current, part) ? current[part] : undefined;
  }
  return typeof current === 'object' ? Object.keys(current) : undefined;
}

/**
 * True when an object at the parent path always holds the last name: required, or filled in by a default. Whether the
 * parent is there at all is asked of its own access.
 */
export function isAlwaysThere(schema: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  const properties = isSchema(schema) ? schema.properties : undefined;
  const field = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (rest.length > 0) return field === undefined || isAlwaysThere(field, rest);
  if (!isSchema(schema) || !isSchema(field)) return false;
  return 'default' in field || (Array.isArray(schema.required) && schema.required.includes(name));
}

/** Integers as CEL has them. Undefined when a schema holds none, so that such calls are not copied at all. */
export function integerReader(schema: unknown): ((value: JsonValue) => unknown) | undefined {
  if (!isSchema(schema)) return undefined;
  if (schema.type === 'integer') {
    return (value) => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value);
  }
  if (schema.type === 'array') {
    const item = integerReader(schema.items);
    return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
  }
  if (schema.type !== 'object' || !isSchema(schema.properties)) return undefined;
  const fields = Object.entries(schema.properties).flatMap(([name, field]) => {
    const read = integerReader(field);
    return read ? [{ name, read }] : [];
  });
  if (fields.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const copy: Record<string, unknown> = { ...(value as JsonObject) };
    for (const { name, read } of fields) {
      if (Object.hasOwn(copy, name)) copy[name] = read(copy[name] as JsonValue);
    }
    return copy;
  };
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
