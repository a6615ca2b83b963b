import { type FormEvent, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { ApiError, post } from '../lib/api.ts';

interface Props {
  readonly id: number;
  onClose(): void;
  onDone(): void;
}

export function RejectDialog({ id, onClose, onDone }: Props) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<string>();
  const reject = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await post(`/inbox/${id}/reject`, reason.trim() ? { reason: reason.trim() } : {});
      onDone();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title="Reject"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" type="submit" form="reject-form">
            Reject
          </Button>
        </>
      }
    >
      <form id="reject-form" className="stack" onSubmit={(event) => void reject(event)}>
        {problem ? <Notice tone="bad">{problem}</Notice> : null}
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
