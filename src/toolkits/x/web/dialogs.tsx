import { useState } from 'react';
import type { ApiError } from '../../../web/ui/api.ts';
import { Dialog } from '../../../web/ui/dialog.tsx';
import { Button, Field } from '../../../web/ui/field.tsx';
import { ErrorNotice, Notice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import type { JsonRecord } from '../../../web/ui/session.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { asText, type Found, type Item } from './data.ts';
import { LengthMeter } from './post.tsx';

/** Where this browser thinks it is; what a person types is meant there. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment as a date-and-time field of this browser shows it. */
function toLocal(iso: string): string {
  const at = new Date(iso);
  return `${dayOf(at)}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

export const toIso = (local: string): string => new Date(local).toISOString();

/** The day of a moment in this browser's zone, as 2026-03-09. */
export const dayOf = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

export function addDays(at: Date, days: number): Date {
  const moved = new Date(at);
  moved.setDate(moved.getDate() + days);
  return moved;
}

/** Midnight of the Monday on or before a day. */
export function mondayOf(at: Date): Date {
  const monday = addDays(at, -((at.getDay() + 6) % 7));
  monday.setHours(0, 0, 0, 0);
  return monday;
}

/** The same time of day on another day. */
export function onDay(iso: string, day: string): string {
  return toIso(`${day}T${toLocal(iso).slice(11)}`);
}

/** What the tool still lets people change. */
const OPEN: ReadonlySet<string> = new Set(['draft', 'scheduled', 'failed']);

interface EditDialogProps {
  readonly item: Item;
  onClose(): void;
  onSaved(): Promise<void>;
}

/** Text and time of a draft or a scheduled post. */
export function EditDialog({ item, onClose, onSaved }: EditDialogProps) {
  const [fault, setFault] = useState<ApiError>();
  const act = useAct(setFault);
  const [text, setText] = useState(asText(item));
  const [when, setWhen] = useState(item.scheduled_for ? toLocal(item.scheduled_for) : '');
  // What is out, or on its way, can only be read.
  const open = OPEN.has(item.status);
  const parts = item.content_type === 'thread' ? text.split(/^\s*-{3,}\s*$/mu) : [text];
  const save = async () => {
    const before = item.scheduled_for ? toLocal(item.scheduled_for) : '';
    const args: JsonRecord = {
      id: item.id,
      ...(text === asText(item) ? {} : { content: text }),
      ...(when === before ? {} : { scheduled_for: when === '' ? null : toIso(when) }),
    };
    if (Object.keys(args).length === 1) return onClose();
    const done = await act('update_draft', args, 'Saved.');
    if (done.ok) await onSaved();
  };
  return (
    <Dialog
      title={item.scheduled_for ? 'Scheduled post' : 'Draft'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{open ? 'Cancel' : 'Close'}</Button>
          {open && (
            <Button tone="primary" disabled={text.trim() === ''} onClick={() => void save()}>
              Save
            </Button>
          )}
        </>
      }
    >
      <ErrorNotice error={fault} />
      <Field label="Text">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={6}
            readOnly={!open}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a thread are their places
        <LengthMeter key={at} text={part.trim()} />
      ))}
      <Field
        label={item.posted_at ? 'Was scheduled for' : 'Scheduled for'}
        hint={`${ZONE} time.${open ? ' Empty: it stays a draft.' : ''}`}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="datetime-local"
            readOnly={!open}
            value={when}
            onChange={(event) => setWhen(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
}

/** Why AI Assist rests and what wakes it. */
export function NoModel() {
  return (
    <Notice>
      <p>
        AI Assist needs a language model, and none is configured. Set <code>provider</code>,{' '}
        <code>model</code> and <code>api_key</code> under <code>[llm]</code> in the configuration (ollama
        needs no key), then restart <code>countersign up</code>.
      </p>
    </Notice>
  );
}

interface ReplyDialogProps {
  readonly llm: string | null;
  readonly found: Found;
  onClose(): void;
  onSent(): Promise<void>;
}

/** An answer to a found post, written by the person or drafted by the model; the person sends it. */
export function ReplyDialog({ llm, found, onClose, onSent }: ReplyDialogProps) {
  const [fault, setFault] = useState<ApiError>();
  const act = useAct(setFault);
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const assist = async () => {
    setBusy(true);
    const done = await act('generate_reply', {
      tweet_id: found.tweet_id,
      tweet_text: found.text,
      tweet_author: found.author_username,
    });
    setBusy(false);
    if (done.ok) setText((done.data as { content: string }).content);
  };
  const send = async () => {
    setBusy(true);
    const done = await act('x_reply_to_tweet', { text, in_reply_to_id: found.tweet_id }, 'Replied.');
    setBusy(false);
    if (done.ok) await onSent();
  };
  return (
    <Dialog
      title={`Reply to @${found.author_username}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={busy || llm === null} onClick={() => void assist()}>
            AI Assist
          </Button>
          <Button tone="primary" disabled={busy || text.trim() === ''} onClick={() => void send()}>
            Post the reply
          </Button>
        </>
      }
    >
      <ErrorNotice error={fault} />
      <blockquote className="quoted answered">
        <UntrustedText block text={found.text} />
      </blockquote>
      <Field label="Your reply">
        {(attributes) => (
          <textarea {...attributes} rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        )}
      </Field>
      <LengthMeter text={text} />
      {llm === null && <NoModel />}
    </Dialog>
  );
}
