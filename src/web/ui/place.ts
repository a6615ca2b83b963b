import { internalPath } from '../../lib/internal-path.ts';

const KEY = 'countersign.place';
const WANTED = 'countersign.wanted';
/** As long as a sign-in link works; later the person has gone on to something else. */
const WANTED_MS = 10 * 60 * 1000;

/** After signing in the address ends in `#s=…`: the path of this browser's session, which only this page may know. */
export function takePlace(): void {
  const place = /^#s=([\w-]{22})$/.exec(location.hash)?.[1];
  if (!place) return;
  localStorage.setItem(KEY, place);
  const here = location.pathname + location.search;
  // A link without a page of its own leads to the one that asked to sign in.
  history.replaceState(null, '', here === '/' ? (takeWanted() ?? here) : here);
}

/** Called where a page needs a person who is signed out: signing in then leads back to it. */
export function rememberWanted(): void {
  const path = internalPath(location.pathname + location.search);
  if (path !== undefined && path !== '/')
    localStorage.setItem(WANTED, JSON.stringify({ path, at: Date.now() }));
}

function takeWanted(): string | undefined {
  const stored = localStorage.getItem(WANTED);
  localStorage.removeItem(WANTED);
  try {
    const { path, at } = JSON.parse(stored ?? '') as { path: string; at: number };
    return Date.now() - at < WANTED_MS ? internalPath(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Calls back when another tab of this browser signs in. */
export function onSignedInElsewhere(handler: () => void): () => void {
  const listen = ({ key, newValue }: StorageEvent): void => {
    if (key === KEY && newValue !== null) handler();
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}

/** A request to the API, where the session's cookie goes along. `localStorage` is per port; cookies are not. */
export function apiPath(path: string): string {
  const place = localStorage.getItem(KEY);
  return place ? `/api/s/${place}${path}` : `/api${path}`;
}
