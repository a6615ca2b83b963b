import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import type { Written } from '../../contract/view.ts';
import type { RouteName } from '../routes/match.ts';
import { type RouteSpec, routes } from '../routes/table.ts';
import type { WebEnv } from '../sign-in.ts';
import { readJson } from './body.ts';

type PathOf<Name extends string> = Name extends `${string} ${infer Path}?${string}`
  ? Path
  : Name extends `${string} ${infer Path}`
    ? Path
    : never;
type BodyOf<R extends RouteSpec> = R extends { readonly body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;

/** The function behind a route of the table; the body is checked before. */
type Answer<Name extends RouteName> = (
  context: Context<WebEnv, PathOf<Name>>,
  body: BodyOf<(typeof routes)[Name]>,
) => Answered<Name> | Promise<Answered<Name>>;

type Answered<Name extends RouteName> = Written<z.output<(typeof routes)[Name]['reply']>>;

/** Binds a route of the table to the function that answers it. One with a query leaves requests without it to others. */
export function answer<Name extends RouteName>(
  api: Hono<WebEnv>,
  name: Name,
  give: Answer<Name>,
  status: 200 | 201 = 200,
): void {
  const [method = '', pattern = ''] = name.split(' ');
  const [path = '', query = ''] = pattern.split('?');
  const [wanted = ''] = query.split('=');
  const { body: schema }: RouteSpec = routes[name];
  api.on(method, path, async (context, next) => {
    if (wanted !== '' && !context.req.query(wanted)) return next();
    // What the route's own schema checked is what its handler takes.
    const body = (schema && (await readJson(context, schema))) as BodyOf<(typeof routes)[Name]>;
    return context.body(JSON.stringify(await give(context, body)), status, {
      'content-type': 'application/json',
    });
  });
}
