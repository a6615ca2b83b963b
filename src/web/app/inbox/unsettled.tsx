import { useState } from 'react';
import { Link } from 'wouter';
import type { Unsettled } from '../../../kernel/views/shapes.ts';
import { post, useQuery } from '../../ui/api.ts';
import { shortName } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { ResultView } from '../../ui/result-view.tsx';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

/** Changes cut off half-way. Only a person who checks the target can say whether they happened. */
export function UnsettledCalls({
  calls,
  onSettled,
}: {
  readonly calls: readonly Unsettled[];
  onSettled(): void;
}) {
  return (
    <section className="unsettled" aria-label="Calls whose outcome is unknown">
      <h2>Outcome unknown</h2>
      <p className="small">
        {calls.length === 1 ? 'A change was' : `${calls.length} changes were`} interrupted. Check the target
        system, then record what you found. Nothing is retried automatically.
      </p>
      <ul className="unsettled-list">
        {calls.map((call) => (
          <UnsettledCall key={call.call_id} call={call} onSettled={onSettled} />
        ))}
      </ul>
    </section>
  );
}

function UnsettledCall({ call, onSettled }: { readonly call: Unsettled; onSettled(): void }) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const say = useToast();
  const describeError = useErrorToast();
  const detail = useQuery(open ? `/activity/${call.call_id}` : undefined);
  const settle = async (happened: boolean): Promise<void> => {
    setBusy(true);
    try {
      await post(`/calls/${call.call_id}/settle`, { happened });
      say(happened ? 'Settled: the change happened.' : 'Settled: the change did not happen.', {
        tone: 'good',
      });
    } catch (error) {
      describeError(error);
    } finally {
      setBusy(false);
      onSettled();
    }
  };
  return (
    <li className="unsettled-call">
      <p>
        <strong title={call.tool}>
          <UntrustedText text={call.title} />
        </strong>{' '}
        by {shortName(call.principal)}, <TimeAgo at={call.at} />
      </p>
      <div className="row">
        <Button small disabled={busy} onClick={() => void settle(true)}>
          It happened
        </Button>
        <Button small disabled={busy} onClick={() => void settle(false)}>
          It did not happen
        </Button>
        <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide arguments' : 'Show arguments'}
        </button>
        <Link href={`/activity/${call.call_id}`}>Evidence</Link>
      </div>
      {open ? <ErrorNotice error={detail.error} /> : null}
      {open && detail.data ? (
        detail.data.args === null ? (
          <p className="muted small">Arguments are no longer stored.</p>
        ) : (
          <ResultView value={detail.data.args} label="Arguments" />
        )
      ) : null}
    </li>
  );
}
