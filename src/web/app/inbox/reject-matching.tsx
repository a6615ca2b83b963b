import { type FormEvent, useState } from 'react';
import { type ApiError, post, toApiError } from '../../ui/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { useToast } from '../../ui/toast.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { type InboxView, valueName } from './filter.ts';
import { ReasonField } from './reject-dialog.tsx';

interface Props {
  readonly view: InboxView;
  readonly total: number;
  readonly until: number | undefined;
  onClose(): void;
}

/** Rejects everything that the filter matches, in one step and with one reason; what came since stays. */
export function RejectMatching({ view, total, until, onClose }: Props) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const say = useToast();
  const count = total.toLocaleString('en');
  const reject = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const { group: _group, ...filter } = Object.fromEntries(new URLSearchParams(view.query));
    try {
      const { rejected } = await post('/inbox/reject-matching', {
        filter: { ...filter, ...(until === undefined ? {} : { until }) },
        total,
        ...(reason.trim() ? { reason: reason.trim() } : {}),
      });
      const kept = total - rejected;
      say(
        kept === 0
          ? `Rejected ${rejected.toLocaleString('en')}.`
          : `Rejected ${rejected.toLocaleString('en')}. ${kept.toLocaleString('en')} stay pending: their requester cannot be read. Run \`countersign audit verify\`.`,
        kept === 0 ? { tone: 'good' } : { tone: 'bad', stays: true },
      );
      onClose();
    } catch (fault) {
      setProblem(toApiError(fault));
      setBusy(false);
    }
  };
  const filters = [...view.parts.map(valueName), ...(view.text ? [`“${view.text}”`] : [])];
  return (
    <Dialog
      title={`Reject ${count} approvals`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" type="submit" form="reject-matching" disabled={busy}>
            {busy ? 'Rejecting…' : `Reject ${count}`}
          </Button>
        </>
      }
    >
      <ErrorNotice error={problem} />
      <p>
        Every pending approval
        {filters.length > 0 ? (
          <>
            {' '}
            that matches <UntrustedText text={filters.join(', ')} />
          </>
        ) : null}
        , including those that are not on screen and those that cannot be read. Each decision is logged
        separately. An approval whose requester cannot be read stays pending.
      </p>
      <form id="reject-matching" className="stack" onSubmit={(event) => void reject(event)}>
        <ReasonField value={reason} onChange={setReason} />
      </form>
    </Dialog>
  );
}
