import { useCallback, useEffect, useRef, useState } from 'react';
import type { Method } from '../routes/match.ts';
import type { Session } from '../routes/shapes.ts';
import { onServerEvent } from './events.ts';
import { apiPath } from './place.ts';
import type { Json } from './session.ts';

// The server sends JSON, whose type T nothing here checks. So only two files use these helpers, and both take T from what
// the server answers by: `api.ts` from the table of routes, `page-data.ts` from the specs of a toolkit's views.

/** What the server said is wrong, in its own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly detail: Json;

  constructor(status: number, body: { error?: string; code?: string; hint?: string; detail?: Json }) {
    super(body.error ?? `The server returned HTTP ${status}.`);
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.hint = body.hint;
    this.detail = body.detail ?? null;
  }
}

/** Anything thrown, as something a page can show. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(0, { error: error instanceof Error ? error.message : String(error) });

let csrf = '';
let whenSignedOut: () => void = () => {};

/** Called once by the application: what to do when the server no longer knows this browser. */
export function onSignedOut(handler: () => void): void {
  whenSignedOut = handler;
}

export function setCsrf(token: string): void {
  csrf = token;
}

interface Options {
  readonly method?: Method;
  readonly body?: unknown;
}

async function send(path: string, { method = 'GET', body }: Options): Promise<Response> {
  try {
    return await fetch(apiPath(path), {
      method,
      credentials: 'same-origin',
      headers: {
        ...(method === 'GET' ? {} : { 'x-csrf-token': csrf }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, {
      error: 'Cannot reach the server. Is `countersign up` running?',
      code: 'offline',
    });
  }
}

/** One request to the API. */
export async function request<T>(path: string, options: Options = {}): Promise<T> {
  let response = await send(path, options);
  if (response.status === 403 && options.method && options.method !== 'GET') {
    // Another tab signed in again, which gave this browser another token.
    const session = await send('/session', {});
    if (session.ok) {
      const { csrf: current }: Session = await session.json();
      csrf = current;
      response = await send(path, options);
    }
  }
  const body: unknown = await response.json().catch(() => ({}));
  if (response.ok) return body as T;
  if (response.status === 401) whenSignedOut();
  throw new ApiError(response.status, body as { error?: string });
}

export interface Query<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  /** Asks again immediately; resolves when the answer is there. */
  refresh(): Promise<void>;
}

export interface QueryOptions {
  /** Server events that make the answer stale. A reconnected stream always does. */
  readonly topics?: readonly string[];
  /** Only for what changes elsewhere without an event: asks again after so many milliseconds while the page is visible. */
  readonly everyMs?: number | undefined;
}

/** What a GET path answers, kept fresh. Undefined asks nothing. The old answer stays while the new one is on its way. */
export function useRequest<T>(
  path: string | undefined,
  { topics = [], everyMs }: QueryOptions = {},
): Query<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: ApiError }>({});
  const turn = useRef(0);
  const wanted = useRef(path);

  const refresh = useCallback(async () => {
    // A caller that still holds the refresh of an earlier path must not bring back its answer.
    if (path === undefined || path !== wanted.current) return;
    turn.current += 1;
    const mine = turn.current;
    try {
      const data = await request<T>(path);
      if (mine === turn.current) setState({ path, data });
    } catch (error) {
      if (mine !== turn.current) return;
      const fault = toApiError(error);
      setState((old) => ({
        path,
        error: fault,
        ...(old.path === path && old.data ? { data: old.data } : {}),
      }));
    }
  }, [path]);

  const topicList = topics.join(' ');
  useEffect(() => {
    wanted.current = path;
    void refresh();
    let looking = false;
    let stale = false;
    // Events that come while the answer is on its way (a batch of suggestions) are answered by one more look.
    const look = async (): Promise<void> => {
      stale = true;
      if (looking) return;
      looking = true;
      while (stale) {
        stale = false;
        await refresh();
      }
      looking = false;
    };
    const stops = [...topicList.split(' ').filter(Boolean), 'reconnected'].map((topic) =>
      onServerEvent(topic, () => void look()),
    );
    const timer = everyMs
      ? setInterval(() => {
          if (!document.hidden) void refresh();
        }, everyMs)
      : undefined;
    return () => {
      turn.current += 1;
      for (const stop of stops) stop();
      clearInterval(timer);
    };
  }, [path, refresh, topicList, everyMs]);

  const current = state.path === path ? state : {};
  return {
    data: current.data,
    error: current.error,
    loading: path !== undefined && state.path !== path,
    refresh,
  };
}
