import type { ReactNode } from 'react';

export type Tone = 'neutral' | 'info' | 'good' | 'warn' | 'bad';

/** A short word about a state. The word says it; the colour only helps. */
export function Badge({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}) {
  return (
    <span className={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

const STATES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  done: 'good',
  approved: 'good',
  allow: 'good',
  pending: 'info',
  routed: 'info',
  executing: 'info',
  running: 'info',
  ask: 'info',
  dry_run: 'neutral',
  read: 'neutral',
  change: 'warn',
  destroy: 'bad',
  failed: 'bad',
  refused: 'bad',
  deny: 'bad',
  indeterminate: 'warn',
  rejected: 'neutral',
  expired: 'neutral',
  withdrawn: 'neutral',
};

/** The tone that a state, outcome, effect or decision has everywhere. */
const toneOf = (state: string): Tone => STATES[state] ?? 'neutral';

export const StateBadge = ({ state }: { readonly state: string }) => (
  <Badge tone={toneOf(state)}>{state.replaceAll('_', ' ')}</Badge>
);
