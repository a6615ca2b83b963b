import { z } from 'zod';
import type { JsonSchema } from '../../../contract/json.ts';
import { type Schema, zodSchema } from '../../../contract/schema.ts';
import type { Endpoint, Param } from '../endpoints/endpoint.ts';
import { problemWith } from '../endpoints/values.ts';

/** Built when a tool is first listed or called: most processes never touch most of the table. */
export function lazySchema<T>(build: () => z.ZodType<T>, io: 'input' | 'output'): Schema<T> {
  let schema: Schema<T> | undefined;
  const made = (): Schema<T> => {
    schema ??= zodSchema(build(), io);
    return schema;
  };
  return {
    get json(): JsonSchema {
      return made().json;
    },
    parse: (value) => made().parse(value),
  };
}

/** The arguments of a table-driven tool: one field per parameter, nothing else. */
export const inputOf = (endpoint: Endpoint): z.ZodObject =>
  z.strictObject(
    Object.fromEntries(Object.entries(endpoint.params).map(([name, param]) => [name, fieldOf(param)])),
  );

// Only what helps a caller choose is announced; patterns and lengths are checked all the same, with words that say
// what is wrong, and cost no tokens in every listing.
function fieldOf(param: Param): z.ZodType {
  const checked = shapeOf(param).superRefine((value, context) => {
    const problem = problemWith(param, value);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });
  const described = param.doc ? checked.describe(param.doc) : checked;
  return param.required ? described : described.optional();
}

function shapeOf(param: Param): z.ZodType {
  switch (param.kind) {
    case 'integer': {
      const whole = z.number().int();
      const bounded = param.min === undefined ? whole : whole.min(param.min);
      return param.max === undefined ? bounded : bounded.max(param.max);
    }
    case 'boolean':
      return param.values ? z.literal(param.values[0] === 'true') : z.boolean();
    case 'ids':
    case 'texts':
      return z.array(z.string());
    case 'rules':
      return z.array(z.strictObject({ value: z.string(), tag: z.string().optional() }));
    case 'text':
      return param.values ? z.enum(param.values as [string, ...string[]]) : z.string();
    default:
      return z.string();
  }
}
