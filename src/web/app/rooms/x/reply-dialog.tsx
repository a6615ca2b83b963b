import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { LengthMeter } from '../../inbox/views/post.tsx';
import type { ApiError } from '../../lib/api.ts';
import { useAct } from '../room-data.ts';
import { NoModel } from './no-model.tsx';
import type { Found } from './types.ts';

interface Props {
  readonly llm: string | null;
  readonly found: Found;
  onClose(): void;
  onSent(): Promise<void>;
}

/** An answer to a found post, written by the person or drafted by the model; the person sends it. */
export function ReplyDialog({ llm, found, onClose, onSent }: Props) {
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
      <blockquote className="quoted">
        <Foreign block text={found.text} />
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
