import { Foreign } from '../../components/foreign.tsx';
import { roomPath, useQuery } from '../../lib/api.ts';
import type { JsonRecord } from '../../lib/json.ts';
import { FieldsView } from './fields.tsx';

interface Passage {
  readonly source_name: string;
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

interface Suggestion {
  readonly approval_id: number;
  readonly passage: Passage | null;
}

/** The passage a code is suggested for, marked in the text around it. */
export function CodingView({
  id,
  state,
  args,
}: {
  readonly id: number;
  readonly state: string;
  readonly args: JsonRecord;
}) {
  const known = ['pending', 'rejected', 'done', 'failed'].includes(state) ? state : 'pending';
  const { data } = useQuery<{ data: readonly Suggestion[] }>(
    roomPath('research', 'suggestions', { state: known }),
  );
  const passage = data?.data.find((one) => one.approval_id === id)?.passage;
  if (!passage) return <FieldsView args={args} />;
  return (
    <figure className="passage">
      <figcaption className="muted small">
        In <Foreign text={passage.source_name} />
      </figcaption>
      <blockquote>
        …<Foreign text={passage.before} />
        <mark>
          <Foreign text={passage.text} />
        </mark>
        <Foreign text={passage.after} />…
      </blockquote>
    </figure>
  );
}
