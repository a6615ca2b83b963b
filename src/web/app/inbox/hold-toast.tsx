import { useEffect, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import type { Hold } from './use-holds.ts';

interface Props {
  readonly hold: Hold;
  /** It is the last decision, which U undoes. */
  readonly isLast: boolean;
  onUndo(): void;
  onNow(): void;
}

/** A decision that the server holds: what will happen, when, and how to call it off. */
export function HoldToast({ hold, isLast, onUndo, onNow }: Props) {
  const [left, setLeft] = useState(() => secondsTo(hold.until));
  // A page that is opened during the hold starts in the middle.
  const [passed] = useState(() => Math.max(0, hold.ms - (hold.until - Date.now())));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsTo(hold.until)), 250);
    return () => clearInterval(timer);
  }, [hold.until]);
  return (
    <section className="toast hold" aria-label="Decision on hold">
      <Icon name="send" />
      <div className="toast-text">
        {/* The words are announced once; the seconds are only seen. */}
        <span role="status">
          Approved:{' '}
          {hold.items.length === 1 ? (
            <UntrustedText text={hold.items[0]?.title ?? ''} />
          ) : (
            `${hold.items.length} live calls`
          )}
        </span>
        <span className="hold-left">Runs in {left} s</span>
      </div>
      <button type="button" className="toast-action" onClick={onNow}>
        Run now
      </button>
      <button
        type="button"
        className="toast-action"
        aria-keyshortcuts={isLast ? 'u' : undefined}
        onClick={onUndo}
      >
        <Icon name="undo" small />
        Undo
        {isLast ? <kbd className="button-key">U</kbd> : null}
      </button>
      <span
        className="hold-bar"
        aria-hidden="true"
        style={{ animationDuration: `${hold.ms}ms`, animationDelay: `${-passed}ms` }}
      />
    </section>
  );
}

const secondsTo = (until: number): number => Math.max(0, Math.ceil((until - Date.now()) / 1000));
