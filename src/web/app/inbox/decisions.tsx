import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import type { Item } from '../../../kernel/views/shapes.ts';
import { ApiError, api, post, toApiError } from '../../ui/api.ts';
import { ErrorText } from '../../ui/notice.tsx';
import { type Json, textAt } from '../../ui/session.ts';
import { useToast } from '../../ui/toast.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { HoldToast } from './hold-toast.tsx';

/** How long a live call that others see, or that has no undo, can still be called off. */
const HOLD_MS = 8000;
const SHOWN_TO_OTHERS = ['post', 'message', 'reaction'];

/** What is approved: exactly this version of the item. */
export interface Approved {
  readonly id: number;
  readonly version: number;
  readonly title: string;
  readonly done: string;
  readonly hold: boolean;
}

/** One decision: on one item, or on several that were reviewed together. */
export interface Hold {
  /** Of its first item. */
  readonly key: number;
  readonly items: readonly Approved[];
  readonly until: number;
}

/** Live calls that publish or cannot be undone are held; a permit runs nothing, and a signature is deliberate. */
const isHeld = ({ kind, presentation: { kind: what, target, undo, needs_signature } }: Item): boolean =>
  kind === 'call' &&
  target.environment === 'live' &&
  !needs_signature &&
  (SHOWN_TO_OTHERS.includes(what) || undo.possible !== true);

export const toApproved = (item: Item, version = item.version): Approved => ({
  id: item.id,
  version,
  title: item.presentation.title,
  done: item.kind === 'permit' ? `Approved: ${item.presentation.title}` : item.presentation.done,
  hold: isHeld(item),
});

const toMany = (items: readonly Approved[]) => ({
  ids: items.map(({ id }) => id),
  versions: items.map(({ version }) => version),
});

interface Decided {
  readonly state: string;
  readonly result?: { readonly message?: string; readonly hint?: string } | null;
}

interface Undone {
  readonly undone: boolean;
  readonly done: number;
  readonly of: number;
  readonly outcome?: Json;
}

export interface Decisions {
  readonly holds: readonly Hold[];
  /** Approvals that are sent or held, so that no key decides on them again. */
  readonly busy: ReadonlySet<number>;
  /** Approves now or after the hold. False: it was refused, and that was said. */
  approve(approved: Approved, options?: { quiet?: boolean }): Promise<boolean>;
  /** Holds what was approved together, whatever it is. */
  holdAll(items: readonly Approved[]): void;
  /** The hold that an item is in. */
  holdOf(id: number): Hold | undefined;
  undo(id: number): Promise<void>;
  /** Calls off the newest hold, or undoes what was approved last; false where there is nothing to undo. */
  undoLast(): boolean;
}

const DecisionsContext = createContext<Decisions | undefined>(undefined);

export function useDecisions(): Decisions {
  const value = useContext(DecisionsContext);
  if (!value) throw new Error('useDecisions is used outside of the shell.');
  return value;
}

