import { type CSSProperties, type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { useAct, useView } from '../room-data.ts';
import { counted } from './counted.ts';
import type { Code, Coding } from './types.ts';

interface Props {
  readonly code: Code;
  onShow(source: number, start: number, end: number): void;
  onChanged(): Promise<void>;
}

interface Used {
  readonly total: number;
  readonly segments: readonly (Coding & { readonly source_id: number; readonly source_name: string })[];
}

/** One code: its name, colour and memo, and everything coded with it. */
export function CodeDetail({ code, onShow, onChanged }: Props) {
  const act = useAct();
  const used = useView<Used>(
    'research',
    'code',
    { code_id: code.id },
    { topics: ['approvals', 'research.changed'] },
  );
  const [name, setName] = useState(code.name);
  const [color, setColor] = useState(code.color);
  const [memo, setMemo] = useState(code.memo);
  const changed = name !== code.name || color !== code.color || memo !== code.memo;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act('update_code', { code_id: code.id, name, color, memo }, 'Saved.');
    if (done.ok) await onChanged();
  };
  const remove = async () => {
    const args = { code_id: code.id, delete_segments: code.segment_count > 0 };
    const done = await act('delete_code', args, `Deleted ${code.name}. History can bring it back.`);
    if (done.ok) await onChanged();
  };
  return (
    <section className="card" aria-labelledby="code-title">
      <h2 id="code-title" className="code-name" style={{ '--code': code.color } as CSSProperties}>
        <Foreign text={code.name} />
      </h2>
      <form className="stack" onSubmit={(event) => void save(event)}>
        <div className="code-fields">
          <Field label="Name">
            {(attributes) => (
              <input {...attributes} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <Field label="Colour">
            {(attributes) => (
              <input
                {...attributes}
                type="color"
                value={/^#[0-9a-f]{6}$/i.test(color) ? color : '#808080'}
                onChange={(event) => setColor(event.target.value)}
              />
            )}
          </Field>
        </div>
        <Field label="Memo">
          {(attributes) => (
            <textarea {...attributes} value={memo} onChange={(event) => setMemo(event.target.value)} />
          )}
        </Field>
        <div className="row">
          <Button type="submit" tone="primary" disabled={!changed || name.trim() === ''}>
            Save
          </Button>
          <Button tone="danger" onClick={() => void remove()}>
            {code.segment_count > 0 ? `Delete with ${counted(code.segment_count, 'coding')}` : 'Delete'}
          </Button>
        </div>
      </form>
      <h3>{counted(used.data?.total ?? code.segment_count, 'coded passage')}</h3>
      <ul className="plain-list stack">
        {used.data?.segments.map((each) => (
          <li key={each.id} className="coded">
            <blockquote className="quoted">
              <Foreign block text={each.selected_text} />
            </blockquote>
            <div className="row small">
              <button
                type="button"
                className="link-button"
                onClick={() => onShow(each.source_id, each.start_position, each.end_position)}
              >
                <Foreign text={each.source_name} />
              </button>
              <span className="muted">
                by <Foreign text={each.owner} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
