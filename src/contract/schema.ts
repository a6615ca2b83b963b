import { z } from 'zod';
import type { JsonSchema } from './json.ts';

export interface SchemaIssue {
  /** Where the fault is, as a caller would write it: `files[0].path`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: SchemaIssue[] };

/** The port every input and output schema implements, so that upstream JSON Schema passes on verbatim. */
export interface Schema<T = unknown> {
  readonly json: JsonSchema;
  parse(value: unknown): Parsed<T>;
}

/** Adapts zod. `json` is computed on first use: most processes never list most tools. */
export function zodSchema<T>(type: z.ZodType<T>, io: 'input' | 'output' = 'input'): Schema<T> {
  let json: JsonSchema | undefined;
  return {
    get json() {
      json ??= toJsonSchema(type, io);
      return json;
    },
    parse(value) {
      const result = type.safeParse(value, { error: wordMissing });
      if (result.success) return { ok: true, value: result.data };
      return { ok: false, issues: result.error.issues.flatMap(flattenIssue) };
    },
  };
}

function toJsonSchema(type: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // Zod announces the safe-integer range on every integer; it says nothing to a caller and costs tokens.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  }) as JsonSchema;
}

/** Zod would say what it expected of `undefined`; a caller left something out. */
const wordMissing: z.core.$ZodErrorMap = ({ code, input }) =>
  input === undefined && (code === 'invalid_type' || code === 'invalid_union') ? 'is missing' : undefined;

function flattenIssue(issue: z.core.$ZodIssue): SchemaIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: formatPath([...issue.path, key]),
      message: 'is not a known argument',
    }));
  }
  return [{ path: formatPath(issue.path), message: issue.message }];
}

function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    text += typeof part === 'number' ? `[${part}]` : `${text ? '.' : ''}${String(part)}`;
  }
  return text;
}
