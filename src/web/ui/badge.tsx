import { Children, Fragment, type ReactNode } from 'react';
import { DIFFERS } from '../../contract/ports.ts';
import type { Environment } from '../../contract/presentation.ts';
import { lookup } from '../../lib/lookup.ts';
import { showUnseenLine } from '../../lib/unseen.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'neutral' | 'info' | 'good' | 'warn' | 'bad';

/** A short word about a state, in sentence case. The word says it; the colour only helps. */
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
      {Children.map(children, (child, at) =>
        at === 0 && typeof child === 'string' ? sentenceCase(child) : child,
      )}
    </span>
  );
}

/** Marks what a list shows otherwise than the audit log has it. */
export const DiffersBadge = ({ of }: { readonly of: 'approval' | 'call' }) => (
  <Badge tone="bad" title={`What is stored about this ${of} is not what its audit entries say`}>
    {DIFFERS}
  </Badge>
);

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
const toneOf = (state: string): Tone => lookup(STATES, state) ?? 'neutral';

/** A stored state, an outcome or a decision as a label. */
export const StateBadge = ({ state }: { readonly state: string }) => (
  <Badge tone={toneOf(state)}>{state.replaceAll('_', ' ')}</Badge>
);

export const sentenceCase = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const ENVIRONMENT_NAMES = { live: 'Live', sandbox: 'Sandbox', local: 'Local' } as const;

/** Fill means environment: live is filled, a sandbox dashed, this machine grey. */
export const EnvironmentBadge = ({
  environment,
  detail,
}: {
  readonly environment: Environment;
  readonly detail?: string | undefined;
}) => (
  <span className={`badge badge-${environment}`}>
    {ENVIRONMENT_NAMES[environment]}
    {detail ? <span className="wide-only">{` · ${detail}`}</span> : null}
  </span>
);

/** A principal without the kind that its place already says. */
export const shortName = (principal: string): string =>
  showUnseenLine(principal.replace(/^(agent|person|system):/u, ''));

interface AvatarProps {
  readonly name: string;
  readonly large?: boolean;
  /** Of an account that posts, not of an agent: it has no colour. */
  readonly author?: boolean;
}

/** The initial of an agent, always in the same colour; its name stands next to it. */
export function Avatar({ name, large, author }: AvatarProps) {
  const letters = shortName(name).replace(/^[^\p{L}\p{N}]+/u, '');
  let sum = 0;
  for (const letter of letters) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  const colour = author ? 'avatar-author' : `avatar-${(sum % 4) + 1}`;
  return (
    <span className={`avatar ${colour}${large ? ' avatar-large' : ''}`} aria-hidden="true">
      {([...letters][0] ?? '?').toUpperCase()}
    </span>
  );
}

/** The shape of what comes, while it is on its way. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div className="stack skeletons" aria-hidden="true">
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines without content are their places
      <span key={line} className="skeleton" />
    ))}
  </div>
);

interface EmptyProps {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ReactNode;
}

/** Nothing is here, and this is what to do next. */
export function Empty({ title, icon, children }: EmptyProps) {
  return (
    <div className="empty">
      {icon ? (
        <span className="empty-icon">
          <Icon name={icon} />
        </span>
      ) : null}
      <p className="empty-title">{title}</p>
      {children ? <div className="empty-body">{children}</div> : null}
    </div>
  );
}

/** One line of a `<dl className="facts">`. */
export const Fact = ({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** A tool's name, which may break after each of its words where there is little room. */
export const ToolName = ({ name }: { readonly name: string }) =>
  showUnseenLine(name)
    .split(/(?<=_)/)
    .map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name are their places
      <Fragment key={at}>
        {part}
        <wbr />
      </Fragment>
    ));
