import { Suspense, useCallback, useEffect, useRef } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { Empty, Skeleton } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { useKeys, useOpen } from '../../ui/keys.ts';
import { ErrorNotice } from '../../ui/notice.tsx';
import { lazyPart, preloadParts } from '../../ui/part.ts';
import { useTabTitle } from '../../ui/title.ts';
import { useDecisions } from './decisions.tsx';
import { type InboxView, useInboxView } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { ItemDetail, type ItemKeys } from './item.tsx';
import { InboxList } from './list.tsx';
import { useInbox } from './paging.ts';
import { useSelection } from './selection.ts';
import { SelectionBar } from './selection-bar.tsx';

const UnsettledCalls = lazyPart(async () => (await import('./unsettled.tsx')).UnsettledCalls);
const BulkDialog = lazyPart(async () => (await import('./bulk-dialog.tsx')).BulkDialog);
const RejectMatching = lazyPart(async () => (await import('./reject-matching.tsx')).RejectMatching);
const HelpDialog = lazyPart(async () => (await import('./help.tsx')).HelpDialog);

const ESCAPE = 'Escape';
/** Below, list and item are two screens. */
const WIDE = '(min-width: 761px)';

/** Everything that waits for the person, the most dangerous first. */
export function InboxPage() {
  const view = useInboxView();
  const inbox = useInbox(view.query);
  const selection = useSelection(inbox);
  const [, navigate] = useLocation();
  const { item } = useParams<{ item?: string }>();
  const current = item && /^\d+$/.test(item) ? Number(item) : undefined;
  const [dialog, openDialog, closeDialog] = useOpen<'approve' | 'reject' | 'help'>();
  const [filtering, openFilter, closeFilter] = useOpen<true>();
  const decisions = useDecisions();
  const itemKeys = useRef<ItemKeys>({});
  const waiting = view.shelf === 'waiting';
  useTabTitle(waiting ? 'Inbox' : 'Decided');

  // Where the open item stood: once decided it is gone from the list, and the next one is taken from there.
  const place = useRef(0);
  const at = current === undefined ? -1 : inbox.rows.findIndex((row) => row?.id === current);
  useEffect(() => {
    if (at >= 0) place.current = at;
  }, [at]);

  const open = useCallback(
    (id: number, replace = false) => navigate(`/inbox/${id}${view.search}`, { replace }),
    [navigate, view.search],
  );
  useEffect(() => {
    if (inbox.loaded) preloadParts();
  }, [inbox.loaded]);
  const first = inbox.rows[0]?.id;
  useEffect(() => {
    if (current === undefined && first !== undefined && matchMedia(WIDE).matches) open(first, true);
  }, [current, first, open]);

  const move = (step: 1 | -1): void => {
    const from = at >= 0 ? at + step : step > 0 ? place.current : place.current - 1;
    const row = inbox.rows[Math.max(0, Math.min(from, inbox.rows.length - 1))];
    if (row) open(row.id);
  };
  /** The next one that is not decided; the one before where the list ends. */
  const advance = (): boolean => {
    const from = at >= 0 ? at : place.current;
    const free = (row: (typeof inbox.rows)[number]): boolean =>
      row !== undefined && row.id !== current && row.state === 'pending' && !decisions.busy.has(row.id);
    const next = inbox.rows.slice(from).find(free) ?? inbox.rows.slice(0, from).findLast(free);
    if (!waiting || !next) return false;
    open(next.id);
    return true;
  };
  const refresh = (): void => void inbox.refresh();
  const openRow = at >= 0 ? inbox.rows[at] : undefined;
  const several = selection.size > 0;
  useKeys({
    move: { j: () => move(1), k: () => move(-1) },
    act: {
      x: () => openRow && waiting && selection.toggle(openRow, false),
      X: () => openRow && waiting && selection.toggle(openRow, true),
      f: () => openFilter(true),
      '/': () => document.getElementById('inbox-search')?.focus(),
      n: () => inbox.newer > 0 && inbox.showNewer(),
      [ESCAPE]: selection.clear,
      '?': () => openDialog('help'),
    },
    decide: {
      a: () => (several ? openDialog('approve') : itemKeys.current.approve?.()),
      r: () => (several ? openDialog('reject') : itemKeys.current.reject?.()),
      e: () => itemKeys.current.edit?.(),
      m: () => itemKeys.current.remember?.(),
    },
    undo: { u: () => decisions.undoLast(itemKeys.current.undoable) },
  });

  const done = (): void => {
    closeDialog();
    selection.clear();
    refresh();
  };
  const empty = inbox.loaded && inbox.rows.length === 0;
  const filtered = view.parts.length > 0 || view.text !== '';
  return (
    <div className={current === undefined ? 'inbox-page inbox-no-item' : 'inbox-page inbox-has-item'}>
      <header className="inbox-head">
        <h1>{waiting ? 'Inbox' : 'Decided'}</h1>
        <div className="segments">
          <button
            type="button"
            className="segment"
            aria-pressed={waiting}
            onClick={() => view.setShelf('waiting')}
          >
            Pending
          </button>
          <button
            type="button"
            className="segment"
            aria-pressed={!waiting}
            onClick={() => view.setShelf('decided')}
          >
            Decided
          </button>
        </div>
        <span className="inbox-total">
          {inbox.loaded
            ? `${inbox.rows.length.toLocaleString('en')} ${waiting ? 'pending' : 'decided'}`
            : inbox.error
              ? ''
              : 'Loading…'}
        </span>
        <span className="grow" />
        <Button small tone="quiet" shortcut="?" onClick={() => openDialog('help')}>
          Shortcuts
        </Button>
      </header>
      <ErrorNotice error={inbox.error} />
      <Suspense>
        {inbox.unsettled.length > 0 ? <UnsettledCalls calls={inbox.unsettled} onSettled={refresh} /> : null}
      </Suspense>
      {empty && current === undefined && !filtered ? (
        <NothingHere view={view} />
      ) : (
        <div className="inbox">
          <section className="inbox-side" aria-label={waiting ? 'Pending' : 'Decided'}>
            <FilterBar
              view={view}
              open={filtering ?? false}
              setOpen={(open) => (open ? openFilter(true) : closeFilter())}
            />
            {inbox.newer > 0 ? (
              <button type="button" className="inbox-newer" onClick={inbox.showNewer}>
                {inbox.newer.toLocaleString('en')} new
              </button>
            ) : null}
            {inbox.loaded ? null : <Skeleton lines={6} />}
            {empty && filtered ? (
              <Empty title="No matching approvals" icon="search">
                <p>Nothing matches these filters.</p>
              </Empty>
            ) : empty ? (
              <p className="muted pad">No other approvals.</p>
            ) : null}
            <InboxList
              inbox={inbox}
              view={view}
              current={current}
              isSelected={selection.has}
              selecting={several}
              toggle={selection.toggle}
            />
            <SelectionBar
              selection={selection}
              total={inbox.rows.length}
              selectable={waiting && inbox.rows.length > 1}
              onDecide={openDialog}
            />
          </section>
          <div className="inbox-detail">
            {current === undefined ? null : (
              <ItemDetail
                key={current}
                id={current}
                keys={itemKeys}
                place={
                  at >= 0
                    ? `${(at + 1).toLocaleString('en')} of ${inbox.rows.length.toLocaleString('en')}`
                    : ''
                }
                advance={advance}
                onDecided={refresh}
                onMove={move}
              />
            )}
          </div>
        </div>
      )}
      <Suspense>
        {dialog === 'help' ? <HelpDialog onClose={closeDialog} /> : null}
        {dialog === 'reject' && selection.matching ? (
          <RejectMatching view={view} total={selection.size} until={inbox.until} onClose={done} />
        ) : dialog === 'approve' || dialog === 'reject' ? (
          <BulkDialog
            verdict={dialog}
            items={[...selection.rows.values()]}
            matching={selection.matching ? { view, total: selection.size, until: inbox.until } : undefined}
            onClose={done}
          />
        ) : null}
      </Suspense>
    </div>
  );
}

const NothingHere = ({ view }: { readonly view: InboxView }) =>
  view.shelf === 'waiting' ? (
    <Empty title="No pending approvals" icon="inbox">
      <p>When an agent makes a call that needs your approval, it appears here immediately.</p>
      <Link href="/start">Connect an agent or try a sample approval</Link>
    </Empty>
  ) : (
    <Empty title="No decisions yet" icon="history">
      <p>Approved and rejected calls appear here with their outcome.</p>
    </Empty>
  );
