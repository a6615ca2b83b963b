import type { ASTNode } from '@marcbachmann/cel-js';
import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts';
import { isObject } from '../../lib/is-object.ts';
import { lookup, put } from '../../lib/lookup.ts';

/** A place where an expression reads an argument: `args.media.alt` is the path `media`, `alt`. */
export interface Access {
  readonly path: readonly string[];
  readonly position: number;
  /** The expression made sure, or copes without: has(), `.?`, or a has() that must be true to get here. */
  readonly guarded: boolean;
}

/** Every access to `args`, with what the expression already knows to be there at that point. */
export function findAccesses(root: ASTNode): readonly Access[] {
  const found: Access[] = [];
  visit(root, new Set(), found);
  return found;
}

/** Every call of a method by this name, such as `args.text.matches("a")`. */
export function findCalls(part: unknown, method: string): Extract<ASTNode, { op: 'rcall' }>[] {
  if (Array.isArray(part)) return part.flatMap((one) => findCalls(one, method));
  if (!isObject(part) || !('op' in part)) return [];
  const node = part as unknown as ASTNode;
  const inner = findCalls(node.args, method);
  return node.op === 'rcall' && node.args[0] === method ? [node, ...inner] : inner;
}

type Known = ReadonlySet<string>;

function visit(node: ASTNode, known: Known, found: Access[]): void {
  switch (node.op) {
    case 'value':
    case 'id':
      return;
    case '.':
    case '.?':
    case '[]':
    case '[?]': {
      const [receiver, key] = node.args;
      const path = pathOf(node);
      if (path) {
        const guarded = node.op === '.?' || node.op === '[?]' || known.has(path.join('.'));
        found.push({ path, position: node.range.end - (path.at(-1)?.length ?? 0), guarded });
      }
      visit(receiver, known, found);
      if (typeof key !== 'string') visit(key, known, found);
      return;
    }
    case '&&':
      visitBoth(node.args[0], node.args[1], known, true, found);
      return;
    case '||':
      visitBoth(node.args[0], node.args[1], known, false, found);
      return;
    case '?:': {
      const [test, yes, no] = node.args;
      visit(test, known, found);
      visit(yes, union(known, factsOf(test, true)), found);
      visit(no, union(known, factsOf(test, false)), found);
      return;
    }
    case 'call':
      if (node.args[0] === 'has') visitHas(node.args[1][0], known, found);
      else for (const argument of node.args[1]) visit(argument, known, found);
      return;
    case 'rcall':
      visit(node.args[1], known, found);
      for (const argument of node.args[2]) visit(argument, known, found);
      return;
    case 'map':
      for (const entry of node.args) for (const part of entry) visit(part, known, found);
      return;
    case '!_':
    case '-_':
      visit(node.args, known, found);
      return;
    default:
      for (const part of node.args) visit(part, known, found);
  }
}

/** The right side runs only once the left side is `truth`, so what that proves holds there. */
function visitBoth(left: ASTNode, right: ASTNode, known: Known, truth: boolean, found: Access[]): void {
  visit(left, known, found);
  visit(right, union(known, factsOf(left, truth)), found);
}

function visitHas(target: ASTNode | undefined, known: Known, found: Access[]): void {
  const path = target && pathOf(target);
  if (!target || !path || target.op !== '.') return;
  found.push({ path, position: target.range.end - (path.at(-1)?.length ?? 0), guarded: true });
  visit(target.args[0], known, found);
}

/** The paths that must exist when this part of the expression came out as `truth`. */
function factsOf(node: ASTNode, truth: boolean): Known {
  if (node.op === '!_') return factsOf(node.args, !truth);
  if (node.op === (truth ? '&&' : '||')) {
    return union(factsOf(node.args[0], truth), factsOf(node.args[1], truth));
  }
  if (truth && node.op === 'call' && node.args[0] === 'has') {
    const path = node.args[1][0] && pathOf(node.args[1][0]);
    if (path) return new Set([path.join('.')]);
  }
  return new Set();
}

/** The path below `args`, or undefined for anything else. */
function pathOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return node.args === 'args' ? [] : undefined;
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  const [receiver, key] = node.args;
  const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  const base = pathOf(receiver);
  return base && typeof name === 'string' ? [...base, name] : undefined;
}

const union = (a: Known, b: Known): Known => (b.size === 0 ? a : new Set([...a, ...b]));

/** A CEL type name, or the fields of a nested object. */
export type CelType = string | { readonly [field: string]: CelType };

/**
 * The CEL type of a JSON Schema; anything CEL has no word for is `dyn` and checked when it is evaluated. `only` leaves
 * out all other fields of the outermost object.
 */
export function celType(schema: unknown, only?: ReadonlySet<string>): CelType {
  if (!isObject(schema)) return 'dyn';
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
      return isObject(schema.properties) ? fieldTypes(schema.properties, only) : 'map<string, dyn>';
    default:
      return 'dyn';
  }
}

function fieldTypes(properties: JsonSchema, only: ReadonlySet<string> | undefined): CelType {
  const fields = Object.entries(properties).filter(([name]) => !only || only.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, celType(field)]));
}

export const argumentNames = ({ properties }: JsonSchema): readonly string[] =>
  isObject(properties) ? Object.keys(properties) : [];

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
    current = lookup(current, part);
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
  const properties = isObject(schema) ? schema.properties : undefined;
  const field = isObject(properties) ? lookup(properties, name) : undefined;
  if (rest.length > 0) return field === undefined || isAlwaysThere(field, rest);
  if (!isObject(schema) || !isObject(field)) return false;
  return 'default' in field || (Array.isArray(schema.required) && schema.required.includes(name));
}

/** Integers as CEL has them. Undefined when a schema holds none, so that such calls are not copied at all. */
export function integerReader(schema: unknown): ((value: JsonValue) => unknown) | undefined {
  if (!isObject(schema)) return undefined;
  if (schema.type === 'integer') {
    return (value) => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value);
  }
  if (schema.type === 'array') {
    const item = integerReader(schema.items);
    return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
  }
  if (schema.type !== 'object' || !isObject(schema.properties)) return undefined;
  const fields = Object.entries(schema.properties).flatMap(([name, field]) => {
    const read = integerReader(field);
    return read ? [{ name, read }] : [];
  });
  if (fields.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const copy: Record<string, unknown> = { ...(value as JsonObject) };
    for (const { name, read } of fields) {
      if (Object.hasOwn(copy, name)) put(copy, name, read(lookup(copy, name) as JsonValue));
    }
    return copy;
  };
}
