import { z } from 'zod';
import { ToolError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Principal } from './principal.ts';

/** A named read-only query for people: web pages and commands. Changes always go through a tool. */
export type View<S> = (params: JsonObject, context: ViewContext<S>) => Promise<JsonValue>;

export interface ViewContext<S> {
  readonly services: S;
  readonly person: Principal;
}

/**
 * What a view takes and gives. Specs live in a file without other imports (`toolkits/<id>/views.ts`), so that pages and
 * commands read their types without the code that answers.
 */
export interface ViewSpec<P extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly params: P;
  readonly output: O;
}

export type ViewSpecs = Readonly<Record<string, ViewSpec>>;

export const defineView = <P extends z.ZodObject, O extends z.ZodType>(spec: {
  readonly params: P;
  readonly output: O;
}): ViewSpec<P, O> => spec;

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** What a page may pass. */
export type ViewParams<V extends ViewSpec> = z.input<V['params']>;
/** What a command may pass: what a person typed is checked by the view. */
export type TypedParams<V extends ViewSpec> = {
  readonly [K in keyof ViewParams<V>]?: JsonValue | undefined;
};
/** What a page or a command gets. */
export type ViewData<V extends ViewSpec> = DeepReadonly<z.output<V['output']>>;

/** What becomes T once it is written as JSON: a moment becomes its ISO text. */
export type Written<T> = unknown extends T
  ? T
  : string extends T
    ? T | Date
    : T extends readonly (infer Item)[]
      ? readonly Written<Item>[]
      : T extends object
        ? { readonly [K in keyof T]: Written<T[K]> }
        : T;

/** The function behind a view. */
export type ViewAnswer<S, V extends ViewSpec> = (
  params: z.output<V['params']>,
  context: ViewContext<S>,
) => Promise<Written<z.input<V['output']>>>;

/** Binds the specs to the functions that answer them; parameters are checked before. */
export function serve<S, V extends ViewSpecs>(
  specs: V,
  answers: { readonly [K in keyof V]: ViewAnswer<S, V[K]> },
): Readonly<Record<keyof V, View<S>>> {
  const bind =
    <K extends keyof V>(name: K): View<S> =>
    async (params, context) => {
      const shown = await answers[name](checkParams(specs[name], params), context);
      // One pass through JSON drops what is undefined and proves the rest serialisable.
      const plain: JsonValue = JSON.parse(JSON.stringify(shown));
      return plain;
    };
  const views: Partial<Record<keyof V, View<S>>> = {};
  for (const name in specs) views[name] = bind(name);
  return views as Record<keyof V, View<S>>;
}

/** What a view gave, as its reader takes it. */
export const readShown = <V extends ViewSpec>({ output }: V, shown: JsonValue): ViewData<V> =>
  output.parse(shown) as ViewData<V>;

function checkParams<V extends ViewSpec>({ params: schema }: V, given: JsonObject): z.output<V['params']> {
  const parsed = z.strictObject(schema.shape).safeParse(given);
  if (parsed.success) return parsed.data as z.output<V['params']>;
  const lines = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'parameters'}: ${message}`,
  );
  throw new ToolError('invalid_input', lines.join('; '));
}
