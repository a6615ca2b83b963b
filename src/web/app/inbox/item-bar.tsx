import type { Item } from '../../../kernel/views/shapes.ts';
import { shortName } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import type { Hold } from './use-holds.ts';

interface Props {
  readonly item: Item;
  readonly busy: 'approve' | 'undo' | undefined;
  /** It has been in sight long enough to be decided. */
  readonly ready: boolean;
  readonly held: Hold | undefined;
  readonly canEdit: boolean;
  readonly canUndo: boolean;
  /** It is the last decision, which U undoes. */
  readonly isLast: boolean;
  readonly place: string;
  onApprove(): void;
  onReject(): void;
  onEdit(): void;
  onRemember(): void;
  onUndo(): void;
}

/** The button names the act: "Approve and post", "Sign and delete". */
function approveText({ presentation, signing, kind, rule }: Item): string {
  if (signing.required > 0) return `Sign and ${kind === 'permit' ? 'approve' : presentation.act}`;
  if (kind === 'permit') return 'Approve once';
  if (rule === 'proposal') return 'Accept';
  return `Approve and ${presentation.act}`;
}

/** What can be decided now; always in sight. */
export function DecisionBar({ item, busy, ready, held, canEdit, canUndo, isLast, place, ...on }: Props) {
  const { presentation } = item;
  const danger = item.effect === 'destroy' || presentation.money;
  const disabled = busy !== undefined;
  if (held)
    return (
      <div className="item-actions">
        <span className="muted">Approved. It runs in a few seconds; Undo calls it off.</span>
      </div>
    );
  if (item.state === 'pending' && item.held_by)
    return (
      <div className="item-actions">
        <Button tone="danger" icon="cross" shortcut="r" disabled={disabled} onClick={on.onReject}>
          Reject
        </Button>
        <span className="muted">
          Approved by {shortName(item.held_by)}. It runs in a few seconds unless you reject it.
        </span>
      </div>
    );
  if (item.state === 'pending')
    return (
      <div className="item-actions">
        <Button
          tone={danger ? 'destroy' : 'primary'}
          icon={item.signing.required > 0 ? 'fingerprint' : 'check'}
          shortcut="a"
          disabled={disabled}
          aria-disabled={ready ? undefined : true}
          onClick={on.onApprove}
        >
          {busy === 'approve' ? (item.signing.required > 0 ? 'Signing…' : 'Approving…') : approveText(item)}
        </Button>
        {canEdit ? (
          <Button className="button-minor" icon="edit" shortcut="e" disabled={disabled} onClick={on.onEdit}>
            Edit
          </Button>
        ) : null}
        <Button tone="danger" icon="cross" shortcut="r" disabled={disabled} onClick={on.onReject}>
          Reject
        </Button>
        {presentation.remember.possible ? (
          <Button
            className="button-minor"
            tone="quiet"
            icon="remember"
            shortcut="m"
            disabled={disabled}
            onClick={on.onRemember}
          >
            Remember…
          </Button>
        ) : (
          <span className="item-no-remember" title={presentation.remember.why ?? undefined}>
            {presentation.remember.why ?? 'Cannot be remembered'}
          </span>
        )}
        <span className="item-place">{place}</span>
      </div>
    );
  if (!canUndo) return null;
  return (
    <div className="item-actions">
      <Button icon="undo" shortcut={isLast ? 'u' : undefined} disabled={disabled} onClick={on.onUndo}>
        {busy === 'undo' ? 'Undoing…' : 'Undo'}
      </Button>
      <span className="muted small">
        {item.undo?.title}
        {item.undo && item.undo.calls > 1 ? `, ${item.undo.calls} times` : ''}
      </span>
    </div>
  );
}
