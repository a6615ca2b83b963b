import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useKeys } from '../lib/keys.ts';
import { BulkDialog, type Verdict } from './bulk-dialog.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { ItemDetail, type ItemKeys } from './item.tsx';
import { InboxList } from './list.tsx';
import { type Shelf, useInbox } from './paging.ts';
import { UnsettledCalls } from './settle.tsx';
import type { Brief } from './types.ts';

const ESCAPE = 'Escape';

/** Everything that waits for the person, the most dangerous first. */
export function InboxPage() {
  const [shelf, setShelf] = useState<Shelf>('waiting');
  const inbox = useInbox(shelf);
  const [, navigate] = useLocation();
  const { item } = useParams<{ item?: string }>();
  const current = item && /^\d+$/.test(item) ? Number(item) : undefined;
  const [selected, setSelected] = useState<ReadonlyMap<number, Brief>>(new Map());
  const [dialog, setDialog] = useState<Verdict | 'help'>();
  const itemKeys = useRef<ItemKeys>({});
  // Where the open item stood: once decided it is gone from the list, and `j` goes on from there.
  const place = useRef(0);
  const at = current === undefined ? -1 : inbox.rows.findIndex((row) => row?.id === current);
  useEffect(() => {
    if (at >= 0) place.current = at;
  }, [at]);

  const open = (index: number): void => {
    const row = inbox.rows[Math.max(0, Math.min(index, inbox.rows.length - 1))];
    if (row) navigate(`/inbox/${row.id}`);
  };
  const toggle = (row: Brief): void => {
    setSelected((old) => {
      const next = new Map(old);
      if (!next.delete(row.id)) next.set(row.id, row);
      return next;
    });
  };
  const openRow = at >= 0 ? inbox.rows[at] : undefined;
  useKeys({
    j: () => open(current === undefined ? 0 : at >= 0 ? at + 1 : place.current),
    k: () => open(at >= 0 ? at - 1 : place.current - 1),
    a: () => (selected.size > 0 ? setDialog('approve') : itemKeys.current.approve?.()),
    r: () => (selected.size > 0 ? setDialog('reject') : itemKeys.current.reject?.()),
    e: () => itemKeys.current.edit?.(),
    u: () => itemKeys.current.undo?.(),
    x: () => openRow && shelf === 'waiting' && toggle(openRow),
    [ESCAPE]: () => setSelected(new Map()),
    '?': () => setDialog('help'),
  });

  const actions = (
    <>
      {selected.size > 0 ? (
        <>
          <Button small tone="primary" onClick={() => setDialog('approve')}>
            Approve {selected.size} selected
          </Button>
          <Button small tone="danger" onClick={() => setDialog('reject')}>
            Reject {selected.size} selected
          </Button>
        </>
      ) : null}
      <Button
        small
        onClick={() => {
          setShelf(shelf === 'waiting' ? 'decided' : 'waiting');
          setSelected(new Map());
        }}
      >
        {shelf === 'waiting' ? 'Show decided' : 'Show waiting'}
      </Button>
      <Button small shortcut="?" onClick={() => setDialog('help')}>
        Keys
      </Button>
    </>
  );
  return (
    <Page title={shelf === 'waiting' ? 'Inbox' : 'Decided'} actions={actions} wide>
      <ErrorNotice error={inbox.error} />
      <UnsettledCalls calls={inbox.unsettled} onSettled={() => void inbox.refresh()} />
      {inbox.loaded && inbox.rows.length === 0 && current === undefined ? (
        <NothingHere shelf={shelf} />
      ) : (
        <div className={current === undefined ? 'inbox inbox-no-item' : 'inbox inbox-has-item'}>
          <section className="inbox-side" aria-label={shelf === 'waiting' ? 'Waiting' : 'Decided'}>
            <div className="inbox-bar">
              <span>
                {inbox.loaded
                  ? `${inbox.rows.length.toLocaleString('en')} ${shelf === 'waiting' ? 'waiting' : 'decided'}`
                  : inbox.error
                    ? ''
                    : 'Loading…'}
              </span>
              {selected.size > 0 ? (
                <button type="button" className="link-button" onClick={() => setSelected(new Map())}>
                  Clear selection
                </button>
              ) : shelf === 'waiting' && inbox.rows.length > 1 ? (
                <button
                  type="button"
                  className="link-button"
                  onClick={() =>
                    setSelected(new Map(inbox.rows.flatMap((row) => (row ? [[row.id, row]] : []))))
                  }
                >
                  Select those shown
                </button>
              ) : null}
            </div>
            {inbox.loaded && inbox.rows.length === 0 ? (
              <p className="muted pad">Nothing {shelf === 'waiting' ? 'else waits' : 'is here'}.</p>
            ) : null}
            <InboxList
              inbox={inbox}
              current={current}
              selected={new Set(selected.keys())}
              selectable={shelf === 'waiting'}
              toggle={toggle}
            />
          </section>
          <div className="inbox-detail">
            {current === undefined ? (
              <Empty title="Choose an item">
                <p>
                  Press <kbd className="key">j</kbd> for the first one. Its exact arguments, who asks and why
                  are shown here.
                </p>
              </Empty>
            ) : (
              <ItemDetail key={current} id={current} keys={itemKeys} onDecided={() => void inbox.refresh()} />
            )}
          </div>
        </div>
      )}
      {dialog === 'help' ? <HelpDialog onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'approve' || dialog === 'reject' ? (
        <BulkDialog
          verdict={dialog}
          items={[...selected.values()]}
          onClose={() => {
            setDialog(undefined);
            setSelected(new Map());
            void inbox.refresh();
          }}
        />
      ) : null}
    </Page>
  );
}

const NothingHere = ({ shelf }: { readonly shelf: Shelf }) =>
  shelf === 'waiting' ? (
    <Empty title="Nothing waits for you">
      <p>When an agent asks for something that needs your word, it appears here at once.</p>
      <Link href="/start">Connect an agent, or try a first approval</Link>
    </Empty>
  ) : (
    <Empty title="Nothing was decided yet">
      <p>What you approve or reject is kept here with what came of it.</p>
    </Empty>
  );
