import { type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import type { SignedResult } from '../../routes/shapes.ts';
import { ApiError, toApiError, useQuery } from '../../ui/api.ts';
import { Skeleton } from '../../ui/badge.tsx';
import { FoldsProvider, foldedText, useFolds } from '../../ui/folds.tsx';
import { useOpen, useSettled } from '../../ui/keys.ts';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { lazyPart } from '../../ui/part.ts';
import { useToast } from '../../ui/toast.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { useApprovalView } from '../toolkits.ts';
import { ItemBody } from './body.tsx';
import { ChangedNotice } from './changed.tsx';
import { toApproved, useDecisions } from './decisions.tsx';
import { describeUse, FactStrip, Reasons, RiskNotes } from './facts.tsx';
import { Footnotes } from './footnotes.tsx';
import { approveText, DecisionBar } from './item-bar.tsx';
import { ItemHead } from './item-head.tsx';
import { SignNotice } from './sign-notice.tsx';

const MissingItem = lazyPart(async () => (await import('./missing-item.tsx')).MissingItem);
const Outcome = lazyPart(async () => (await import('./outcome.tsx')).Outcome);
const RejectDialog = lazyPart(async () => (await import('./reject-dialog.tsx')).RejectDialog);
const EditDialog = lazyPart(async () => (await import('./edit-dialog.tsx')).EditDialog);
const RememberDialog = lazyPart(async () => (await import('./remember-dialog.tsx')).RememberDialog);
const SignDialog = lazyPart(async () => (await import('./sign-dialog.tsx')).SignDialog);

/** What the page's keys do to the open item; absent where it cannot be done now. */
export interface ItemKeys {
  approve?(): void;
  reject?(): void;
  edit?(): void;
  remember?(): void;
  /** The open item, where it can be undone. */
  undoable?: number;
}

interface Props {
  readonly id: number;
  readonly keys: RefObject<ItemKeys>;
  /** Where it stands in the list: "3 of 12". */
  readonly place: string;
  /** Opens the next item; false where there is none, and this one stays. */
  advance(): boolean;
  onDecided(): void;
  onMove(step: 1 | -1): void;
}

export function ItemDetail({ id, keys, place, advance, onDecided, onMove }: Props) {
  const { data: item, error, refresh } = useQuery(`/inbox/${id}`, { topics: ['approvals', 'holds'] });
  const view = useApprovalView(item?.toolkit);
  const [dialog, openDialog, close] = useOpen<'reject' | 'edit' | 'remember'>();
  const [busy, setBusy] = useState<'approve' | 'undo'>();
  const [problem, setProblem] = useState<ApiError>();
  /** The version that is being signed. */
  const [signing, openSigning, closeSigning] = useOpen<number>();
  const folds = useFolds();
  /** The version that the person has read. */
  const [read, setRead] = useState<number>();
  const acting = useRef(false);
  const say = useToast();
  const decisions = useDecisions();
  const held = decisions.holdOf(id);

  const version = item?.version;
  useEffect(() => {
    if (version === undefined) return;
    setRead((old) => old ?? version);
  }, [version]);
  // Its content may have a part of its own that is still on its way.
  const isShown = item !== undefined && view !== undefined;
  const ready = useSettled(isShown ? `${item.version} ${item.state}` : error ? 'missing' : undefined);
  const changed = item?.state === 'pending' && read !== undefined && read !== item.version;

  const act = async (what: 'approve' | 'undo', work: () => Promise<void>): Promise<void> => {
    if (acting.current) return;
    acting.current = true;
    setBusy(what);
    setProblem(undefined);
    try {
      await work();
    } catch (fault) {
      setProblem(toApiError(fault));
    } finally {
      acting.current = false;
      setBusy(undefined);
      await refresh();
      onDecided();
    }
  };
  const onSigned = ([signed]: readonly SignedResult[]): void => {
    closeSigning();
    void act('approve', async () => {
      if (signed?.state !== 'pending') return;
      const { required, result } = signed;
      const left = required - signed.signed.length;
      if (left > 0) {
        say(`Signed. ${left} more must sign.`, { tone: 'good' });
        decisions.note(
          'Your last decision was a signature, which cannot be undone. You can still reject the call.',
        );
      }
      // The call could not run and is pending again; a pending item shows no outcome of its own.
      else throw new ApiError(0, { error: result?.message, hint: result?.hint });
    });
  };
  const approveVersion = async (at: number): Promise<void> => {
    if (!item || decisions.busy.has(id)) return;
    if (item.signing.required > 0) {
      setProblem(undefined);
      openSigning(at);
      return;
    }
    const approved = toApproved(item, at);
    // With a next item the result is said in a toast; the last one stays and shows it itself.
    if (advance()) {
      await decisions.approve(approved);
      onDecided();
    } else
      await act('approve', async () => {
        await decisions.approve(approved, { quiet: true });
      });
  };
  // Until all of it is there, there is nothing to decide on.
  const isReady = ready && folds.loading === 0;
  /** What is not on the page is not approved; the person is taken to it. */
  const isFolded = (): boolean => {
    if (folds.folded === 0) return false;
    say(foldedText(folds.folded), { tone: 'warn' });
    folds.reveal();
    return true;
  };
  const approve = (): void => {
    if (!item || !isReady) return;
    if (changed) {
      setRead(item.version);
      say('The call changed since you opened it. Read it again, then approve.', { tone: 'warn' });
      return;
    }
    // What is signed is shown whole before the authenticator is asked.
    if (item.signing.required === 0 && isFolded()) return;
    void approveVersion(item.version);
  };
  const undo = (): Promise<void> =>
    act('undo', () => decisions.undo({ id, title: item?.summary ?? '', gist: item?.gist ?? null }));

  const pending = item?.state === 'pending' && !held;
  // Another person has approved it: rejecting it is all that is left.
  const open = pending && item.held_by === null;
  // A permit covers one exact call; another call needs another permit.
  const canEdit = open && item.kind !== 'permit';
  const canUndo = Boolean(item?.undo && !item.undo.undone);
  const remember = item?.presentation.remember;
  const askRemember = (): void => {
    if (remember?.possible) {
      if (!isFolded()) openDialog('remember');
    } else say(remember?.why ?? 'This decision cannot be remembered.');
  };
  useEffect(() => {
    keys.current = {
      ...(pending ? { reject: () => openDialog('reject') } : {}),
      ...(open ? { approve, remember: askRemember } : {}),
      ...(canEdit ? { edit: () => openDialog('edit') } : {}),
      ...(canUndo ? { undoable: id } : {}),
    };
    return () => {
      keys.current = {};
    };
  });

  // The focus follows to the item that opens, and to the result once it is decided: its buttons are gone then.
  const box = useRef<HTMLElement>(null);
  const state = item?.state;
  const before = useRef(state);
  useEffect(() => {
    const decided = before.current === 'pending' && state !== undefined && state !== 'pending';
    before.current = state;
    if (decided && document.activeElement === document.body) box.current?.focus();
  }, [state]);

  useEffect(() => {
    // A dialog whose opener is gone gives the focus to the whole page.
    const { activeElement, body } = document;
    if (isShown && (activeElement === body || activeElement?.id === 'main')) box.current?.focus();
  }, [isShown]);

  if (error && !item)
    return (
      <Suspense>
        <MissingItem
          id={id}
          error={error}
          onRejected={() => {
            decisions.decided();
            say('Rejected.');
            if (!advance()) void refresh();
            onDecided();
          }}
        />
      </Suspense>
    );
  if (!item || !view)
    return (
      <div className="item-missing">
        <Skeleton lines={6} />
      </div>
    );
  const { presentation } = item;
  const full = presentation.limits.filter(({ used, of }) => used >= of);
  const decided = (): void => {
    close();
    if (!advance()) void refresh();
    onDecided();
  };
  return (
    <article className="item" aria-label={`Approval ${item.id}`} ref={box} tabIndex={-1}>
      <div className="item-scroll">
        <ItemHead item={item} place={place} onMove={onMove} />
        {item.differences.length > 0 ? (
          <Notice tone="bad">
            This approval is not what the audit log has: it{' '}
            <UntrustedText text={item.differences.join('; ')} />. Do not rely on what this page shows about
            it.
          </Notice>
        ) : null}
        <FactStrip item={item} />
        <Reasons item={item} />
        <ErrorNotice error={problem} />
        <Suspense>
          <Outcome item={item} />
        </Suspense>
        {changed ? <ChangedNotice item={item} onRead={() => setRead(item.version)} /> : null}
        {presentation.stale ? (
          <Notice tone="bad">
            <UntrustedText text={presentation.stale} />
          </Notice>
        ) : null}
        {pending && full.length > 0 ? (
          <Notice tone="bad">
            Refused for now: {full.map((limit) => `${limit.key} (${describeUse(limit)})`).join(', ')}. If you
            approve, the call does not run and stays pending.
          </Notice>
        ) : null}
        {pending && item.kind === 'permit' ? (
          <Notice>Approving does not run the call. It lets the agent make exactly this call, once.</Notice>
        ) : null}
        {pending ? <SignNotice {...item.signing} /> : null}
        <FoldsProvider value={folds.value}>
          <RiskNotes risks={presentation.risks} />
          <ItemBody item={item} />
        </FoldsProvider>
        <Footnotes item={item} />
      </div>
      <DecisionBar
        item={item}
        busy={busy}
        ready={isReady}
        held={held}
        canEdit={canEdit}
        canUndo={canUndo}
        isLast={decisions.latest === id}
        place={place}
        onApprove={approve}
        onReject={() => openDialog('reject')}
        onEdit={() => openDialog('edit')}
        onRemember={askRemember}
        onUndo={() => void undo()}
      />
      <Suspense>
        {dialog === 'reject' ? (
          <RejectDialog
            id={id}
            danger={item.effect === 'destroy' || presentation.money}
            onClose={close}
            onDone={(reason) => {
              decisions.decided();
              say(
                reason ? (
                  <>
                    Rejected. The agent gets: “<UntrustedText text={reason} />”
                  </>
                ) : (
                  'Rejected.'
                ),
              );
              decided();
            }}
          />
        ) : null}
        {dialog === 'edit' ? (
          <EditDialog
            item={item}
            view={view}
            onClose={close}
            onSaved={(saved, approved) => {
              close();
              setRead(saved);
              if (approved) void approveVersion(saved);
              else void refresh();
            }}
          />
        ) : null}
        {signing === undefined ? null : (
          <SignDialog
            items={[{ id, version: signing, requester: item.requester }]}
            act={approveText(item)}
            danger={item.effect === 'destroy' || presentation.money}
            onSigned={onSigned}
            onClose={closeSigning}
          />
        )}
        {dialog === 'remember' ? <RememberDialog item={item} onClose={close} onDone={decided} /> : null}
      </Suspense>
    </article>
  );
}
