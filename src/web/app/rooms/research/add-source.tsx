import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { useAct } from '../room-data.ts';

/** A text file or a pasted text becomes a source. */
export function AddSource({ onAdded }: { onAdded(): Promise<void> }) {
  const act = useAct();
  const [name, setName] = useState('');
  const [content, setContent] = useState('');
  const takeFile = async (file: File | undefined) => {
    if (!file) return;
    setName((before) => before || file.name);
    setContent(await file.text());
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act('add_source', { name: name.trim(), content }, 'Source added.');
    if (!done.ok) return;
    setName('');
    setContent('');
    await onAdded();
  };
  return (
    <form className="card" onSubmit={(event) => void submit(event)}>
      <Field label="Text file">
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".txt,.md,.csv,.srt,.vtt,text/*"
            onChange={(event) => void takeFile(event.target.files?.[0])}
          />
        )}
      </Field>
      <Field label="Name">
        {(attributes) => (
          <input {...attributes} value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Field label="Text">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={5}
            value={content}
            onChange={(event) => setContent(event.target.value)}
          />
        )}
      </Field>
      <div className="row">
        <Button type="submit" disabled={name.trim() === '' || content.trim() === ''}>
          Add source
        </Button>
      </div>
    </form>
  );
}
