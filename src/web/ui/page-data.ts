import { useCallback, useRef } from 'react';
import type { ViewData, ViewParams, ViewSpecs } from '../../contract/view.ts';
import { ApiError, callTool, post, toApiError } from './api.ts';
import { type Query, request, useRequest } from './request.ts';
import type { Json, JsonRecord } from './session.ts';
import { useErrorToast, useToast } from './toast.tsx';

interface Reply<T> {
  readonly data: T;
}

interface ViewOptions {
  readonly topics?: readonly string[];
  readonly everyMs?: number | undefined;
  readonly asleep?: boolean;
}

function viewPath(toolkit: string, view: string, params: object): string {
  const query = Object.keys(params).length > 0 ? `?params=${encodeURIComponent(JSON.stringify(params))}` : '';
  return `/pages/${encodeURIComponent(toolkit)}/${encodeURIComponent(view)}${query}`;
}

/** The views of one toolkit for its own pages, typed by their schemas: `viewsOf<typeof views>('x')`. */
export function viewsOf<V extends ViewSpecs>(toolkit: string) {
  return {
    /** What a view shows, kept fresh; asks nothing while `asleep`. */
    useView<K extends keyof V & string>(
      view: K,
      params: ViewParams<V[K]>,
      options: ViewOptions = {},
    ): Query<ViewData<V[K]>> {
      const path = options.asleep ? undefined : viewPath(toolkit, view, params);
      const { data, ...rest } = useRequest<Reply<ViewData<V[K]>>>(path, options);
      return { ...rest, data: data?.data };
    },
    /** The same, once. */
    async readView<K extends keyof V & string>(view: K, params: ViewParams<V[K]>): Promise<ViewData<V[K]>> {
      return (await request<Reply<ViewData<V[K]>>>(viewPath(toolkit, view, params))).data;
    },
  };
}

export type Done =
  | { readonly ok: true; readonly data: Json /** The call that did it. */; readonly call: string }
  | { readonly ok: false; readonly error: ApiError };

/**
 * Runs a tool as the person, who decides by pressing the button. What went wrong is said in a toast; a window that
 * would cover it takes it instead. Pressed again while it runs, a button waits for the first press.
 */
export function useAct(
  take?: (fault: ApiError | undefined) => void,
): (tool: string, args: JsonRecord, said?: string) => Promise<Done> {
  const say = useToast();
  const describeError = useErrorToast();
  const running = useRef(new Map<string, Promise<Done>>());
  const taker = useRef(take);
  taker.current = take;
  return useCallback(
    (tool, args, said) => {
      const key = `${tool} ${JSON.stringify(args)}`;
      const before = running.current.get(key);
      if (before) return before;
      const act = async (): Promise<Done> => {
        taker.current?.(undefined);
        const done = await attempt(tool, args);
        running.current.delete(key);
        if (!done.ok) (taker.current ?? describeError)(done.error);
        else if (said) say(said, { tone: 'good' });
        return done;
      };
      const acting = act();
      running.current.set(key, acting);
      return acting;
    },
    [say, describeError],
  );
}

async function attempt(tool: string, args: JsonRecord): Promise<Done> {
  try {
    const result = await callTool(tool, args, { approve: true });
    if (result.status === 'ok') return { ok: true, data: result.data ?? null, call: result.call_id };
    const why =
      result.status === 'dry_run'
        ? 'Policy allows only a dry run; nothing was changed.'
        : (result.message ?? result.reason ?? `It was ${result.status}.`);
    const { code = result.status, hint } = result;
    return { ok: false, error: new ApiError(0, { error: why, code, ...(hint ? { hint } : {}) }) };
  } catch (error) {
    return { ok: false, error: toApiError(error) };
  }
}

export type Verdict = 'approve' | 'reject';

/** What waits in the inbox, as the person saw it: a suggestion that was edited since is not what they decide on. */
interface Waiting {
  readonly approval_id: number;
  readonly version: number;
}

/** Decides on what waits in the inbox, from the page it belongs to. A second press on the same decides nothing. */
export function useDecide(): (item: Waiting, verdict: Verdict) => Promise<boolean> {
  const describeError = useErrorToast();
  const deciding = useRef(new Set<number>());
  return useCallback(
    async ({ approval_id: id, version }, verdict) => {
      if (deciding.current.has(id)) return false;
      deciding.current.add(id);
      try {
        if (verdict === 'reject') {
          await post(`/inbox/${id}/reject`);
          return true;
        }
        const { state, result, held } = await post(`/inbox/${id}/approve`, { version });
        // What the server holds is shown above every page until it runs.
        if (state === 'done' || held) return true;
        const error = result?.message ?? `It was approved, and it is ${state}.`;
        describeError(new ApiError(0, { error, ...(result?.hint ? { hint: result.hint } : {}) }));
      } catch (error) {
        describeError(error);
      } finally {
        deciding.current.delete(id);
      }
      return false;
    },
    [describeError],
  );
}
