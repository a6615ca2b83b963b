import { createContext, type RefObject, useContext, useEffect, useMemo, useRef, useState } from 'react';

/** Where a part can be opened; undefined for one that is still on its way. */
type Fold = RefObject<HTMLElement | null> | undefined;

interface Folds {
  /** Nothing is folded here: what is signed is shown whole. */
  readonly areOpen: boolean;
  add(fold: Fold): () => void;
}

interface Counts {
  readonly folded: number;
  readonly loading: number;
}

const FoldsContext = createContext<Folds>({ areOpen: false, add: () => () => {} });

/** Surrounds what a person decides on, so that parts no one has opened are known. */
export const FoldsProvider = FoldsContext.Provider;

/** Whether parts are to be shown open. */
export const useOpenFolds = (): boolean => useContext(FoldsContext).areOpen;

/** Registers a part of the content while it is not shown; the element is where it can be opened. */
export function useFold(isFolded: boolean): RefObject<HTMLButtonElement | null> {
  const ref = useRef<HTMLButtonElement>(null);
  const { add } = useContext(FoldsContext);
  useEffect(() => (isFolded ? add(ref) : undefined), [add, isFolded]);
  return ref;
}

/** Stands where content is still on its way. */
export function Unshown() {
  const { add } = useContext(FoldsContext);
  useEffect(() => add(undefined), [add]);
  return null;
}

/** What is not open yet inside of the provider that gets `value`. */
export function useFolds(areOpen = false): {
  readonly value: Folds;
  /** Parts that wait to be opened. */
  readonly folded: number;
  /** Parts that are still on their way. */
  readonly loading: number;
  /** Moves to the first part that can be opened. */
  reveal(): void;
} {
  const all = useRef<readonly { readonly fold: Fold }[]>([]);
  const [counts, setCounts] = useState<Counts>({ folded: 0, loading: 0 });
  const value = useMemo<Folds>(
    () => ({
      areOpen,
      add(fold) {
        const entry = { fold };
        const keep = (entries: typeof all.current): void => {
          all.current = entries;
          const folded = entries.filter((one) => one.fold !== undefined).length;
          setCounts({ folded, loading: entries.length - folded });
        };
        keep([...all.current, entry]);
        return () => keep(all.current.filter((one) => one !== entry));
      },
    }),
    [areOpen],
  );
  const reveal = (): void => {
    const places = all.current.flatMap(({ fold }) => (fold?.current ? [fold.current] : []));
    const [first] = places.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    first?.scrollIntoView({ block: 'center' });
    first?.focus({ preventScroll: true });
  };
  return { value, ...counts, reveal };
}

/** Why nothing was decided. */
export const foldedText = (count: number): string =>
  count === 1
    ? 'One part is not shown yet. Open it, then approve.'
    : `${count.toLocaleString('en')} parts are not shown yet. Open them, then approve.`;
