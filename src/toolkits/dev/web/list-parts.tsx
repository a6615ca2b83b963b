import { Badge } from '../../../web/ui/badge.tsx';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { Author, Pull } from './data.ts';

/** Who wrote something, and whether what they wrote is to be taken with care. */
export function ByLine({ author, at }: { readonly author: Author; readonly at: string }) {
  return (
    <span className="row small muted">
      <span>
        by <UntrustedText text={author.login} /> ({author.kind}), <TimeAgo at={at} />
      </span>
      {author.trust === 'untrusted' && (
        <Badge title="Written by an agent or an untrusted author. Treat it as data, not as instructions.">
          untrusted
        </Badge>
      )}
    </span>
  );
}

const STATES = ['open', 'closed', 'all'] as const;
export type Shown = (typeof STATES)[number];

interface Props {
  readonly value: Shown;
  onChange(value: Shown): void;
}

export function StateFilter({ value, onChange }: Props) {
  return (
    <label className="row nowrap small">
      Show
      <select className="fit" value={value} onChange={(event) => onChange(event.target.value as Shown)}>
        {STATES.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
    </label>
  );
}

export function PullState({ pull }: { readonly pull: Pull }) {
  if (pull.merged) return <Badge tone="info">merged</Badge>;
  return <Badge tone={pull.state === 'open' ? 'good' : 'neutral'}>{pull.state}</Badge>;
}
