import { useEffect, useSyncExternalStore } from 'react';

const watchers = new Set<() => void>();
let waiting = 0;

/** Called by the shell: how many approvals wait, for the titles of all pages. */
export function setWaiting(count: number): void {
  if (count === waiting) return;
  waiting = count;
  for (const watcher of watchers) watcher();
}

/** The title of the tab: "(3) Inbox · Countersign". */
export function useTabTitle(title: string): void {
  const count = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => waiting,
  );
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Countersign`;
  }, [title, count]);
}
