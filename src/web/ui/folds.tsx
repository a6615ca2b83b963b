import { createContext, type RefObject, useContext, useEffect, useMemo, useRef, useState } from 'react';

type Fold = RefObject<HTMLElement | null>;

interface Folds {
  /** Nothing is folded here: what is signed is shown whole. */
  readonly areOpen: boolean;
  add(fold: Fold): () => void;
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

/** Content that is still on its way counts as folded. */
export function Unshown() {
  useFold(true);
  return null;
}

/** What is not open yet inside of the provider that gets `value`. */
export function useFolds(areOpen = false): {
  readonly value: Folds;
  readonly count: number;
  /** Moves to the first part that can be opened. */
  reveal(): void;
} {
  const all = useRef(new Set<Fold>());
  const [count, setCount] = useState(0);
  const value = useMemo<Folds>(
    () => ({
      areOpen,
      add(fold) {
        all.current.add(fold);
        setCount(all.current.size);
        return () => {
          all.current.delete(fold);
          setCount(all.current.size);
        };
      },
    }),
    [areOpen],
  );
  const reveal = (): void => {
    const places = [...all.current].flatMap(({ current }) => (current ? [current] : []));
    const [first] = places.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    first?.scrollIntoView({ block: 'center' });
    first?.focus({ preventScroll: true });
  };
  return { value, count, reveal };
}

/** Why nothing was decided. */
export const foldedText = (count: number): string =>
  count === 1
    ? 'One part is not shown yet. Open it, then approve.'
    : `${count.toLocaleString('en')} parts are not shown yet. Open them, then approve.`;
