import { type FormEvent, useState } from 'react';
import { Badge } from '../../../web/ui/badge.tsx';
import { Button, Field } from '../../../web/ui/field.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { counted } from './counted.ts';
import type { Source } from './data.ts';

interface Props {
  readonly sources: readonly Source[];
  readonly current: number | undefined;
  onOpen(id: number): void;
}

export function SourceList({ sources, current, onOpen }: Props) {
  return (
    <nav aria-label="Sources" className="source-list">
      <ul className="plain-list">
        {sources.map((source) => (
          <li key={source.id}>
            <button
              type="button"
              className="source-choice"
              aria-current={source.id === current ? 'true' : undefined}
              onClick={() => onOpen(source.id)}
            >
              <UntrustedText text={source.name} />
              <span className="muted small">
                {source.has_text ? counted(source.code_count, 'coding') : source.type}
              </span>
              {source.off_limits && <Badge title="Agents cannot read this source">off limits</Badge>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

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
