import { isObject } from '../../../lib/is-object.ts';
import { lookup, put } from '../../../lib/lookup.ts';

/** One argument as a form shows it. What a single control cannot hold is written as JSON. */
export interface FormField {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly kind: 'text' | 'number' | 'json';
  /** As shown; `values` has what is sent. */
  readonly options?: readonly string[];
  readonly values?: readonly unknown[];
}

/** A server's schema is data: what is not understood becomes a field for JSON, never an error. */
export function fieldsOf(schema: unknown): FormField[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const one = isObject(property) ? property : {};
    const base = {
      name,
      description: typeof one.description === 'string' ? one.description : '',
      required: required.includes(name),
    };
    const values = Array.isArray(one.enum) ? one.enum : one.type === 'boolean' ? [true, false] : undefined;
    if (values)
      return {
        ...base,
        kind: 'text',
        values,
        options: values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
      };
    if (one.type === 'string') return { ...base, kind: 'text' };
    if (one.type === 'number' || one.type === 'integer') return { ...base, kind: 'number' };
    return { ...base, kind: 'json' };
  });
}

/** An empty field is not sent; a required one is sent as it is, and the server's schema decides. */
export function argumentsFrom(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
): { readonly args: Record<string, unknown>; readonly problems: Record<string, string> } {
  const args: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const { name, kind, options, values: sent, required } of fields) {
    const text = lookup(values, name) ?? '';
    if (text === '' && !(required && kind === 'text' && !options)) {
      if (required) put(problems, name, 'A value is required.');
      continue;
    }
    if (options) put(args, name, sent?.[options.indexOf(text)]);
    else if (kind === 'text') put(args, name, text);
    else if (kind === 'number') put(args, name, Number(text));
    else {
      try {
        put(args, name, JSON.parse(text));
      } catch {
        put(problems, name, 'This is not valid JSON.');
      }
    }
  }
  return { args, problems };
}
