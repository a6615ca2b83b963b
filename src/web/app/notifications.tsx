import { useCallback, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { internalPath } from '../../lib/internal-path.ts';
import type { News } from '../routes/shapes.ts';
import { api } from '../ui/api.ts';
import { onServerEvent } from '../ui/events.ts';
import { Icon } from '../ui/icon.tsx';
import { useToast } from '../ui/toast.tsx';

const KEY = 'countersign.notify';
/** So many within so long are shown one by one; the rest is one line with their number. */
const MOST = 3;
const SPAN_MS = 30_000;

const isPossible = (): boolean => 'Notification' in window && 'serviceWorker' in navigator;
const isWanted = (): boolean =>
  isPossible() && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on';

/** Starts the worker that opens the app without a server and shows notifications; pages work without it. */
export function registerWorker(): void {
  if (import.meta.env.PROD && 'serviceWorker' in navigator)
    navigator.serviceWorker.register('/service-worker.js').catch(() => {});
}

/** Asks for permission on a click, never automatically, and withdraws it on another. */
export function NotifyToggle() {
  const say = useToast();
  const [on, setOn] = useState(isWanted);
  useNotifications(on);
  if (!isPossible()) return null;
  const change = async (): Promise<void> => {
    if (on) localStorage.removeItem(KEY);
    else {
      if ((await Notification.requestPermission()) !== 'granted')
        return say('This browser blocks notifications. Allow them in its settings for this page.', {
          tone: 'warn',
        });
      localStorage.setItem(KEY, 'on');
      say('You are notified of new approvals while this page is in the background.', { tone: 'good' });
    }
    setOn(!on);
  };
  return (
    <button type="button" className="shell-tool" aria-pressed={on} onClick={() => void change()}>
      <Icon name="bell" small />
      {on ? 'Notifications: on' : 'Allow notifications'}
    </button>
  );
}

function useNotifications(on: boolean): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!isPossible()) return;
    const listen = ({ data }: MessageEvent<unknown>): void => {
      const { open } = data as { open?: string };
      const path = open === undefined ? undefined : internalPath(open);
      if (path !== undefined) navigate(path);
    };
    navigator.serviceWorker.addEventListener('message', listen);
    return () => navigator.serviceWorker.removeEventListener('message', listen);
  }, [navigate]);

  const shown = useRef<readonly number[]>([]);
  const notify = useCallback(async ({ notices }: News): Promise<void> => {
    const worker = await navigator.serviceWorker.ready;
    const now = Date.now();
    shown.current = shown.current.filter((at) => now - at < SPAN_MS);
    const single = notices.slice(0, Math.max(0, MOST - shown.current.length));
    shown.current = [...shown.current, ...single.map(() => now)];
    // The tag keeps several open pages from showing the same one twice.
    for (const { id, title, requester } of single.toReversed())
      await worker.showNotification(title, {
        body: `Requested by ${requester}`,
        tag: `approval-${id}`,
        icon: '/icon-192.png',
        data: { path: `/inbox/${id}` },
      });
    if (notices.length > single.length)
      await worker.showNotification(`${notices.length - single.length} more approvals are pending`, {
        tag: 'approvals',
        icon: '/icon-192.png',
        data: { path: '/' },
      });
  }, []);

  useEffect(() => {
    if (!on) return;
    let latest: number | undefined;
    let asking = Promise.resolve();
    const ask = async (): Promise<void> => {
      const news = await api(latest === undefined ? '/notices' : `/notices?after=${latest}`);
      latest = news.latest;
      // What a person sees arrive needs no notification.
      if (document.hidden && news.notices.length > 0) await notify(news);
    };
    const next = (): void => {
      // One after the other, so that none is shown twice; a server that is away for a moment is asked again later.
      asking = asking.then(ask).catch(() => {});
    };
    next();
    return onServerEvent('approvals', next);
  }, [on, notify]);
}
