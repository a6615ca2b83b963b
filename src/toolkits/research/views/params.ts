import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';

/** Query parameters arrive as text; what is wrong with them is said as it is for tools. */
export function readParams<T extends z.ZodObject>(shape: T, params: JsonObject): z.output<T> {
  const parsed = shape.safeParse(params);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'parameters'}: ${message}`,
  );
  throw new ToolFault('invalid_input', lines.join('; '));
}

export const wholeNumber = z.coerce.number().int();
