import type { BodyAt, Known, ReplyAt } from '../routes/match.ts';
import type { ToolResult } from '../routes/shapes.ts';
import { type Query, type QueryOptions, request, useRequest } from './request.ts';
import type { JsonRecord } from './session.ts';

export { ApiError, onSignedOut, setCsrf, toApiError } from './request.ts';

// The routes of the core, typed by the table in `routes/`: a misspelt path, a field that no reply has and a body that the
// server would refuse are compile errors.

/** What a GET path answers, as a type: `Reply<'/activity'>['calls'][number]`. */
export type Reply<P extends string> = ReplyAt<'GET', P>;

/** One request: `api('/inbox/count')`. */
export const api = <P extends string>(path: Known<'GET', P>): Promise<Reply<P>> => request(path);

/** The same, kept fresh. Undefined asks nothing. The old answer stays while the new one is on its way. */
export const useQuery = <P extends string>(
  path: Known<'GET', P> | undefined,
  options?: QueryOptions,
): Query<Reply<P>> => useRequest(path, options);

/** `post('/inbox/3/approve', { version: 2 })`. */
export const post = <P extends string>(
  path: Known<'POST', P>,
  ...[body]: BodyAt<'POST', P>
): Promise<ReplyAt<'POST', P>> => request(path, { method: 'POST', body: body ?? {} });

export const put = <P extends string>(
  path: Known<'PUT', P>,
  ...[body]: BodyAt<'PUT', P>
): Promise<ReplyAt<'PUT', P>> => request(path, { method: 'PUT', body });

export const remove = <P extends string>(path: Known<'DELETE', P>): Promise<ReplyAt<'DELETE', P>> =>
  request(path, { method: 'DELETE' });

/** Runs a tool as the signed-in person. With `approve`, what policy routes to approval is approved by the same press. */
export const callTool = (
  name: string,
  args: JsonRecord,
  options: { approve?: boolean } = {},
): Promise<ToolResult> =>
  post(`/tools/${encodeURIComponent(name)}`, { arguments: args, approve: options.approve ?? false });
