import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { DecisionResult, HeldItem, HoldView, Item } from '../../../kernel/views/shapes.ts';
import { ApiError, api, post, toApiError } from '../../ui/api.ts';
import { ErrorText } from '../../ui/notice.tsx';
import { textAt } from '../../ui/session.ts';
import { useToast } from '../../ui/toast.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { HoldToast } from './hold-toast.tsx';
import { type Hold, isShown, useHolds } from './use-holds.ts';

/** What is approved: exactly this version of the item. */
export const toApproved = (item: Item, version = item.version): HeldItem => ({
  id: item.id,
  version,
  title: item.presentation.title,
  done: item.kind === 'permit' ? `Approved: ${item.presentation.title}` : item.presentation.done,
});

/** An approval on its way to the server. */
interface Flight {
  /** The person has pressed Undo since. */
  isUndone: boolean;
}

export interface Decisions {
  /** What the server holds and can still be called off. */
  readonly holds: readonly Hold[];
  /** Approvals that are sent, held or running, so that no key decides on them again. */
  readonly busy: ReadonlySet<number>;
  /** Approves; the server runs it now or after a hold. False: it was refused, and that was said. */
  approve(approved: HeldItem, options?: { quiet?: boolean }): Promise<boolean>;
  /** Approves several together, which the server holds together. */
  approveTogether(items: readonly HeldItem[]): Promise<void>;
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
  const [sending, setSending] = useState<ReadonlySet<number>>(new Set());
  const last = useRef<number>(undefined);
  const flights = useRef<readonly Flight[]>([]);

