import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

// Every shortcut goes through the one listener below. A page's keys rest from the press that opens something until it is
// closed, even while it loads, and a decision key that may have been meant for something else decides nothing.

/** A decision key this soon after another key, or after what it decides on has changed, was meant for something else. */
const REST_MS = 400;

type Command = () => void;
type Commands = Readonly<Record<string, Command>>;

interface Keys {
  /** Keys that only move about may be held down. */
  readonly move?: Commands;
  readonly act?: Commands;
  /** Decide on what is shown. */
  readonly decide?: Commands;
  /** Undo the last decision, whatever is shown. */
  readonly undo?: Commands;
}
const KINDS = ['move', 'act', 'decide', 'undo'] as const;
type Kind = (typeof KINDS)[number];

interface Scope {
  /** What Escape does where no dialog of the browser does it. */
  readonly close: Command | undefined;
}

const registered = new Set<{ readonly current: Keys }>();
/** What is open over the page, the topmost last. */
let scopes: readonly Scope[] = [];
/** When a key was pressed that was not a decision, or something was closed. */
let typedAt = Number.NEGATIVE_INFINITY;
/** Since when what is shown has been in sight long enough to be decided. */
let settledAt = 0;
let sayIgnored: (text: string) => void = () => {};

/** Says which key was ignored and why. */
export function onIgnored(listener: (text: string) => void): void {
  sayIgnored = listener;
}

/** Page keys rest until the returned function is called. */
export function openScope(close?: Command): () => void {
  const scope: Scope = { close };
  scopes = [...scopes, scope];
  return () => {
    if (!scopes.includes(scope)) return;
    scopes = scopes.filter((one) => one !== scope);
    typedAt = performance.now();
  };
}

/**
 * What is open over the page, and how to open and close it. Page keys rest from the press, not from its first paint. What is
 * no dialog is marked with `data-open`.
 */
export function useOpen<T>(): readonly [value: T | undefined, open: (value: T) => void, close: () => void] {
  const [value, setValue] = useState<T>();
  const release = useRef<Command>(undefined);
  const close = useCallback(() => {
    release.current?.();
    release.current = undefined;
    setValue(undefined);
  }, []);
  const open = useCallback(
    (wanted: T) => {
      release.current ??= openScope(close);
      setValue(() => wanted);
    },
    [close],
  );
  useEffect(() => () => release.current?.(), []);
  return [value, open, close];
}

/** Whether `shown` has been the same, and in sight, for long enough to be decided. Undefined: nothing is in sight yet. */
export function useSettled(shown: string | undefined): boolean {
  const [settled, setSettled] = useState<string>();
  useLayoutEffect(() => {
    settledAt = Number.POSITIVE_INFINITY;
    setSettled(undefined);
    const timer =
      shown === undefined
        ? undefined
        : setTimeout(() => {
            settledAt = performance.now();
            setSettled(shown);
          }, REST_MS);
    return () => {
      clearTimeout(timer);
      settledAt = 0;
    };
  }, [shown]);
  return shown !== undefined && settled === shown;
}

/** Single-key commands; `Mod+k` is Ctrl or ⌘ with K, and works while a person types as well. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  // Before the page is painted: a key belongs to what is on screen.
  useLayoutEffect(() => {
    latest.current = keys;
  });
  useLayoutEffect(() => {
    if (registered.size === 0) {
      addEventListener('keydown', listen, { capture: true });
      addEventListener('keyup', guard, { capture: true });
    }
    registered.add(latest);
    return () => {
      registered.delete(latest);
    };
  }, []);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) &&
  !(target instanceof HTMLInputElement && target.type === 'checkbox');

function find(name: string): { readonly kind: Kind; readonly run: Command } | undefined {
  for (const { current } of [...registered].reverse())
    for (const kind of KINDS) {
      const commands = current[kind];
      const run = commands && Object.hasOwn(commands, name) ? commands[name] : undefined;
      if (run) return { kind, run };
    }
  return undefined;
}

/** While something opens, the button behind it that still has the focus is not pressed by what is typed. */
function guard(event: KeyboardEvent): void {
  const { key, target } = event;
  if (!scopes.at(-1)?.close || (key !== ' ' && key !== 'Enter') || isTyping(target)) return;
  if (!(target instanceof Element && target.closest('[data-open]'))) event.preventDefault();
}

function listen(event: KeyboardEvent): void {
  guard(event);
  const { key, target, timeStamp } = event;
  // Held down on the button that opens a form, Enter would go on to submit the form.
  if (event.repeat && key === 'Enter' && !(target instanceof HTMLTextAreaElement)) {
    event.preventDefault();
    return;
  }
  const hasMod = event.ctrlKey || event.metaKey;
  const command = event.altKey ? undefined : find(hasMod ? `Mod+${key.toLowerCase()}` : key);
  const decides = command?.kind === 'decide' || command?.kind === 'undo';
  const ignore = (why: string): void => {
    typedAt = timeStamp;
    event.preventDefault();
    sayIgnored(`Ignored ${key.toUpperCase()}: ${why}`);
  };
  const top = scopes.at(-1);
  if (!command || top || (isTyping(target) && !hasMod)) {
    typedAt = timeStamp;
    if (hasMod && command) event.preventDefault();
    if (!top?.close) return;
    if (key === 'Escape') top.close();
    else if (decides && !isTyping(target)) ignore('something is open or opening. Esc closes it.');
    return;
  }
  if (event.repeat && command.kind !== 'move') {
    if (decides) ignore('it was held down. Press it again.');
    return;
  }
  if (decides) {
    const why =
      timeStamp - typedAt < REST_MS
        ? 'it came within 0.4 s of another key'
        : command.kind === 'decide' && timeStamp < settledAt
          ? 'what is shown has just changed'
          : undefined;
    if (why) {
      ignore(`${why}. Press it again.`);
      return;
    }
  } else typedAt = timeStamp;
  event.preventDefault();
  command.run();
}
