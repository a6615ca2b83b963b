import { Button } from '../../ui/field.tsx';
import type { Selection } from './selection.ts';

interface Props {
  readonly selection: Selection;
  readonly total: number;
  readonly selectable: boolean;
  onDecide(verdict: 'approve' | 'reject'): void;
}

/** Under the list: what is selected and what can be done with it, or how to select. */
export function SelectionBar({ selection, total, selectable, onDecide }: Props) {
  if (selection.size === 0)
    return (
      <div className="inbox-foot">
        <span className="inbox-hints" aria-hidden="true">
          <kbd className="key">J</kbd>
          <kbd className="key">K</kbd> move <kbd className="key">X</kbd> select
        </span>
        <span className="grow" />
        {selectable ? (
          <button type="button" className="link-button" onClick={selection.selectAll}>
            Select all {total.toLocaleString('en')}
          </button>
        ) : null}
      </div>
    );
  const count = selection.size.toLocaleString('en');
  return (
    <div className="inbox-foot inbox-foot-selected">
      <strong>{count} selected</strong>
      <Button
        small
        tone="primary"
        aria-label={`Approve ${count} selected`}
        onClick={() => onDecide('approve')}
      >
        Approve
      </Button>
      <Button small tone="danger" aria-label={`Reject ${count} selected`} onClick={() => onDecide('reject')}>
        Reject
      </Button>
      {!selection.matching && selection.size < total ? (
        <button type="button" className="link-button" onClick={selection.selectAll}>
          All {total.toLocaleString('en')}
        </button>
      ) : null}
      <span className="grow" />
      <button type="button" className="link-button" onClick={selection.clear}>
        Clear
      </button>
    </div>
  );
}
