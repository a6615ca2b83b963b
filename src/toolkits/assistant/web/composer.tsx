import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { Button, Field } from '../../../web/ui/field.tsx';
import { useAct } from '../../../web/ui/page-data.ts';

interface Props {
  /** The conversation that continues. */
  readonly sessionKey: string;
  readonly isNew: boolean;
  readonly working: boolean;
  /** Called when the order is on its way: the transcript shows the rest. */
  onSent?(): void;
}

/** The person's own message to the assistant: a call of order_clawdbot under the same policy as an agent's. */
export function Composer({ sessionKey, isNew, working, onSent }: Props) {
  const act = useAct();
  const [message, setMessage] = useState('');
  const [sending, setSending] = useState(false);
  const busy = sending || working;
  const send = async (): Promise<void> => {
    if (busy || message.trim() === '') return;
    setSending(true);
    setMessage('');
    const acting = act('order_clawdbot', { message, sessionKey });
    onSent?.();
    const { ok } = await acting;
    // What was not taken is not lost.
    if (!ok) setMessage((now) => now || message);
    setSending(false);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void send();
  };
  const keyed = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send();
  };
  return (
    <form className="composer card" aria-label="Write to the assistant" onSubmit={submit}>
      <Field
        label={isNew ? 'New conversation' : 'Continue this conversation'}
        hint="Ctrl Enter sends. Changes that the assistant makes are evaluated by policy, one by one."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            maxLength={100_000}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={keyed}
          />
        )}
      </Field>
      <div className="row">
        <Button type="submit" tone="primary" disabled={busy || message.trim() === ''}>
          {busy ? 'Working…' : 'Send'}
        </Button>
      </div>
    </form>
  );
}

/** Unguessable, as a conversation of this person alone. */
export function newSessionKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `web-${Date.now()}-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
