import { type ButtonHTMLAttributes, type ReactNode, useId, useRef, useState } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface Props {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Gets the attributes that tie the control to its label, hint and error. */
  children(attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }): ReactNode;
}

export function Field({ label, hint, error, children }: Props) {
  const id = useId();
  const described = hint || error ? { 'aria-describedby': `${id}-note` } : {};
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...described, ...(error ? { 'aria-invalid': true } : {}) })}
      {hint || error ? (
        <p id={`${id}-note`} className={error ? 'field-error' : 'field-hint'}>
          {error ?? hint}
        </p>
      ) : null}
    </div>
  );
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `destroy`: what destroys or moves money. */
  readonly tone?: 'primary' | 'danger' | 'destroy' | 'plain' | 'quiet';
  readonly icon?: IconName;
  readonly small?: boolean;
  /** The key that does the same, shown next to the words. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

export function Button({
  tone = 'plain',
  icon,
  small,
  shortcut,
  className = '',
  children,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={`button button-${tone}${small ? ' button-small' : ''} ${className}`}
      aria-keyshortcuts={shortcut}
      {...rest}
    >
      {icon ? <Icon name={icon} /> : null}
      {icon ? <span className="button-text">{children}</span> : children}
      {shortcut ? <kbd className="button-key">{keyName(shortcut)}</kbd> : null}
    </button>
  );
}

/** As it is printed on the key. */
const keyName = (key: string): string => (key.length === 1 ? key.toUpperCase() : key);

/** Text to take elsewhere: a configuration, a command, a token. */
export function CopyBox({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers lend the clipboard only to https and this machine; selected, the text is one key press away.
      if (box.current) getSelection()?.selectAllChildren(box.current);
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className="copy-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} ref={box}>
        <code>{text}</code>
      </pre>
      <Button small onClick={() => void copy()} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
