import { useCallback } from 'react';
import { useToast } from '../components/toast.tsx';
import { ApiError, api, callTool, post, type Query, roomPath, useQuery } from '../lib/api.ts';
import type { Json, JsonRecord } from '../lib/json.ts';

interface Reply<T> {
  readonly data: T;
}

/** What a view of a toolkit shows, kept fresh. */
export function useView<T>(
  toolkit: string,
  view: string,
  params: JsonRecord | undefined = {},
  options: { topics?: readonly string[]; everyMs?: number; asleep?: boolean } = {},
): Query<T> {
  const path = options.asleep ? undefined : roomPath(toolkit, view, params);
  const { data, ...rest } = useQuery<Reply<T>>(path, options);
  return { ...rest, data: data?.data };
}

/** The same, once. */
export async function readView<T>(toolkit: string, view: string, params: JsonRecord): Promise<T> {
  return (await api<Reply<T>>(roomPath(toolkit, view, params))).data;
}

export type Done = { readonly ok: true; readonly data: Json } | { readonly ok: false; readonly why: string };

/** Runs a tool as the person, who decides by pressing the button; what went wrong is said in a toast as well. */
export function useAct(): (tool: string, args: JsonRecord, said?: string) => Promise<Done> {
  const say = useToast();
  return useCallback(
    async (tool, args, said) => {
      const done = await attempt(tool, args);
      if (!done.ok) say(done.why, { tone: 'bad' });
      else if (said) say(said, { tone: 'good' });
      return done;
    },
    [say],
  );
}

async function attempt(tool: string, args: JsonRecord): Promise<Done> {
  try {
    const result = await callTool(tool, args, { approve: true });
    if (result.status === 'ok') return { ok: true, data: result.data ?? null };
    if (result.status === 'dry_run')
      return { ok: false, why: 'Policy made this a dry run; nothing was changed.' };
    return { ok: false, why: result.message ?? result.reason ?? `It was ${result.status}.` };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

export type Verdict = 'approve' | 'reject';

/** Decides on what waits in the inbox, from the room it belongs to. */
export function useDecide(): (id: number, verdict: Verdict) => Promise<boolean> {
  const say = useToast();
  return useCallback(
    async (id, verdict) => {
      try {
        const decided = await post<{ state: string; result?: { message?: string } | null }>(
          `/inbox/${id}/${verdict}`,
        );
        const failed = verdict === 'approve' && decided.state !== 'done';
        if (failed)
          say(decided.result?.message ?? `It was approved, and it is ${decided.state}.`, { tone: 'bad' });
        return !failed;
      } catch (error) {
        say(messageOf(error), { tone: 'bad' });
        return false;
      }
    },
    [say],
  );
}

const messageOf = (error: unknown): string =>
  error instanceof ApiError && error.hint
    ? `${error.message} ${error.hint}`
    : error instanceof Error
      ? error.message
      : String(error);
