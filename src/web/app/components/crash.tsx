import { Component, type ReactNode } from 'react';
import { toApiError } from '../lib/api.ts';
import { Button } from './button.tsx';
import { ErrorNotice } from './notice.tsx';

interface Props {
  /** Another place starts anew. */
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
        <h1>This screen failed</h1>
        <ErrorNotice error={toApiError(error)} />
        <p>Nothing was decided or changed by that. After an update of the server a reload is all it takes.</p>
        <div>
          <Button tone="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      </div>
    );
  }
}
