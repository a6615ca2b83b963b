import { useState } from 'react';

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
