import type { z } from 'zod';
import { isTable, type KeyPath } from './path.ts';

export interface UnknownKey {
  readonly path: KeyPath;
  readonly known: readonly string[];
}

/**
 * Every key the schema has no word for, at any depth. Zod drops unknown keys of an inner table that its author forgot
 * to make strict; in a configuration a dropped key is a setting that silently does nothing.
 */
export function unknownKeys(type: z.core.$ZodType, value: unknown, path: KeyPath = []): UnknownKey[] {
  const def = type._zod.def as z.core.$ZodTypes['_zod']['def'];
  switch (def.type) {
    case 'object':
      return isTable(value) ? inObject(def, value, path) : [];
    case 'array':
      return Array.isArray(value)
        ? value.flatMap((item, index) => unknownKeys(def.element, item, [...path, index]))
        : [];
    case 'record':
      return isTable(value)
        ? Object.entries(value).flatMap(([key, item]) => unknownKeys(def.valueType, item, [...path, key]))
        : [];
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
    case 'readonly':
      return unknownKeys(def.innerType, value, path);
    case 'pipe':
      return unknownKeys(def.in, value, path);
    default:
      return [];
  }
}

function inObject(def: z.core.$ZodObjectDef, value: Record<string, unknown>, path: KeyPath): UnknownKey[] {
  const known = Object.keys(def.shape);
  const open =
    def.catchall !== undefined && def.catchall._zod.def.type !== 'never' ? def.catchall : undefined;
  return Object.entries(value).flatMap(([key, item]) => {
    const inner = Object.hasOwn(def.shape, key) ? def.shape[key] : open;
    return inner ? unknownKeys(inner, item, [...path, key]) : [{ path: [...path, key], known }];
  });
}
