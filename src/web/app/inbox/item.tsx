import { type RefObject, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { Badge, StateBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Foreign } from '../components/foreign.tsx';
import { ErrorNotice, Notice } from '../components/notice.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useToast } from '../components/toast.tsx';
import { ApiError, post, toApiError, useQuery } from '../lib/api.ts';
import { type Json, textAt } from '../lib/json.ts';
import { EditDialog } from './edit-dialog.tsx';
import { Facts } from './facts.tsx';
import { Outcome } from './outcome.tsx';
import { RejectDialog } from './reject-dialog.tsx';
import type { Item } from './types.ts';
import { Arguments } from './views/arguments.tsx';
import { headlineOf } from './views/kinds.ts';

/** What the page's keys do to the open item; absent where it cannot be done now. */
export interface ItemKeys {
  approve?(): void;
  reject?(): void;
  edit?(): void;
  undo?(): void;
}

interface Undone {
  readonly undone: boolean;
  readonly done: number;
  readonly of: number;
  readonly outcome?: Json;
}

interface Props {
  readonly id: number;
  readonly keys: RefObject<ItemKeys>;
  onDecided(): void;
}

export function ItemDetail({ id, keys, onDecided }: Props) {
  const { data: item, error, refresh } = useQuery<Item>(`/inbox/${id}`, { topics: ['approvals'] });
  const [dialog, setDialog] = useState<'reject' | 'edit'>();
  const [busy, setBusy] = useState<'approve' | 'undo'>();
  const [problem, setProblem] = useState<ApiError>();
  const acting = useRef(false);
  const say = useToast();

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
  const approve = (): Promise<void> =>
    act('approve', async () => {
      await post(`/inbox/${id}/approve`, { version: item?.version });
    });
  const undo = (): Promise<void> =>
    act('undo', async () => {
      const { undone, done, of, outcome } = await post<Undone>(`/inbox/${id}/undo`);
      if (undone) return say('Undone.', { tone: 'good' });
      const why = textAt(outcome, 'message') ?? textAt(outcome, 'status') ?? 'unknown';
      const far = of > 1 ? ` (${done} of ${of} calls were made)` : '';
      const hint = textAt(outcome, 'hint');
      throw new ApiError(0, { error: `Not undone${far}: ${why}`, ...(hint ? { hint } : {}) });
    });

  const pending = item?.state === 'pending';
  // A permit covers one exact call; another call needs another permit.
  const canEdit = pending && item.kind !== 'permit';
  const canUndo = item?.undo && !item.undo.undone;
  useEffect(() => {
    keys.current = {
      ...(pending ? { approve: () => void approve(), reject: () => setDialog('reject') } : {}),
      ...(canEdit ? { edit: () => setDialog('edit') } : {}),
      ...(canUndo ? { undo: () => void undo() } : {}),
    };
    return () => {
      keys.current = {};
    };
  });

  // Deciding takes away the buttons; whoever stood on one goes on from what came of it.
  const box = useRef<HTMLElement>(null);
  const state = item?.state;
  const before = useRef(state);
  useEffect(() => {
    const decided = before.current === 'pending' && state !== undefined && state !== 'pending';
    before.current = state;
    if (decided && document.activeElement === document.body) box.current?.focus();
  }, [state]);

  if (error && !item)
    return (
      <div className="card">
        <ErrorNotice error={error} />
        <Link href="/">Back to the inbox</Link>
      </div>
    );
  if (!item) return null;
  const close = (): void => setDialog(undefined);
  const decided = (): void => {
    close();
    void refresh();
    onDecided();
  };
  return (
    <article className="card item" aria-label={`Item ${item.id}`} ref={box} tabIndex={-1}>
      <Link href="/" className="item-back">
        ← Back to the list
      </Link>
      <header className="item-head">
        <div className="row">
          <StateBadge state={item.state} />
          <Badge tone={item.effect === 'destroy' ? 'bad' : 'neutral'}>{item.tool_title}</Badge>
          {item.kind === 'permit' ? (
            <Badge tone="info" title="Approving lets the agent make this exact call once">
              permit
            </Badge>
          ) : null}
          <span className="muted small">
            #{item.id} · <TimeAgo at={item.created_at} />
          </span>
        </div>
        <h2 className="item-title" aria-live="polite">
          <Foreign text={headlineOf(item.tool, item.args, item.summary)} />
        </h2>
      </header>
      <ErrorNotice error={problem} />
      <Outcome item={item} />
      {pending && item.kind === 'permit' ? (
        <Notice>Approving does not run it: it lets the agent make exactly this call, once.</Notice>
      ) : null}
      {item.risks.length > 0 ? (
        <ul className="risks" aria-label="Risk notes">
          {item.risks.map((risk) => (
            <li key={risk}>
              <Foreign text={risk} />
            </li>
          ))}
        </ul>
      ) : null}
      <Arguments item={item} />
      <Facts item={item} />
      {pending ? (
        <div className="item-actions">
          <Button tone="primary" shortcut="a" disabled={busy !== undefined} onClick={() => void approve()}>
            {busy === 'approve' ? 'Approving…' : 'Approve'}
          </Button>
          {canEdit ? (
            <Button shortcut="e" disabled={busy !== undefined} onClick={() => setDialog('edit')}>
              Edit
            </Button>
          ) : null}
          <Button
            tone="danger"
            shortcut="r"
            disabled={busy !== undefined}
            onClick={() => setDialog('reject')}
          >
            Reject
          </Button>
        </div>
      ) : canUndo ? (
        <div className="item-actions">
          <Button shortcut="u" disabled={busy !== undefined} onClick={() => void undo()}>
            {busy === 'undo' ? 'Undoing…' : 'Undo'}
          </Button>
          <span className="muted small">
            {item.undo?.title}
            {item.undo && item.undo.calls > 1 ? `, ${item.undo.calls} times` : ''}
          </span>
        </div>
      ) : null}
      {dialog === 'reject' ? <RejectDialog id={id} onClose={close} onDone={decided} /> : null}
      {dialog === 'edit' ? <EditDialog item={item} onClose={close} onDone={decided} /> : null}
    </article>
  );
}
