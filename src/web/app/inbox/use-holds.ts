import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { HeldItem, HoldView } from '../../../kernel/views/shapes.ts';
import { post, useQuery } from '../../ui/api.ts';
import { useErrorToast } from '../../ui/toast.tsx';

/** A decision that the server holds or runs: on one item, or on several that were approved together. */
export interface Hold {
  readonly key: string;
  readonly items: readonly HeldItem[];
  /** By the clock of this browser. */
  readonly until: number;
  readonly ms: number;
  /** It can still be called off. */
  readonly isWaiting: boolean;
  /** This page has asked to end it. */
  readonly isEnding: boolean;
  /** Every list from now on was made after it began: if one has it not, it is gone. */
  readonly isListed: boolean;
}

interface Ends {
  /** It ran or was called off, here or on another page of the same person. */
  onEnd(hold: HoldView): void;
  /** The server no longer knows it: it has been restarted, or this page was asleep for long. */
  onLost(items: readonly HeldItem[]): void;
}

interface Holds {
  /** In the order in which they began. */
  readonly all: readonly Hold[];
  /** Those that can be called off, at this very moment. */
  waiting(): readonly Hold[];
  /** Takes in holds from the answer to an approval. */
  add(holds: readonly HoldView[]): void;
  callOff(key: string): void;
  runNow(key: string): void;
}

/** The person's holds as the server has them, wherever they began: a page that is opened later shows them too. */
export function useHolds(ends: Ends): Holds {
  const { data, refresh } = useQuery('/holds', { topics: ['holds'] });
  const describeError = useErrorToast();
  const known = useRef(new Map<string, Hold>());
  const [all, setAll] = useState<readonly Hold[]>([]);
  const latest = useRef(ends);
  useEffect(() => {
    latest.current = ends;
  });

  const put = useCallback((hold: Hold): void => {
    known.current.set(hold.key, hold);
    setAll([...known.current.values()]);
  }, []);

  useEffect(() => {
    if (!data) return;
    for (const view of data.holds) {
      const before = known.current.get(view.key);
      if (isOpen(view)) put(toHold(view, before, true));
      else if (known.current.delete(view.key)) latest.current.onEnd(view);
    }
    for (const { key, items, isListed } of known.current.values()) {
      if (!isListed || data.holds.some((one) => one.key === key)) continue;
      known.current.delete(key);
      latest.current.onLost(items);
    }
    setAll([...known.current.values()]);
  }, [data, put]);

  return useMemo(() => {
    const end = async (key: string, how: 'call-off' | 'run'): Promise<void> => {
      const hold = known.current.get(key);
      if (!hold || hold.isEnding) return;
      put({ ...hold, isEnding: true });
      try {
        await post(`/holds/${key}/${how}`);
      } catch (error) {
        const still = known.current.get(key);
        if (still) put({ ...still, isEnding: false });
        describeError(error);
      }
      await refresh();
    };
    return {
      all,
      waiting: () => [...known.current.values()].filter(isShown),
      add(views) {
        for (const view of views) put(toHold(view, known.current.get(view.key), false));
        void refresh().then(() => {
          for (const { key } of views) {
            const hold = known.current.get(key);
            if (hold) put({ ...hold, isListed: true });
          }
        });
      },
      callOff: (key) => void end(key, 'call-off'),
      runNow: (key) => void end(key, 'run'),
    };
  }, [all, put, refresh, describeError]);
}

export const isShown = ({ isWaiting, isEnding }: Hold): boolean => isWaiting && !isEnding;

const isOpen = ({ state }: HoldView): boolean => state === 'held' || state === 'running';

const toHold = (view: HoldView, before: Hold | undefined, isListed: boolean): Hold => ({
  key: view.key,
  items: view.items,
  until: before?.until ?? Date.now() + view.left_ms,
  ms: view.hold_ms,
  isWaiting: view.state === 'held',
  isEnding: before?.isEnding ?? false,
  isListed: isListed || (before?.isListed ?? false),
});
