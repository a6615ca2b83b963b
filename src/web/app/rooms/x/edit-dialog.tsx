import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { LengthMeter } from '../../inbox/views/post.tsx';
import type { ApiError } from '../../lib/api.ts';
import type { JsonRecord } from '../../lib/json.ts';
import { useAct } from '../room-data.ts';
import { asText, type Item } from './types.ts';
import { toIso, toLocal, ZONE } from './when.ts';

/** What the tool still lets people change. */
const OPEN: ReadonlySet<string> = new Set(['draft', 'scheduled', 'failed']);

interface Props {
  readonly item: Item;
  onClose(): void;
  onSaved(): Promise<void>;
}

/** Text and time of a draft or a scheduled post. */
export function EditDialog({ item, onClose, onSaved }: Props) {
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
        label={item.posted_at ? 'Was to go out' : 'Goes out'}
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
