import { isTable } from './path.ts';
import { type Shape, variantsOf } from './shape.ts';

/**
 * Turns the text of an environment variable or a flag into the kind of value the field wants. What does not fit stays
 * text, so that the schema refuses it with its own words.
 */
export function coerce(text: string, shape: Shape | undefined): unknown {
  if (!shape) return text;
  const variants = variantsOf(shape);
  if (variants.length > 0) {
    const values = variants.map((variant) => ({ variant, value: coerce(text, variant) }));
    return values.find(({ variant, value }) => fits(value, variant))?.value ?? text;
  }
  switch (shape.type) {
    case 'boolean':
      return BOOLEANS.get(text.trim().toLowerCase()) ?? text;
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'array':
      return coerceList(text, shape.items);
    case 'object':
      return fromJson(text) ?? text;
    default:
      return text;
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

function coerceList(text: string, items: Shape | undefined): unknown {
  if (text.trimStart().startsWith('[')) return fromJson(text) ?? text;
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => coerce(part, items));
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fits(value: unknown, { type, const: only, enum: options }: Shape): boolean {
  if (only !== undefined) return value === only;
  if (options) return options.includes(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isTable(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === undefined || typeof value === type;
}
