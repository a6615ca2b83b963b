import type { z } from 'zod';
import type { DeepReadonly } from '../../contract/view.ts';
import type { RouteSpec, routes } from './table.ts';

// Which route of the table a path belongs to. All of it is types: nothing of it is in the bundle.

type Routes = typeof routes;
export type RouteName = keyof Routes;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The patterns of one method: `/inbox/:id`. */
type Pattern<M extends Method> = RouteName extends infer Name
  ? Name extends `${M} ${infer P}`
    ? P
    : never
  : never;

/** Segment by segment: `:id` stands for any one segment. */
type Fits<Path extends string, P extends string> = P extends `${infer Wanted}/${infer Rest}`
  ? Path extends `${infer Part}/${infer Others}`
    ? FitsPart<Part, Wanted> extends true
      ? Fits<Others, Rest>
      : false
    : false
  : Path extends `${string}/${string}`
    ? false
    : FitsPart<Path, P>;

type FitsPart<Part extends string, Wanted extends string> = Wanted extends `:${string}`
  ? true
  : Part extends Wanted | `${Wanted}?${string}` | `${Wanted}&${string}`
    ? true
    : false;

/** A pattern that is the path itself comes first: `/inbox/count` is not an `:id`. */
type Find<M extends Method, Path extends string> =
  Path extends Pattern<M> ? Path : { [P in Pattern<M>]: Fits<Path, P> extends true ? P : never }[Pattern<M>];

type RouteAt<M extends Method, Path extends string> = Path extends string
  ? Routes[`${M} ${Find<M, Path>}` & RouteName]
  : never;

/** The path itself where the table has it, or else what the table has. */
export type Known<M extends Method, Path extends string> = [Find<M, Path>] extends [never]
  ? Pattern<M>
  : Path;

/** What a page gets from the path. */
export type ReplyAt<M extends Method, Path extends string> = z.output<RouteAt<M, Path>['reply']>;

/** What a page sends to the path, as the rest of its arguments. */
export type BodyAt<M extends Method, Path extends string> = BodyOf<RouteAt<M, Path>>;

type BodyOf<R extends RouteSpec> = R extends { readonly body: infer B extends z.ZodType }
  ? Partial<z.input<B>> extends z.input<B>
    ? [body?: DeepReadonly<z.input<B>>]
    : [body: DeepReadonly<z.input<B>>]
  : [];
