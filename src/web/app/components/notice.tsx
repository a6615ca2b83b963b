import type { ReactNode } from 'react';
import type { ApiError } from '../lib/api.ts';
import type { Tone } from './badge.tsx';
import { FaultText } from './fault-text.tsx';

/** A box that says something about the page. */
export function Notice({ tone = 'info', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <div className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      {children}
    </div>
  );
}

/** What the server said is wrong and what to do. */
export function ErrorNotice({ error }: { readonly error: ApiError | undefined }) {
  if (!error) return null;
  return (
    <Notice tone="bad">
      <FaultText error={error} />
    </Notice>
  );
}
