import { type CSSProperties, type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import type { ApiError } from '../../lib/api.ts';
import { useAct } from '../room-data.ts';
import { newColour } from './colours.ts';
import type { Code } from './types.ts';

interface Props {
  readonly codes: readonly Code[];
  readonly passage: string;
  onPick(id: number): void;
  onClose(): void;
  onCreated(): Promise<void>;
}

/** Type to find a code, Enter takes the first; a name that is not there yet becomes a new code. */
export function CodePicker({ codes, passage, onPick, onClose, onCreated }: Props) {
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
      <blockquote className="quoted">
        <Foreign block text={passage} />
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
                <Foreign text={code.name} />
              </span>
              <span className="muted small">{code.segment_count}</span>
            </button>
          </li>
        ))}
      </ul>
      {sought !== '' && !exact && (
        <div className="row">
          <Button onClick={() => void create()}>
            Create the code “<Foreign text={wanted.trim()} />” and apply it
          </Button>
        </div>
      )}
    </Dialog>
  );
}
