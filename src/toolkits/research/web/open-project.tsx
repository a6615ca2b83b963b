import { type FormEvent, useState } from 'react';
import type { ApiError } from '../../../web/ui/api.ts';
import { Button, Field } from '../../../web/ui/field.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { Project } from './data.ts';

interface Props {
  readonly recent: Project['recent'];
  onOpened(): Promise<void>;
}

/** No project is open: how to get one. */
export function Start({ recent, onOpened }: Props) {
  const act = useAct();
  const open = async (path: string) => {
    const done = await act('open_project', { path });
    if (done.ok) await onOpened();
    return done;
  };
  const create = async (path: string) => {
    const done = await act('create_project', { path });
    if (done.ok) await onOpened();
    return done;
  };
  return (
    <div className="stack research-start">
      <p>
        Agents and you work on one open QualCoder project at a time: a directory that ends in{' '}
        <code>.qda</code>. Countersign and QualCoder read and write the same files, so you can go back and
        forth.
      </p>
      {recent.length > 0 && (
        <section className="card" aria-labelledby="recent-projects">
          <h2 id="recent-projects">Recent projects</h2>
          <ul className="plain-list">
            {recent.map(({ path, last_opened }) => (
              <li key={path} className="row">
                <Button small onClick={() => void open(path)}>
                  Open
                </Button>
                <UntrustedText text={path} />
                <span className="muted small">
                  <TimeAgo at={last_opened} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <PathForm
        title="Open a project"
        hint="Path of the .qda directory on this machine, for example /home/you/studies/interviews.qda."
        verb="Open"
        send={open}
      />
      <PathForm
        title="Create a project"
        hint="Path of the new project; .qda is added if missing."
        verb="Create"
        send={create}
      />
    </div>
  );
}

interface FormProps {
  readonly title: string;
  readonly hint: string;
  readonly verb: string;
  send(path: string): Promise<{ readonly ok: boolean; readonly error?: ApiError }>;
}

function PathForm({ title, hint, verb, send }: FormProps) {
  const [path, setPath] = useState('');
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const done = await send(path.trim());
    setBusy(false);
    setError(done.error);
  };
  return (
    <form className="card" onSubmit={(event) => void submit(event)}>
      <Field label={title} hint={hint} error={error?.message}>
        {(attributes) => (
          <input
            {...attributes}
            value={path}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setPath(event.target.value)}
          />
        )}
      </Field>
      <div className="row">
        <Button type="submit" tone="primary" disabled={busy || path.trim() === ''}>
          {verb}
        </Button>
      </div>
    </form>
  );
}