/** Decisions under way. It stands above the pages, so that going elsewhere neither loses nor repeats one. */
export function DecisionsProvider({ children }: { readonly children: ReactNode }) {
  const say = useToast();
  const [holds, setHolds] = useState<readonly Hold[]>([]);
  const [sending, setSending] = useState<ReadonlySet<number>>(new Set());
  const timers = useRef(new Map<number, { hold: Hold; timer: ReturnType<typeof setTimeout> }>());
  const last = useRef<number>(undefined);

  const undo = useCallback(
    async (id: number): Promise<void> => {
      const { undone, done, of, outcome } = await post<Undone>(`/inbox/${id}/undo`);
      if (undone) {
        if (last.current === id) last.current = undefined;
        say('Undone.', { tone: 'good' });
        return;
      }
      const why = textAt(outcome, 'message') ?? textAt(outcome, 'status') ?? 'unknown';
      const far = of > 1 ? ` (${done} of ${of} calls were made)` : '';
      const hint = textAt(outcome, 'hint');
      throw new ApiError(0, { error: `Not undone${far}: ${why}`, ...(hint ? { hint } : {}) });
    },
    [say],
  );
  const undoOrSay = useCallback(
    (id: number): void => {
      undo(id).catch((fault: unknown) => say(<ErrorText error={toApiError(fault)} />, { tone: 'bad' }));
    },
    [undo, say],
  );

  const report = useCallback(
    async (approved: Approved, { state, result }: Decided, quiet: boolean): Promise<void> => {
      if (state === 'failed' || state === 'indeterminate' || result?.message) {
        const text = result?.message ?? (state === 'failed' ? 'It failed.' : 'Its outcome is unknown.');
        if (!quiet)
          say(<Problem approved={approved} text={text} hint={result?.hint} />, { tone: 'bad', stays: true });
        return;
      }
      last.current = approved.id;
      if (quiet) return;
      const { undo: way } = await api<Item>(`/inbox/${approved.id}`).catch(() => ({ undo: null }));
      const canUndo = way !== null && !way.undone;
      say(
        <>
          <UntrustedText text={approved.done} /> <Link href={`/inbox/${approved.id}`}>Show</Link>
        </>,
        {
          tone: 'good',
          ...(canUndo ? { action: { label: 'Undo', run: () => undoOrSay(approved.id) } } : {}),
        },
      );
    },
    [say, undoOrSay],
  );

  const send = useCallback(
    async (approved: Approved, quiet: boolean): Promise<boolean> => {
      const { id, version } = approved;
      setSending((old) => new Set(old).add(id));
      try {
        await report(approved, await post<Decided>(`/inbox/${id}/approve`, { version }), quiet);
        return true;
      } catch (fault) {
        if (quiet) throw fault;
        const { message, hint } = toApiError(fault);
        say(<Problem approved={approved} text={message} hint={hint} />, {
          tone: 'bad',
          stays: true,
          action: { label: 'Try again', run: () => void send(approved, false) },
        });
        return false;
      } finally {
        setSending((old) => new Set([...old].filter((one) => one !== id)));
      }
    },
    [report, say],
  );

  const sendTogether = useCallback(
    async (items: readonly Approved[]): Promise<void> => {
      const ids = items.map(({ id }) => id);
      setSending((old) => new Set([...old, ...ids]));
      try {
        const { results } = await post<{ results: readonly Decided[] }>('/inbox/approve', toMany(items));
        const ran = results.filter(({ state }) => state === 'done').length;
        say(
          <>
            Ran {ran} of {items.length}.{' '}
            {ran < items.length ? <Link href="/">The others stay in the inbox, or failed</Link> : null}
          </>,
          { tone: ran < items.length ? 'bad' : 'good', stays: ran < items.length },
        );
      } catch (fault) {
        say(<ErrorText error={toApiError(fault)} />, { tone: 'bad', stays: true });
      } finally {
        setSending((old) => new Set([...old].filter((one) => !ids.includes(one))));
      }
    },
    [say],
  );

  const release = useCallback((key: number): Hold | undefined => {
    const held = timers.current.get(key);
    if (!held) return undefined;
    clearTimeout(held.timer);
    timers.current.delete(key);
    setHolds((old) => old.filter((one) => one.key !== key));
    return held.hold;
  }, []);
  const sendNow = useCallback(
    (key: number): void => {
      const [first, ...others] = release(key)?.items ?? [];
      if (first) void (others.length === 0 ? send(first, false) : sendTogether([first, ...others]));
    },
    [release, send, sendTogether],
  );
  const hold = useCallback(
    (items: readonly Approved[]): void => {
      const key = items[0]?.id;
      if (key === undefined) return;
      const made = { key, items, until: Date.now() + HOLD_MS };
      timers.current.set(key, { hold: made, timer: setTimeout(() => sendNow(key), HOLD_MS) });
      setHolds((old) => [...old, made]);
    },
    [sendNow],
  );
  const cancel = useCallback(
    (key: number): void => {
      const count = release(key)?.items.length ?? 0;
      if (count > 0)
        say(
          count === 1 ? (
            <>
              Not sent; it is still pending. <Link href={`/inbox/${key}`}>Show</Link>
            </>
          ) : (
            `Not sent; all ${count} are still pending.`
          ),
        );
    },
    [release, say],
  );

  // Closing the page does not call off a decision: what is held is sent on the way out.
  useEffect(() => {
    const leave = (): void => {
      for (const { hold, timer } of timers.current.values()) {
        clearTimeout(timer);
        const body = toMany(hold.items);
        void api('/inbox/approve', { method: 'POST', body, keepalive: true }).catch(() => {});
      }
      timers.current.clear();
      setHolds([]);
    };
    // A page that goes into the browser's cache is frozen in `pagehide`; a phone that ends a page has no `beforeunload`.
    const moments = ['beforeunload', 'pagehide'];
    for (const moment of moments) addEventListener(moment, leave);
    return () => {
      for (const moment of moments) removeEventListener(moment, leave);
    };
  }, []);

  const value = useMemo<Decisions>(() => {
    const holdOf = (id: number): Hold | undefined =>
      [...timers.current.values()].find(({ hold: { items } }) => items.some((one) => one.id === id))?.hold;
    return {
      holds,
      busy: new Set([...sending, ...holds.flatMap(({ items }) => items.map(({ id }) => id))]),
      async approve(approved, { quiet = false } = {}) {
        if (holdOf(approved.id)) return true;
        if (!approved.hold) return send(approved, quiet);
        hold([approved]);
        return true;
      },
      holdAll: (items) => hold(items.filter(({ id }) => !holdOf(id))),
      holdOf,
      undo,
      undoLast() {
        const newest = [...timers.current.keys()].at(-1);
        if (newest !== undefined) cancel(newest);
        else if (last.current !== undefined) undoOrSay(last.current);
        return newest !== undefined || last.current !== undefined;
      },
    };
  }, [holds, sending, send, hold, undo, undoOrSay, cancel]);
  return (
    <DecisionsContext value={value}>
      {children}
      <div className="holds">
        {holds.map((one) => (
          <HoldToast key={one.key} hold={one} onUndo={() => cancel(one.key)} onNow={() => sendNow(one.key)} />
        ))}
      </div>
    </DecisionsContext>
  );
}

const Problem = ({
  approved,
  text,
  hint,
}: {
  readonly approved: Approved;
  readonly text: string;
  readonly hint?: string | undefined;
}) => (
  <div>
    <UntrustedText text={approved.title} />: <UntrustedText text={text} />{' '}
    <Link href={`/inbox/${approved.id}`}>Show</Link>
    {hint ? <p className="small">{hint}</p> : null}
  </div>
);
