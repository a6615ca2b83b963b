import { useEffect, useRef } from 'react';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) &&
  !(target instanceof HTMLInputElement && target.type === 'checkbox');

/** Keys that only move about may be held down; a decision is one press. */
const MOVES = ['j', 'k', 'n', 'p'];

/** Single-key commands of a page. They rest while somebody types, a dialog is open or a modifier is held. */
export function useKeys(commands: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const command = latest.current[event.key];
      if (!command || (event.repeat && !MOVES.includes(event.key))) return;
      event.preventDefault();
      command(event);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
