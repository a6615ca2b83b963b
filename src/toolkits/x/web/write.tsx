import { type FormEvent, useState } from 'react';
import { Badge, Empty, StateBadge, shortName } from '../../../web/ui/badge.tsx';
import { Button, Field } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import type { JsonRecord } from '../../../web/ui/session.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { type Item, textsOf, useView } from './data.ts';
import { EditDialog, NoModel, toIso, ZONE } from './dialogs.tsx';
import { LengthMeter } from './post.tsx';

const FORMATS = [
  'list',
  'contrarian_take',
  'most_people_think_x',
  'storytelling',
  'before_after',
  'question',
  'tip',
] as const;

/** The composer and the drafts. */
export function Write({ llm, known }: { readonly llm: string | null; readonly known: boolean }) {
  const drafts = useView('drafts', { limit: 100 }, { topics: ['approvals', 'calls', 'x.changed'] });
  return (
    <div className="x-write">
      <div className="stack">
        <Composer onDone={drafts.refresh} />
        <Assist llm={llm} known={known} onDone={drafts.refresh} />
      </div>
      <section className="stack" aria-labelledby="drafts">
        <h2 id="drafts">Drafts</h2>
        <ErrorNotice error={drafts.error} />
        {drafts.data?.items.length === 0 && (
          <Empty title="No drafts" icon="edit">
            <p>
              Write a post and save it, or let an agent prepare some with <code>compose_tweet</code>.
            </p>
          </Empty>
        )}
        {drafts.data?.items.map((item) => (
          <Draft key={item.id} item={item} onChanged={drafts.refresh} />
        ))}
      </section>
    </div>
  );
}

function Composer({ onDone }: { onDone(): Promise<void> }) {
  const act = useAct();
  const [text, setText] = useState('');
  const [thread, setThread] = useState(false);
  const [when, setWhen] = useState('');
  const parts = thread ? text.split(/^\s*-{3,}\s*$/mu).map((part) => part.trim()) : [text];
  const content_type = thread ? 'thread' : 'tweet';
  const finish = async (tool: string, args: JsonRecord, said: string) => {
    const done = await act(tool, args, said);
    if (!done.ok) return;
    setText('');
    setWhen('');
    await onDone();
  };
  const keep = () => finish('compose_tweet', { content: text, content_type }, 'Saved as a draft.');
  const schedule = () =>
    finish('compose_tweet', { content: text, content_type, scheduled_for: toIso(when) }, 'Scheduled.');
  const postNow = () =>
    thread
      ? finish('x_post_thread', { tweets: parts.filter(Boolean) }, 'Posted.')
      : finish('x_post_tweet', { text }, 'Posted.');
  return (
    <section className="card" aria-labelledby="composer">
      <h2 id="composer">Write</h2>
      <Field label="Post" hint={thread ? 'A line of --- starts the next part of the thread.' : undefined}>
        {(attributes) => (
          <textarea {...attributes} rows={5} value={text} onChange={(event) => setText(event.target.value)} />
        )}
      </Field>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a thread are their places
        <LengthMeter key={at} text={part} />
      ))}
      <label className="row nowrap small">
        <input type="checkbox" checked={thread} onChange={(event) => setThread(event.target.checked)} />A
        thread
      </label>
      <div className="row">
        <Button disabled={text.trim() === ''} onClick={() => void keep()}>
          Save as a draft
        </Button>
        <Button tone="primary" disabled={text.trim() === ''} onClick={() => void postNow()}>
          Post now
        </Button>
      </div>
      <div className="row x-when">
        <input
          type="datetime-local"
          aria-label="When to post"
          title={`In your time zone, ${ZONE}`}
          value={when}
          onChange={(event) => setWhen(event.target.value)}
        />
        <Button disabled={text.trim() === '' || when === ''} onClick={() => void schedule()}>
          Schedule
        </Button>
        <span className="muted small">{ZONE} time</span>
      </div>
    </section>
  );
}

interface AssistProps {
  readonly llm: string | null;
  readonly known: boolean;
  onDone(): Promise<void>;
}

function Assist({ llm, known, onDone }: AssistProps) {
  const act = useAct();
  const [topic, setTopic] = useState('');
  const [format, setFormat] = useState('');
  const [thread, setThread] = useState(false);
  const [busy, setBusy] = useState(false);
  const write = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const args = { topic, content_type: thread ? 'thread' : 'tweet', ...(format ? { format } : {}) };
    const done = await act('compose_tweet', args, 'Draft written. Read it before you post it.');
    setBusy(false);
    if (!done.ok) return;
    setTopic('');
    await onDone();
  };
  return (
    <form className="card" aria-labelledby="assist" onSubmit={(event) => void write(event)}>
      <h2 id="assist">AI Assist</h2>
      {known && llm === null && <NoModel />}
      <Field label="Topic" hint="What the model should write about; the result is saved as a draft.">
        {(attributes) => (
          <input {...attributes} value={topic} onChange={(event) => setTopic(event.target.value)} />
        )}
      </Field>
      <Field label="Format">
        {(attributes) => (
          <select {...attributes} value={format} onChange={(event) => setFormat(event.target.value)}>
            <option value="">any</option>
            {FORMATS.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      <label className="row nowrap small">
        <input type="checkbox" checked={thread} onChange={(event) => setThread(event.target.checked)} />A
        thread
      </label>
      <div className="row">
        <Button type="submit" disabled={busy || (known && llm === null) || topic.trim() === ''}>
          {busy ? 'Writing…' : 'Write a draft'}
        </Button>
      </div>
    </form>
  );
}

function Draft({ item, onChanged }: { readonly item: Item; onChanged(): Promise<void> }) {
  const act = useAct();
  const [editing, setEditing] = useState(false);
  const cancel = async () => {
    await act('cancel_draft', { id: item.id }, 'Removed from the list.');
    await onChanged();
  };
  return (
    <article className="card" aria-label={`Draft ${item.id}`}>
      <div className="row">
        <StateBadge state={item.status} />
        {item.content_type === 'thread' && <Badge>thread of {textsOf(item).length}</Badge>}
        <span className="muted small">
          {shortName(item.created_by)}, <TimeAgo at={item.created_at} />
          {item.topic && (
            <>
              , about <UntrustedText text={item.topic} />
            </>
          )}
        </span>
      </div>
      {textsOf(item).map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a thread are their places
        <UntrustedText key={at} block text={text} />
      ))}
      {item.error && (
        <p className="small">
          <UntrustedText text={item.error} />
        </p>
      )}
      <div className="row">
        <Button small onClick={() => setEditing(true)}>
          Edit or schedule
        </Button>
        <Button small tone="danger" onClick={() => void cancel()}>
          Discard
        </Button>
      </div>
      {editing && (
        <EditDialog
          item={item}
          onClose={() => setEditing(false)}
          onSaved={async () => {
            setEditing(false);
            await onChanged();
          }}
        />
      )}
    </article>
  );
}
