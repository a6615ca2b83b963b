import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { DecisionResult, HeldItem, HoldView, Item, LastDecision } from '../../../kernel/views/shapes.ts';
import { ApiError, api, post, toApiError } from '../../ui/api.ts';
import { ErrorText } from '../../ui/notice.tsx';
import { textAt } from '../../ui/session.ts';
import { InDock, SHOWN_MS, useToast } from '../../ui/toast.tsx';
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

/** An approval as a toast names it: two posts have the same title. */
export type Named = Pick<LastDecision, 'id' | 'title' | 'gist'>;

/** An approval on its way to the server. */
interface Flight {
  readonly items: readonly HeldItem[];
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
  /** Undoes this approval, and what was remembered with it. */
  undo(named: Named, options?: { last?: boolean }): Promise<void>;
  /**
   * Acts on the person's last decision, and on nothing else: calls it off or undoes it, or says why it cannot. What has
   * run is undone only if it was named before, by a toast or as the open item; otherwise this only names it.
   */
  undoLast(open?: number): void;
  /** What this page approved last, as long as it has decided nothing else since. */
  readonly latest: number | undefined;
  /** Something else was decided on this page; only this page's labels need it. */
  decided(): void;
  /** Reports a call that was approved and remembered. */
  remembered(approved: HeldItem, standing: number, result: DecisionResult): void;
  /** What to say of the last decision where the server cannot know how it was made. */
  note(text: string): void;
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
  const flights = useRef<readonly Flight[]>([]);
  const [latest, setLatest] = useState<{ readonly id?: number; readonly at: number }>();
  /** What a toast offers to undo, and until when it is on screen. */
  const offered = useRef<{ readonly id: number; readonly until: number }>(undefined);
  const standings = useRef(new Map<number, number>());
  const noted = useRef<{ readonly text: string; readonly last: string }>(undefined);
  const isUndoing = useRef(false);
  const decided = useCallback((id?: number): void => {
    setLatest({ ...(id === undefined ? {} : { id }), at: Date.now() });
  }, []);
  const tell = useCallback<typeof say>((text, options) => say(text, { tag: 'undo', ...options }), [say]);

  const undo = useCallback(
    async (named: Named, { last = false } = {}): Promise<void> => {
      const { id } = named;
      tell(<Name say="Undoing" {...named} />);
      const standing = standings.current.get(id);
      // First, or the agent could make the same call again before it is undone.
      if (standing !== undefined) await post(`/standing/${standing}/revoke`);
      standings.current.delete(id);
      const { undone, done, of, outcome } = await post(`/inbox/${id}/undo`, { last });
      if (undone) {
        offered.current = undefined;
        setLatest((old) => (old?.id === id ? undefined : old));
        tell(<Name say={standing === undefined ? 'Undone' : 'Undone, no longer remembered'} {...named} />, {
          tone: 'good',
        });
        return;
      }
      const why = textAt(outcome, 'message') ?? textAt(outcome, 'status') ?? 'unknown';
      const far = of > 1 ? ` (${done} of ${of} calls were made)` : '';
      const hint = textAt(outcome, 'hint');
      throw new ApiError(0, { error: `Not undone${far}: ${why}`, ...(hint ? { hint } : {}) });
    },
    [tell],
  );
  const undoOrSay = useCallback(
    (named: Named, last = false): Promise<void> =>
      undo(named, { last }).catch((fault: unknown) =>
        tell(
          <div>
            <Name say="Not undone" {...named} /> <ErrorText error={toApiError(fault)} />
          </div>,
          { tone: 'bad' },
        ),
      ),
    [undo, tell],
  );