  const undo = useCallback(
    async (id: number): Promise<void> => {
      const { undone, done, of, outcome } = await post(`/inbox/${id}/undo`);
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
    async (approved: HeldItem, { state, result }: DecisionResult, quiet: boolean): Promise<void> => {
      if (state === 'failed' || state === 'indeterminate' || result?.message) {
        const text = result?.message ?? (state === 'failed' ? 'The call failed.' : 'The outcome is unknown.');
        if (!quiet)
          say(<Problem approved={approved} text={text} hint={result?.hint} />, { tone: 'bad', stays: true });
        return;
      }
      last.current = approved.id;
      if (quiet) return;
      const { undo: way } = await api(`/inbox/${approved.id}`).catch(() => ({ undo: null }));
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

  /** What was refused, with another try: it may have been a moment's trouble. */
  const sayRefused = useCallback(
    (approved: HeldItem, text: string, hint: string | null | undefined, again: () => void): void =>
      say(<Problem approved={approved} text={text} hint={hint ?? undefined} />, {
        tone: 'bad',
        stays: true,
        action: { label: 'Try again', run: again },
      }),
    [say],
  );
  const sayRan = useCallback(
    (results: readonly DecisionResult[]): void => {
      const ran = results.filter(({ state }) => state === 'done').length;
      const isAll = ran === results.length;
      say(
        <>
          Ran {ran} of {results.length}.{' '}
          {isAll ? null : <Link href="/">The others stay in the inbox, or failed</Link>}
        </>,
        { tone: isAll ? 'good' : 'bad', stays: !isAll },
      );
    },
    [say],
  );

  const sendRef = useRef<(approved: HeldItem) => void>(() => {});
  const onEnd = ({ state, items, results }: HoldView): void => {
    const [first, ...others] = items;
    const [result] = results;
    if (!first) return;
    if (state === 'called_off')
      say(
        others.length === 0 ? (
          <>
            Not sent; it is still pending. <Link href={`/inbox/${first.id}`}>Show</Link>
          </>
        ) : (
          `Not sent; all ${items.length} are still pending.`
        ),
      );
    else if (others.length > 0) sayRan(results);
    else if (result?.error !== undefined)
      sayRefused(first, result.error, result.hint, () => sendRef.current(first));
    else if (result) void report(first, result, false);
  };
  const onLost = (items: readonly HeldItem[]): void =>
    say(
      <>
        The server was restarted during the hold, or its result is no longer available. What did not run is
        still pending. <Link href={items.length === 1 ? `/inbox/${items[0]?.id}` : '/'}>Show</Link>
      </>,
      { tone: 'warn', stays: true },
    );
  const holds = useHolds({ onEnd, onLost });

  /** While it is sent, no key decides on it again. */
  const whileSending = useCallback(
    async <T,>(items: readonly HeldItem[], work: (flight: Flight) => Promise<T>): Promise<T> => {
      const ids = items.map(({ id }) => id);
      const flight: Flight = { isUndone: false };
      flights.current = [...flights.current, flight];
      setSending((old) => new Set([...old, ...ids]));
      try {
        return await work(flight);
      } finally {
        flights.current = flights.current.filter((one) => one !== flight);
        setSending((old) => new Set([...old].filter((one) => !ids.includes(one))));
      }
    },
    [],
  );
  const { add, callOff } = holds;
  const take = useCallback(
    (views: readonly HoldView[], { isUndone }: Flight): void => {
      add(views);
      if (isUndone) for (const { key } of views) callOff(key);
    },
    [add, callOff],
  );
  const send = useCallback(
    (approved: HeldItem, quiet: boolean): Promise<boolean> =>
      whileSending([approved], async (flight) => {
        const { id, version } = approved;
        try {
          const decided = await post(`/inbox/${id}/approve`, { version });
          if (decided.holds) take(decided.holds, flight);
          else await report(approved, decided, quiet);
          if (!decided.holds && flight.isUndone) undoOrSay(id);
          return true;
        } catch (fault) {
          if (quiet) throw fault;
          const { message, hint } = toApiError(fault);
          sayRefused(approved, message, hint, () => sendRef.current(approved));
          return false;
        }
      }),
    [take, report, sayRefused, undoOrSay, whileSending],
  );
  sendRef.current = (approved) => void send(approved, false);

  const sendTogether = useCallback(
    (items: readonly HeldItem[]): Promise<void> =>
      whileSending(items, async (flight) => {
        const body = { ids: items.map(({ id }) => id), versions: items.map(({ version }) => version) };
        try {
          const { results, holds } = await post('/inbox/approve', body);
          if (!holds) return sayRan(results);
          take(holds, flight);
          const refused = results.filter(({ error }) => error !== undefined);
          const [first] = refused;
          if (first)
            say(
              <>
                Not approved: {refused.length} of {results.length}. <UntrustedText text={first.error ?? ''} />{' '}
                <Link href={`/inbox/${first.id}`}>Show</Link>
              </>,
              { tone: 'bad', stays: true },
            );
        } catch (fault) {
          say(<ErrorText error={toApiError(fault)} />, { tone: 'bad', stays: true });
        }
      }),
    [take, say, sayRan, whileSending],
  );

  const value = useMemo<Decisions>(() => {
    const { all, waiting, callOff } = holds;
    const holdOf = (id: number): Hold | undefined =>
      waiting().find(({ items }) => items.some((one) => one.id === id));
    return {
      holds: all.filter(isShown),
      busy: new Set([...sending, ...all.flatMap(({ items }) => items.map(({ id }) => id))]),
      approve: async (approved, { quiet = false } = {}) =>
        holdOf(approved.id) !== undefined || send(approved, quiet),
      async approveTogether(items) {
        const left = items.filter(({ id }) => !holdOf(id));
        if (left.length > 0) await sendTogether(left);
      },
      holdOf,
      undo,
      undoLast() {
        // What is on its way is the newest; its hold is called off as soon as it has begun.
        const flight = flights.current.findLast(({ isUndone }) => !isUndone);
        const newest = waiting().at(-1);
        if (flight) flight.isUndone = true;
        else if (newest) callOff(newest.key);
        else if (last.current !== undefined) undoOrSay(last.current);
        return flight !== undefined || newest !== undefined || last.current !== undefined;
      },
    };
  }, [holds, sending, send, sendTogether, undo, undoOrSay]);
  return (
    <DecisionsContext value={value}>
      {children}
      <div className="holds">
        {value.holds.map((one) => (
          <HoldToast
            key={one.key}
            hold={one}
            onUndo={() => holds.callOff(one.key)}
            onNow={() => holds.runNow(one.key)}
          />
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
  readonly approved: HeldItem;
  readonly text: string;
  readonly hint?: string | undefined;
}) => (
  <div>
    <UntrustedText text={approved.title} />: <UntrustedText text={text} />{' '}
    <Link href={`/inbox/${approved.id}`}>Show</Link>
    {hint ? <p className="small">{hint}</p> : null}
  </div>
);
