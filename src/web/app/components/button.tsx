import type { ButtonHTMLAttributes, ReactNode } from 'react';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: 'primary' | 'danger' | 'plain' | 'quiet';
  readonly small?: boolean;
  /** The key that does the same, shown beside the words. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

export function Button({
  tone = 'plain',
  small,
  shortcut,
  className = '',
  children,
  type = 'button',
  ...rest
}: Props) {
  return (
    <button
      type={type}
      className={`button button-${tone}${small ? ' button-small' : ''} ${className}`}
      aria-keyshortcuts={shortcut}
      {...rest}
    >
      {children}
      {shortcut ? <kbd className="button-key">{shortcut}</kbd> : null}
    </button>
  );
}
