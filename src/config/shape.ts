import { z } from 'zod';
import type { ConfigSection } from '../contract/config.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { lookup, put } from '../lib/lookup.ts';
import { isTable, type KeyPath } from './path.ts';

/** The part of JSON Schema that configuration fields make use of, with our own marks. */
export interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly secret?: boolean;
  readonly tighten?: Tighten;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Shape | boolean;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

/** Which way a value may move: to true, to false, or towards the front of a list from strict to loose. */
export type Tighten = 'to-true' | 'to-false' | readonly string[];

const shapes = new WeakMap<z.ZodType, Shape>();

/** A section as plain data. Made on demand: a start without mistakes and environment never needs it. */
export function shapeOf(section: ConfigSection): Shape {
  const known = shapes.get(section.schema);
  if (known) return known;
  const options = { io: 'input', unrepresentable: 'any', reused: 'inline' } as const;
  const shape = z.toJSONSchema(section.schema, options) as Shape;
  shapes.set(section.schema, shape);
  return shape;
}

export function shapeAt(shape: Shape | undefined, path: KeyPath): Shape | undefined {
  let current = shape;
  for (const part of path) {
    if (current === undefined) return undefined;
    current = typeof part === 'number' ? current.items : childOf(current, part);
  }
  return current;
}

function childOf(shape: Shape, key: string): Shape | undefined {
  const own = lookup(shape.properties, key);
  if (own) return own;
  if (typeof shape.additionalProperties === 'object') return shape.additionalProperties;
  return variantsOf(shape)
    .map((variant) => childOf(variant, key))
    .find(Boolean);
}

export const variantsOf = (shape: Shape): readonly Shape[] => shape.anyOf ?? shape.oneOf ?? [];

/** A copy in which every secret is `abcd...wxyz`; a short one would be half shown by that and is hidden whole. */
export function maskSecrets(value: unknown, shape: Shape | undefined): JsonValue {
  if (shape?.secret) return maskAll(value);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, shape?.items));
  if (isTable(value)) {
    const copy: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      if (item !== undefined) put(copy, key, maskSecrets(item, shapeAt(shape, [key])));
    }
    return copy;
  }
  return value as JsonValue;
}

function maskAll(value: unknown): JsonValue {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(maskAll);
  if (isTable(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskAll(item)]));
  return value === undefined || value === null ? null : '****';
}

const maskText = (text: string): string =>
  text.length < 16 ? '****' : `${text.slice(0, 4)}...${text.slice(-4)}`;

/** True when `wanted` is as strict as `current` or stricter. Without a direction a value cannot be moved at all. */
export function isTighter(direction: Tighten | undefined, current: unknown, wanted: unknown): boolean {
  if (wanted === current) return true;
  if (direction === 'to-true') return wanted === true;
  if (direction === 'to-false') return wanted === false;
  if (direction === undefined || typeof wanted !== 'string' || typeof current !== 'string') return false;
  const place = direction.indexOf(wanted);
  return place >= 0 && place < direction.indexOf(current);
}
