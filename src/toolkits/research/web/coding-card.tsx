import { type CSSProperties, type FormEvent, useState } from 'react';
import { Button, Field } from '../../../web/ui/field.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { Definition } from './codebook-panel.tsx';
import type { Code, Coding } from './data.ts';

interface Props {
  readonly coding: Coding;
  readonly codes: readonly Code[];
  /** The ID is another one where the code was changed. */
  onChanged(id: number): Promise<void>;
  onRemove(id: number): void;
}

/** A coded passage: whose it is and why, to be changed in place. */
export function CodingCard({ coding, codes, onChanged, onRemove }: Props) {
  const act = useAct();
  const [codeId, setCode] = useState(coding.code_id);
  const [memo, setMemo] = useState(coding.memo);
  const [important, setImportant] = useState(coding.importance > 0);
  const changes = {
    ...(codeId === coding.code_id ? {} : { code_id: codeId }),
    ...(memo === coding.memo ? {} : { memo }),
    ...(important === coding.importance > 0 ? {} : { important }),
  };
  const changed = Object.keys(changes).length > 0;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act('update_coding', { segment_id: coding.id, ...changes }, 'Coding changed.');
    if (done.ok) await onChanged((done.data as { segment_id: number }).segment_id);
  };
  return (
    <section className="card" aria-label="Coding">
      <h3 className="code-name" style={{ '--code': coding.color } as CSSProperties}>
        <UntrustedText text={coding.code_name} />
      </h3>
      <Definition code={codes.find(({ id }) => id === coding.code_id)} />
      <blockquote className="excerpt">
        <UntrustedText block text={coding.selected_text} />
      </blockquote>
      <p className="muted small">
        by <UntrustedText text={coding.owner} />
        {coding.made_by?.approved_by && `, approved by ${coding.made_by.approved_by}`}
        {coding.made_by?.method && `, ${coding.made_by.method}`}
      </p>
      {!coding.anchored && <p className="small">The text was edited elsewhere; this position is a guess.</p>}
      <form className="stack" onSubmit={(event) => void save(event)}>
        <Field label="Code">
          {(attributes) => (
            <select {...attributes} value={codeId} onChange={(event) => setCode(Number(event.target.value))}>
              {codes.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Memo">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={3}
              value={memo}
              onChange={(event) => setMemo(event.target.value)}
            />
          )}
        </Field>
        <label className="row small">
          <input
            type="checkbox"
            checked={important}
            onChange={(event) => setImportant(event.target.checked)}
          />
          Important
        </label>
        <div className="row">
          <Button small type="submit" tone="primary" disabled={!changed}>
            Save
          </Button>
          <Button small tone="danger" shortcut="d" onClick={() => onRemove(coding.id)}>
            Remove coding
          </Button>
        </div>
      </form>
    </section>
  );
}
