import { createContext, useContext, useState } from 'react';
import { useLocation } from 'wouter';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isObject } from '../../lib/is-object.ts';
import type { Session } from '../routes/shapes.ts';

export interface SessionValue {
  readonly session: Session;
  refresh(): Promise<void>;
}

export const SessionContext = createContext<SessionValue | undefined>(undefined);

export function useSession(): SessionValue {
  const value = useContext(SessionContext);
  if (!value) throw new Error('useSession is used outside of a signed-in page.');
  return value;
}

type Theme = 'auto' | 'light' | 'dark';
const KEY = 'countersign.theme';
const ORDER: readonly Theme[] = ['auto', 'light', 'dark'];

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export function applyTheme(theme: Theme = stored()): void {
  document.documentElement.dataset.theme = theme;
}

/** The chosen look, and a function that goes to the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(stored);
  const next = (): void => {
    const chosen = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? 'auto';
    localStorage.setItem(KEY, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return [theme, next];
}

/** Where one is inside a page: `/<page>/source/3` gives `['source', '3']`, and how to go elsewhere in it. */
export function usePagePath(page: string): [readonly string[], (...parts: (string | number)[]) => void] {
  const [location, go] = useLocation();
  const parts = location
    .slice(page.length + 1)
    .split('/')
    .filter(Boolean)
    .map(decodeURIComponent);
  return [parts, (...to) => go([`/${page}`, ...to.map((part) => encodeURIComponent(part))].join('/'))];
}

export type Json = JsonValue;
export type JsonRecord = JsonObject;

export const isRecord = (value: unknown): value is JsonRecord => isObject<Json>(value);

/** The text at `key`, or nothing: replies of tools are foreign data until looked at. */
export const textAt = (value: unknown, key: string): string | undefined => {
  const found = isRecord(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
};