  const report = useCallback(
    async (
      approved: HeldItem,
      { state, result }: DecisionResult,
      { quiet = false, also = '' } = {},
    ): Promise<void> => {
      if (state === 'failed' || state === 'indeterminate' || result?.message) {
        const text = result?.message ?? (state === 'failed' ? 'The call failed.' : 'The outcome is unknown.');
        if (!quiet)
          say(<Problem approved={approved} text={text} hint={result?.hint} />, { tone: 'bad', stays: true });
        return;
      }
      const { id, done } = approved;
      decided(id);
      if (quiet) return;
      const item = await api(`/inbox/${id}`).catch(() => undefined);
      const named = { id, title: item?.summary ?? approved.title, gist: item?.gist ?? null };
      const canUndo = item?.undo != null && !item.undo.undone;
      if (canUndo) offered.current = { id, until: Date.now() + SHOWN_MS };
      say(
        <>
          <UntrustedText text={done} />
          {also} <Link href={`/inbox/${id}`}>Show</Link>
        </>,
        {
          tone: 'good',
          ...(canUndo ? { action: { label: 'Undo', run: () => void undoOrSay(named) } } : {}),
        },
      );
    },
    [say, undoOrSay, decided],
  );
  const note = useCallback(
    (text: string): void => {
      decided();
      api('/decisions/last').then(
        ({ last }) => {
          noted.current = { text, last: identify(last) };
        },
        () => {},
      );
    },
    [decided],
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
      note(TOGETHER);
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
    [say, note],
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
            <Name say="Called off" id={first.id} title={first.title} gist={null} /> It is still pending.{' '}
            <Link href={`/inbox/${first.id}`}>Show</Link>
          </>
        ) : (
          `Called off: ${items.length} live calls. All are still pending.`
        ),
        { tag: 'undo' },
      );
    else if (others.length > 0) sayRan(results);
    else if (result?.error !== undefined)
      sayRefused(first, result.error, result.hint, () => sendRef.current(first));
    else if (result) void report(first, result);
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
      const flight: Flight = { items, isUndone: false };
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
          else await report(approved, decided, { quiet });
          if (!decided.holds && flight.isUndone && decided.state !== 'failed')
            void undoOrSay({ id, title: approved.title, gist: null });
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

  const undoLast = useCallback(
    async (open: number | undefined): Promise<void> => {
      // What is on its way is the newest; its hold is called off as soon as it has begun.
      const flight = flights.current.at(-1);
      const [sent, ...others] = flight?.items ?? [];
      if (flight && sent) {
        flight.isUndone = true;
        const { id, title } = sent;
        tell(
          others.length > 0 ? (
            `Undoing: ${flight.items.length} approvals`
          ) : (
            <Name say="Undoing" id={id} title={title} gist={null} />
          ),
        );
        return;
      }
      if (isUndoing.current) return;
      isUndoing.current = true;
      try {
        const { last } = await api('/decisions/last');
        if (noted.current && identify(last) === noted.current.last) tell(noted.current.text);
        else if (!last) tell('Nothing to undo: you have not decided anything yet.');
        else if (last.kind === 'held' && last.hold) callOff(last.hold);
        else if (last.kind !== 'approved' || !last.undo || last.undo.undone)
          tell(<Name say={finality(last)} {...last} />);
        else if (open === last.id || (offered.current?.id === last.id && Date.now() < offered.current.until))
          await undoOrSay(last, true);
        else {
          offered.current = { id: last.id, until: Date.now() + SHOWN_MS };
          tell(<Name say="Your last decision. Press U again to undo it" {...last} />, {
            action: { label: 'Undo', run: () => void undoOrSay(last, true) },
          });
        }
      } catch (fault) {
        tell(<ErrorText error={toApiError(fault)} />, { tone: 'bad' });
      } finally {
        isUndoing.current = false;
      }
    },
    [callOff, tell, undoOrSay],
  );

  const value = useMemo<Decisions>(() => {
    const { all, waiting } = holds;
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
      undoLast: (open) => void undoLast(open),
      latest: latest?.id,
      decided: () => decided(),
      remembered(approved, standing, result) {
        standings.current.set(approved.id, standing);
        void report(approved, result, { also: '. Remembered; revoke it under Policy.' });
      },
      note,
    };
  }, [holds, sending, send, sendTogether, undo, undoLast, latest, decided, note, report]);
  const newest = value.holds.at(-1);
  const lastHold = newest && newest.until - newest.ms > (latest?.at ?? 0) ? newest.key : undefined;
  return (
    <DecisionsContext value={value}>
      {children}
      <InDock>
        {value.holds.map((one) => (
          <HoldToast
            key={one.key}
            hold={one}
            isLast={one.key === lastHold}
            onUndo={() => holds.callOff(one.key)}
            onNow={() => holds.runNow(one.key)}
          />
        ))}
      </InDock>
    </DecisionsContext>
  );
}

/** Said of a decision on several approvals, each of which was decided and ran separately. */
export const TOGETHER =
  'Your last decision was on several approvals together. Nothing was undone; open each of them under Decided to undo it.';

/** Tells one decision from the next. */
const identify = (last: LastDecision | null): string => (last ? `${last.kind} ${last.id} ${last.at}` : '');

/** Why the last decision is not undone. */
function finality({ kind, undo }: LastDecision): string {
  if (kind === 'called_off') return 'Already called off';
  if (kind === 'running') return 'Already running, and no longer on hold';
  if (kind === 'rejected') return 'A rejection cannot be undone; the agent can ask again';
  return undo ? 'Already undone' : 'This cannot be undone';
}

/** Enough to tell it from the others. */
const NAME_LENGTH = 40;
const clip = (text: string): string => {
  const letters = [...text];
  return letters.length > NAME_LENGTH ? `${letters.slice(0, NAME_LENGTH).join('')}…` : text;
};

const Name = ({ say, id, title, gist }: Named & { readonly say: string }) => (
  <>
    {say}: <UntrustedText text={gist ? `${title}, ${clip(gist)}` : title} /> (#{id}).
  </>
);

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
