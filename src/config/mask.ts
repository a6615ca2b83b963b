import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isTable } from './path.ts';
import { type Shape, shapeAt } from './shape.ts';

/** A copy in which every secret is `abcd...wxyz`; a short one would be half shown by that and is hidden whole. */
export function maskSecrets(value: unknown, shape: Shape | undefined): JsonValue {
  if (shape?.secret) return maskAll(value);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, shape?.items));
  if (isTable(value)) {
    const copy: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      if (item !== undefined) copy[key] = maskSecrets(item, shapeAt(shape, [key]));
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
