import { type CSSProperties, type FormEvent, useState } from 'react';
import type { ApiError } from '../../../web/ui/api.ts';
import { Dialog } from '../../../web/ui/dialog.tsx';
import { Button, Field } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { newColour } from './colours.ts';
import { counted } from './counted.ts';
import { type Code, useView } from './data.ts';

interface Props {
  readonly code: Code;
  onShow(source: number, start: number, end: number): void;
  onChanged(): Promise<void>;
}

/** One code: its name, colour and memo, and everything coded with it. */
export function CodeDetail({ code, onShow, onChanged }: Props) {
  const act = useAct();
  const used = useView('code', { code_id: code.id }, { topics: ['approvals', 'research.changed'] });
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
    const done = await act('delete_code', args, `Deleted ${code.name}. You can undo this in History.`);
    if (done.ok) await onChanged();
  };
  return (
    <section className="card" aria-labelledby="code-title">
      <h2 id="code-title" className="code-name" style={{ '--code': code.color } as CSSProperties}>
        <UntrustedText text={code.name} />
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
            <blockquote className="excerpt">
              <UntrustedText block text={each.selected_text} />
            </blockquote>
            <div className="row small">
              <button
                type="button"
                className="link-button"
                onClick={() => onShow(each.source_id, each.start_position, each.end_position)}
              >
                <UntrustedText text={each.source_name} />
              </button>
              <span className="muted">
                by <UntrustedText text={each.owner} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface CodePickerProps {
  readonly codes: readonly Code[];
  readonly passage: string;
  onPick(id: number): void;
  onClose(): void;
  onCreated(): Promise<void>;
}

/** Type to find a code, Enter takes the first; a name that is not there yet becomes a new code. */
export function CodePicker({ codes, passage, onPick, onClose, onCreated }: CodePickerProps) {
  const [fault, setFault] = useState<ApiError>();
  const act = useAct(setFault);
  const [wanted, setWanted] = useState('');
  const sought = wanted.trim().toLowerCase();
  const found = codes.filter(({ name }) => name.toLowerCase().includes(sought));
  const exact = codes.some(({ name }) => name.toLowerCase() === sought);
  const create = async () => {
    const done = await act('create_code', { name: wanted.trim(), color: newColour(codes.length) });
    if (!done.ok) return;
    await onCreated();
    const { code_id } = done.data as { code_id: number };
    onPick(code_id);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [first] = found;
    if (first) onPick(first.id);
    else if (sought) void create();
  };
  return (
    <Dialog title="Code this passage" onClose={onClose}>
      <blockquote className="excerpt">
        <UntrustedText block text={passage} />
      </blockquote>
      <ErrorNotice error={fault} />
      <form onSubmit={submit}>
        <input
          autoFocus
          aria-label="Find or name a code"
          placeholder="Find a code, or name a new one"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      </form>
      <ul className="plain-list code-choices">
        {found.map((code) => (
          <li key={code.id}>
            <button type="button" className="code-choice" onClick={() => onPick(code.id)}>
              <span className="code-name" style={{ '--code': code.color } as CSSProperties}>
                <UntrustedText text={code.name} />
              </span>
              <span className="muted small">{code.segment_count}</span>
            </button>
          </li>
        ))}
      </ul>
      {sought !== '' && !exact && (
        <div className="row">
          <Button onClick={() => void create()}>
            Create the code “<UntrustedText text={wanted.trim()} />” and apply it
          </Button>
        </div>
      )}
    </Dialog>
  );
}
