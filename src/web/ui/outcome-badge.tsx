import { lookup } from '../../lib/lookup.ts';
import { Badge, type Tone } from './badge.tsx';
import { Icon, type IconName } from './icon.tsx';

const OUTCOMES: Readonly<Record<string, readonly [string, Tone, IconName]>> = {
  ok: ['Done', 'good', 'check'],
  routed: ['Asked', 'info', 'inbox'],
  dry_run: ['Dry run', 'neutral', 'eye'],
  refused: ['Refused', 'bad', 'bad'],
  failed: ['Failed', 'bad', 'cross'],
  indeterminate: ['Outcome unknown', 'warn', 'warn'],
  running: ['Running', 'info', 'clock'],
  needs_person: ['Asked', 'info', 'inbox'],
};

/** What became of a call that was asked about. */
const ASKED: Readonly<Record<string, readonly [string, Tone, IconName]>> = {
  pending: ['Pending', 'info', 'inbox'],
  rejected: ['Rejected', 'neutral', 'cross'],
  expired: ['Expired', 'neutral', 'clock'],
  withdrawn: ['Withdrawn', 'neutral', 'undo'],
};

interface Props {
  readonly status: string;
  /** The state of the approval that it asked for. */
  readonly approval?: string | null;
}

/** How a call ended, in a word. */
export function OutcomeBadge({ status, approval }: Props) {
  const asked = status === 'routed' && approval ? (lookup(ASKED, approval) ?? APPROVED) : undefined;
  const [word, tone, icon] = asked ?? lookup(OUTCOMES, status) ?? [status, 'neutral', 'info'];
  return (
    <Badge tone={tone}>
      <Icon name={icon} />
      {word}
    </Badge>
  );
}

const APPROVED = ['Approved', 'neutral', 'check'] as const;

export const OUTCOME_WORDS = Object.entries(OUTCOMES).flatMap(([status, [word]]) =>
  status === 'needs_person' ? [] : [[status, word] as const],
);

const EFFECTS: Readonly<Record<string, readonly [string, Tone]>> = {
  read: ['Reads', 'neutral'],
  change: ['Changes', 'neutral'],
  destroy: ['Destructive', 'bad'],
  propose: ['Proposes', 'neutral'],
  decide: ['Decides', 'neutral'],
};

/** What a call does, in a word; only a destructive one is red. */
export function EffectBadge({ effect }: { readonly effect: string }) {
  const [word, tone] = lookup(EFFECTS, effect) ?? [effect, 'neutral'];
  return <Badge tone={tone}>{word}</Badge>;
}
