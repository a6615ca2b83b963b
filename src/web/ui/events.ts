import { useEffect, useRef, useSyncExternalStore } from 'react';
import { apiPath } from './place.ts';
import type { JsonRecord } from './session.ts';

type Listener = (data: JsonRecord) => void;

const RETRY_MS = 1000;
/** The server speaks every three seconds; silence for longer means that the line is dead although it looks open. */
const SILENCE_MS = 12_000;

const listeners = new Map<string, Set<Listener>>();
const watchers = new Set<() => void>();
let source: EventSource | undefined;
let live = false;
let heardAt = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let watchdog: ReturnType<typeof setInterval> | undefined;
/** How the server calls this page, and what the page shows. */
let listener: string | undefined;
let place: string | undefined;
let tellPlace: () => void = () => {};

function setLive(value: boolean): void {
  if (live === value) return;
  live = value;
  for (const watcher of watchers) watcher();
}

function emit(topic: string, data: JsonRecord): void {
  for (const listener of listeners.get(topic) ?? []) listener(data);
}

function listenFor(topic: string): void {
  source?.addEventListener(topic, (event) => {
    heardAt = Date.now();
    emit(topic, JSON.parse((event as MessageEvent<string>).data) as JsonRecord);
  });
}

/** Opens the one stream of this page. Whenever it comes back after a break, `reconnected` makes everyone ask again. */
export function openEvents(): void {
  if (source) return;
  connect(false);
  watchdog ??= setInterval(() => {
    if (live && Date.now() - heardAt > SILENCE_MS) reconnect();
  }, 2000);
}

export function closeEvents(): void {
  clearTimeout(retry);
  clearInterval(watchdog);
  watchdog = undefined;
  source?.close();
  source = undefined;
  setLive(false);
}

function connect(again: boolean): void {
  source = new EventSource(apiPath('/events'));
  let broken = again;
  heardAt = Date.now();
  source.addEventListener('hello', (event) => {
    heardAt = Date.now();
    listener = (JSON.parse((event as MessageEvent<string>).data) as { listener: string }).listener;
    if (place !== undefined) tellPlace();
    setLive(true);
    if (broken) emit('reconnected', {});
    broken = true;
  });
  source.addEventListener('ping', () => {
    heardAt = Date.now();
  });
  // The browser's own retries give up for good on some failures, so every break is handled here.
  source.addEventListener('error', reconnect);
  for (const topic of listeners.keys()) listenFor(topic);
}

function reconnect(): void {
  setLive(false);
  source?.close();
  clearTimeout(retry);
  retry = setTimeout(() => connect(true), RETRY_MS);
}

/** Calls back on every event of a topic; the returned function stops it. */
export function onServerEvent(topic: string, listener: Listener): () => void {
  let set = listeners.get(topic);
  if (!set) {
    set = new Set();
    listeners.set(topic, set);
    listenFor(topic);
  }
  set.add(listener);
  return () => set.delete(listener);
}

/** The same for a component; the handler may change from render to render. */
export function useServerEvent(topic: string, handler: Listener): void {
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => onServerEvent(topic, (data) => latest.current(data)), [topic]);
}

/** Called once by the application: how to tell the server what this page shows. */
export function onPlace(tell: (listener: string, place: string | undefined) => void): void {
  tellPlace = () => {
    if (listener !== undefined) tell(listener, place);
  };
}

/** While mounted, the server knows that this page shows the place: an agent that points there learns that it was seen. */
export function usePlace(shown: string | undefined): void {
  useEffect(() => {
    if (shown === undefined) return;
    place = shown;
    tellPlace();
    return () => {
      place = undefined;
      tellPlace();
    };
  }, [shown]);
}

/** Whether the page is connected to the server right now. */
export const useLive = (): boolean =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => live,
  );
