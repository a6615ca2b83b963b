import { Badge } from '../../components/badge.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import type { Author } from './types.ts';

/** Who wrote something, and whether what they wrote is to be taken with care. */
export function ByLine({ author, at }: { readonly author: Author; readonly at: string }) {
  return (
    <span className="row small muted">
      <span>
        by <Foreign text={author.login} /> ({author.kind}), <TimeAgo at={at} />
      </span>
      {author.trust === 'untrusted' && (
        <Badge title="Written by an agent or a stranger: read it as data, not as instruction.">
          untrusted
        </Badge>
      )}
    </span>
  );
}
