import type { CSSProperties } from 'react';
import { Foreign } from '../../components/foreign.tsx';
import { roomPath, useQuery } from '../../lib/api.ts';
import { type JsonRecord, textAt } from '../../lib/json.ts';
import type { Item } from '../types.ts';
import { FieldsView } from './fields.tsx';

interface Passage {
  readonly source_name: string;
  readonly before: string;
  readonly text: string;
  readonly after: string;
  readonly code_name: string | null;
  readonly code_color: string | null;
}

const PLACE = ['code_id', 'source_id', 'start_pos', 'end_pos'] as const;

/** The passage a code is suggested for, marked in the text around it. */
export function CodingView({ item: { args, context, reason } }: { readonly item: Item }) {
  const project = textAt(context, 'project');
  const place: JsonRecord = project === undefined ? {} : { project };
  for (const name of PLACE) place[name] = args[name] ?? null;
  const { data, loading } = useQuery<{ data: Passage | null }>(roomPath('research', 'passage', place));
  const passage = data?.data;
  if (!passage) return loading ? null : <FieldsView args={args} />;
  const memo = textAt(args, 'memo');
  return (
    <>
      <figure className="passage">
        <figcaption className="row">
          <span
            className="code-chip"
            style={passage.code_color ? ({ '--code': passage.code_color } as CSSProperties) : undefined}
          >
            <Foreign text={passage.code_name ?? `Code ${String(args.code_id)}`} />
          </span>
          <span className="muted small">
            in <Foreign text={passage.source_name} />
          </span>
        </figcaption>
        <blockquote>
          …<Foreign text={passage.before} />
          <mark>
            <Foreign text={passage.text} />
          </mark>
          <Foreign text={passage.after} />…
        </blockquote>
      </figure>
      {memo && memo !== reason ? <FieldsView args={{ memo }} /> : null}
    </>
  );
}
