import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type ApiError, api, toApiError } from '../lib/api.ts';
import { onServerEvent } from '../lib/events.ts';
import type { Brief, InboxPageData, Unsettled } from './types.ts';

/** A screen and a half: the first answer is small, the rest comes while one scrolls. */
const PAGE = 30;
/** Many events at once (a batch of suggestions) are answered by one look. */
const SETTLE_MS = 120;

export type Shelf = 'waiting' | 'decided';
const STATES: Readonly<Record<Shelf, string>> = {
  waiting: 'pending',
  decided: 'approved,executing,done,failed,indeterminate,rejected,expired,withdrawn',
};

export interface Inbox {
  /** One place per item; undefined where it is not loaded yet. */
  readonly rows: readonly (Brief | undefined)[];
  readonly unsettled: readonly Unsettled[];
  readonly error: ApiError | undefined;
  readonly loaded: boolean;
  /** Loads what is about to be seen. */
  show(from: number, to: number): void;
  refresh(): Promise<void>;
}

/** The queue in pages: only what is on screen is loaded, and looked at again when something changes. */
export function useInbox(shelf: Shelf): Inbox {
  const [pages, setPages] = useState<ReadonlyMap<number, readonly Brief[]>>(new Map());
  const [total, setTotal] = useState(0);
  const [unsettled, setUnsettled] = useState<readonly Unsettled[]>([]);
  const [error, setError] = useState<ApiError>();
  const [loaded, setLoaded] = useState(false);
  const visible = useRef<readonly number[]>([0]);
  const turn = useRef(0);
  const asked = useRef(new Set<number>());

  const load = useCallback(
    async (page: number) => {
      const mine = turn.current;
      asked.current.add(page);
      try {
        const path = `/inbox?brief=1&state=${STATES[shelf]}&limit=${PAGE}&offset=${page * PAGE}`;
        const data = await api<InboxPageData>(path);
        if (mine !== turn.current) return;
        setTotal(data.total);
        setUnsettled(data.indeterminate);
        setPages((old) => new Map(old).set(page, data.items));
        setError(undefined);
        setLoaded(true);
      } catch (fault) {
        if (mine !== turn.current) return;
        asked.current.delete(page);
        setError(toApiError(fault));
      }
    },
    [shelf],
  );

  const refresh = useCallback(async () => {
    turn.current += 1;
    asked.current = new Set();
    const wanted = visible.current;
    await Promise.all(wanted.map(load));
    // Pages out of sight may be stale now; they are loaded again when they are scrolled to.
    setPages((old) => new Map([...old].filter(([page]) => wanted.includes(page))));
  }, [load]);

  useEffect(() => {
    visible.current = [0];
    setPages(new Map());
    setLoaded(false);
    void refresh();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void refresh(), SETTLE_MS);
    };
    const stops = ['approvals', 'calls', 'reconnected'].map((topic) => onServerEvent(topic, soon));
    return () => {
      turn.current += 1;
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [refresh]);

  const show = useCallback(
    (from: number, to: number) => {
      const first = Math.floor(Math.max(0, from) / PAGE);
      const last = Math.floor(Math.max(0, to) / PAGE);
      visible.current = Array.from({ length: last - first + 1 }, (_, index) => first + index);
      for (const page of visible.current) if (!asked.current.has(page)) void load(page);
    },
    [load],
  );

  const rows = useMemo(
    () => Array.from({ length: total }, (_, index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE]),
    [total, pages],
  );
  return { rows, unsettled, error, loaded, show, refresh };
}
