import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isObject } from '../../lib/is-object.ts';

// A stored text may have been changed from outside. Each function returns undefined where it is not what its column holds.

export function parseJson(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject<JsonValue>(value) ? value : undefined;
}

export function parseTexts(text: string): string[] | undefined {
  const value = parseJson(text);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one) => typeof one === 'string');
  return texts.length === value.length ? texts : undefined;
}

export function parseDate(text: string): Date | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
