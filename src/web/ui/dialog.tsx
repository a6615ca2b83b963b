import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from './icon.tsx';
import { openScope } from './keys.ts';

/** A box that is already ticked is no place to begin. */
const FIRST = '.dialog-body :is(input:not([type=checkbox]), textarea, select)';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly wide?: boolean;
  /** The form that Ctrl or ⌘ with Enter submits from anywhere in the dialog. */
  readonly formId?: string;
  /** It approves: Enter in a field does not submit it, only Ctrl or ⌘ with Enter and the button do. */
  readonly deliberate?: boolean;
  onClose(): void;
}

/** A modal window of the browser: focus stays inside, Escape closes it and focus goes back to where it was. */
export function Dialog({ title, children, footer, wide, formId, deliberate, onClose }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => openScope(), []);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // Never at a button: a word that is still being typed would press it with its first space.
      (dialog.querySelector<HTMLElement>(FIRST) ?? dialog).focus();
    }
    return () => {
      dialog?.close();
      // What was pressed may be gone with what was decided; the keyboard then continues from the page itself.
      const back =
        before instanceof HTMLElement && before.isConnected ? before : document.getElementById('main');
      back?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.defaultPrevented) return;
        if (!(event.ctrlKey || event.metaKey)) {
          if (deliberate && event.target instanceof HTMLInputElement) event.preventDefault();
          return;
        }
        const form =
          (formId === undefined ? null : document.getElementById(formId)) ??
          ref.current?.querySelector('form');
        if (!(form instanceof HTMLFormElement)) return;
        event.preventDefault();
        form.requestSubmit();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A browser asked twice closes it without asking the page.
      onClose={onClose}
    >
      <header className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div className="dialog-body">{children}</div>
      {footer ? <footer className="dialog-foot">{footer}</footer> : null}
    </dialog>
  );
}
