import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

const loaders = new Set<() => Promise<unknown>>();

/** A part that is loaded when it is first shown, or before that, once a page has nothing else to do. */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  loaders.add(load);
  return lazy(async () => ({ default: await load() }));
}

/** Loads every part that is not there yet as soon as the browser is idle. */
export function preloadParts(): void {
  const load = (): void => {
    // One that cannot be loaded now is asked for again when it is shown.
    for (const one of loaders) void one().catch(() => {});
    loaders.clear();
  };
  if ('requestIdleCallback' in window) requestIdleCallback(load, { timeout: 2000 });
  else setTimeout(load, 500);
}
