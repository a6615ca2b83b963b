import type { Context } from 'hono';
import type { z } from 'zod';
import { ToolFault } from '../../contract/faults.ts';

/** The request's JSON as the schema wants it; an empty body counts as `{}`. */
export async function readJson<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await context.req.text();
  let value: unknown = {};
  try {
    if (text.trim() !== '') value = JSON.parse(text);
  } catch {
    throw new ToolFault('invalid_input', 'The request is not JSON.');
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
  throw new ToolFault('invalid_input', lines.join('; '));
}

/** A JSON reply. Hono's own helper computes the type of every reply, which recursive JSON makes endless. */
export const send = (value: unknown, status = 200): Response => Response.json(value, { status });
