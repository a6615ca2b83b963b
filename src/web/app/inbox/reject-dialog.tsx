import { type FormEvent, useState } from 'react';
import { type ApiError, post, toApiError } from '../../ui/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Field } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';

const REASONS = ['Not needed', 'Wrong target', 'Change the content and ask again'];
const DANGER_REASONS = ['Not needed', 'Wrong target', 'Count what is affected first, then ask again'];

interface Props {
  readonly id: number;
  /** It destroys or moves money: other reasons are offered. */
  readonly danger?: boolean;
  onClose(): void;
  onDone(reason: string): void;
}

export function RejectDialog({ id, danger = false, onClose, onDone }: Props) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const reject = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await post(`/inbox/${id}/reject`, reason.trim() ? { reason: reason.trim() } : {});
      onDone(reason.trim());
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
        <ReasonField value={reason} danger={danger} onChange={setReason} />
      </form>
    </Dialog>
  );
}

interface ReasonProps {
  readonly value: string;
  readonly danger?: boolean;
  onChange(text: string): void;
}

/** Three reasons to press and one to write; none is required. */
export const ReasonField = ({ value, danger = false, onChange }: ReasonProps) => (
  <div className="stack">
    <Field label="Reason" hint="Optional. Shown to the agent.">
      {(attributes) => (
        <input
          {...attributes}
          maxLength={2000}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
    <div className="row">
      {(danger ? DANGER_REASONS : REASONS).map((text) => (
        <Button key={text} small aria-pressed={value === text} onClick={() => onChange(text)}>
          {text}
        </Button>
      ))}
    </div>
  </div>
);
