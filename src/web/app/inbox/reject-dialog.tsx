import { type FormEvent, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { type ApiError, post, toApiError } from '../lib/api.ts';

interface Props {
  readonly id: number;
  onClose(): void;
  onDone(): void;
}

export function RejectDialog({ id, onClose, onDone }: Props) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const reject = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await post(`/inbox/${id}/reject`, reason.trim() ? { reason: reason.trim() } : {});
      onDone();
    } catch (error) {
      setProblem(toApiError(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Reject"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" type="submit" form="reject-form" disabled={busy}>
            Reject
          </Button>
        </>
      }
    >
      <form id="reject-form" className="stack" onSubmit={(event) => void reject(event)}>
        <ErrorNotice error={problem} />
        <ReasonField value={reason} onChange={setReason} />
      </form>
    </Dialog>
  );
}

export const ReasonField = ({
  value,
  onChange,
}: {
  readonly value: string;
  onChange(text: string): void;
}) => (
  <Field label="Reason" hint="The agent is told. Leave it empty if there is nothing to say.">
    {(attributes) => (
      <input
        {...attributes}
        maxLength={2000}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
);
