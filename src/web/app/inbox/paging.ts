import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Brief, InboxPageData, Unsettled } from '../../../kernel/views/shapes.ts';
import { type ApiError, api, toApiError } from '../../ui/api.ts';
import { onServerEvent } from '../../ui/events.ts';

/** A screen and a half: the first answer is small, the rest comes while one scrolls. */
const PAGE = 30;
/** Many simultaneous events (a batch of suggestions) are answered by one look. */
const SETTLE_MS = 120;

export interface Inbox {
  /** One place per item; undefined where it is not loaded yet. */
  readonly rows: readonly (Brief | undefined)[];
  readonly unsettled: readonly Unsettled[];
  /** How many stand under each heading. */
  readonly groups: InboxPageData['groups'];
  readonly error: ApiError | undefined;
  readonly loaded: boolean;
  /** How many came since the list was opened; they wait until the person asks for them. */
  readonly newer: number;
  /** The newest approval that the list may contain. */
  readonly until: number | undefined;
  /** Loads what is about to be seen. */
  show(from: number, to: number): void;
  refresh(): Promise<void>;
  /** Takes in what came since. */
  showNewer(): void;
}

/**
 * The queue in pages: only what is on screen is loaded, and looked at again when something changes. What is decided
 * leaves the list; what is new waits behind a counter, so that nothing moves under the person's hand.
 */
export function useInbox(query: string): Inbox {
  const [pages, setPages] = useState<ReadonlyMap<number, readonly Brief[]>>(new Map());
  const [total, setTotal] = useState(0);
  const [newer, setNewer] = useState(0);
  const [groups, setGroups] = useState<InboxPageData['groups']>([]);
  const [unsettled, setUnsettled] = useState<readonly Unsettled[]>([]);
  const [error, setError] = useState<ApiError>();
  /** The query whose answer is shown. */
  const [loaded, setLoaded] = useState<string>();
  const visible = useRef<readonly number[]>([0]);
  const turn = useRef(0);
  const asked = useRef(new Set<number>());
  const until = useRef<number>(undefined);

  const load = useCallback(
    async (page: number) => {
      const mine = turn.current;
      asked.current.add(page);
      try {
        const upTo = until.current === undefined ? '' : `&until=${until.current}`;
        let data = await api(`/inbox?brief=1&${query}&limit=${PAGE}&offset=${page * PAGE}${upTo}`);
        // An empty list has nothing that could move: what is new is simply shown.
        if (data.total === 0 && data.newer > 0)
          data = await api(`/inbox?brief=1&${query}&limit=${PAGE}&offset=0`);
        if (mine !== turn.current) return;
        until.current = data.as_of;
        setTotal(data.total);
        setNewer(data.newer);
        setGroups(data.groups);
        setUnsettled(data.indeterminate);
        setPages((old) => new Map(old).set(page, data.items));
        setError(undefined);
        setLoaded(query);
      } catch (fault) {
        if (mine !== turn.current) return;
        asked.current.delete(page);
        setError(toApiError(fault));
      }
    },
    [query],
  );

  const refresh = useCallback(async () => {
    turn.current += 1;
    asked.current = new Set();
    const wanted = visible.current;
    await Promise.all(wanted.map(load));
    // Pages out of sight may be stale now; they are loaded again when they are scrolled to.
    setPages((old) => new Map([...old].filter(([page]) => wanted.includes(page))));
  }, [load]);

  const start = useCallback(() => {
    visible.current = [0];
    until.current = undefined;
    setPages(new Map());
    setNewer(0);
    void refresh();
  }, [refresh]);

  useEffect(() => {
    start();
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
  }, [start, refresh]);

  const show = useCallback(
    (from: number, to: number) => {
      const first = Math.floor(Math.max(0, from) / PAGE);
      const last = Math.floor(Math.max(0, to) / PAGE);
      visible.current = Array.from({ length: last - first + 1 }, (_, index) => first + index);
      for (const page of visible.current) if (!asked.current.has(page)) void load(page);
    },
    [load],
  );

  const isLoaded = loaded === query;
  const rows = useMemo(
    () =>
      isLoaded
        ? Array.from({ length: total }, (_, index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE])
        : [],
    [isLoaded, total, pages],
  );
  return {
    rows,
    groups,
    unsettled,
    error,
    loaded: isLoaded,
    newer,
    until: until.current,
    show,
    refresh,
    showNewer: start,
  };
}
