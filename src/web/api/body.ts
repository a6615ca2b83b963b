import type { Context } from 'hono';
import type { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonValue } from '../../contract/json.ts';
import { type Outcome, outcomeData } from '../../contract/outcome.ts';
import { isObject } from '../../lib/is-object.ts';
import type { ShownOutcome } from '../routes/shapes.ts';
import { hintFor } from './hints.ts';

/** The request's JSON as the schema wants it; an empty body counts as `{}`. */
export async function readJson<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await context.req.text();
  let value: unknown = {};
  try {
    if (text.trim() !== '') value = JSON.parse(text);
  } catch {
    throw new ToolError('invalid_input', 'The request is not JSON.');
  }
  return check(value, schema, 'body');
}

/** What stands behind the question mark, as the schema wants it. */
export const readQuery = <T>(context: Context, schema: z.ZodType<T>): T =>
  check(context.req.query(), schema, 'query');

function check<T>(value: unknown, schema: z.ZodType<T>, whole: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || whole}: ${message}`,
  );
  const issues = parsed.error.issues.map(({ path, message }) => ({
    field: path.map(String).join('.'),
    message,
  }));
  throw new ToolError('invalid_input', lines.join('; '), { detail: { issues } });
}

/** The outcome of a call, as a page shows it: what went wrong comes with what can be done about it. */
export function presentOutcome(outcome: Outcome): ShownOutcome {
  const data = outcomeData(outcome);
  const hint = data.code === undefined ? undefined : hintFor(data.code);
  return hint === undefined ? data : { ...data, hint };
}

/** The same for an outcome that was kept. */
export function presentStoredOutcome(kept: JsonValue | undefined): JsonValue {
  if (!isObject(kept) || typeof kept.code !== 'string') return kept ?? null;
  const hint = hintFor(kept.code);
  return hint === undefined ? kept : { ...kept, hint };
}
