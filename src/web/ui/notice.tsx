import { Component, type ReactNode } from 'react';
import { type ApiError, toApiError } from './api.ts';
import type { Tone } from './badge.tsx';
import { Button } from './field.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Prose } from './prose.tsx';
import { UntrustedText } from './untrusted-text.tsx';

/** Longer ones are shown in parts. */
const LONG = 2000;

/** What went wrong in its own words, which may quote strangers, and what can be done about it. */
export const ErrorText = ({ error }: { readonly error: ApiError }) => (
  <div>
    {error.message.length > LONG ? (
      <UntrustedText block text={error.message} />
    ) : (
      <p className="foreign-block">
        <Prose text={error.message} />
      </p>
    )}
    {error.hint ? (
      <p className="muted small">
        <Prose text={error.hint} />
      </p>
    ) : null}
  </div>
);

const ICONS: Readonly<Record<Tone, IconName>> = {
  neutral: 'info',
  info: 'info',
  good: 'checked',
  warn: 'warn',
  bad: 'bad',
};

/** A box that says something about the page. */
export function Notice({ tone = 'info', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <div className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <span className="notice-icon">
        <Icon name={ICONS[tone]} />
      </span>
      <div className="notice-text">{children}</div>
    </div>
  );
}

/** What the server said is wrong and what to do. */
export function ErrorNotice({ error }: { readonly error: ApiError | undefined }) {
  if (!error) return null;
  return (
    <Notice tone="bad">
      <ErrorText error={error} />
    </Notice>
  );
}

interface Props {
  /** Another place starts fresh. */
  readonly place: string;
  readonly children: ReactNode;
}

/** A screen that fails, or a part of it that the server no longer has, leaves the rest of the page usable. */
export class Crash extends Component<Props, { readonly error?: unknown; readonly place?: string }> {
  override state: { readonly error?: unknown; readonly place?: string } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ place }: Props, state: { error?: unknown; place?: string }) {
    return place === state.place ? null : { place, error: undefined };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="page">
        <h1>Something went wrong</h1>
        <ErrorNotice error={toApiError(error)} />
        <p>This error did not decide or change anything. If the server was just updated, reload the page.</p>
        <div>
          <Button tone="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      </div>
    );
  }
}
