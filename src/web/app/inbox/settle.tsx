import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../components/button.tsx';
import { JsonView } from '../components/json-view.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useFaultToast, useToast } from '../components/toast.tsx';
import { post, useQuery } from '../lib/api.ts';
import type { Json } from '../lib/json.ts';
import type { Unsettled } from './types.ts';

/** Changes cut off half-way. Only somebody who looks at the far side can say whether they happened. */
export function UnsettledCalls({
  calls,
  onSettled,
}: {
  readonly calls: readonly Unsettled[];
  onSettled(): void;
}) {
  if (calls.length === 0) return null;
  return (
    <section className="unsettled" aria-label="Calls whose outcome is unknown">
      <h2>Did this happen?</h2>
      <p className="small">
        {calls.length === 1 ? 'A change was' : `${calls.length} changes were`} interrupted. Look at the far
        side, then say what you found. Nothing is tried again by itself.
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
  const sayFault = useFaultToast();
  const detail = useQuery<{ args: Json }>(open ? `/activity/${call.call_id}` : undefined);
  const settle = async (happened: boolean): Promise<void> => {
    setBusy(true);
    try {
      await post(`/calls/${call.call_id}/settle`, { happened });
      say(happened ? 'Settled: it happened.' : 'Settled: it did not happen.', { tone: 'good' });
    } catch (error) {
      sayFault(error);
    } finally {
      setBusy(false);
      onSettled();
    }
  };
  return (
    <li className="unsettled-call">
      <p>
        <strong>{call.tool}</strong> by {call.principal}, <TimeAgo at={call.at} />
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
          <p className="muted small">They are no longer kept.</p>
        ) : (
          <JsonView value={detail.data.args} label="Arguments" />
        )
      ) : null}
    </li>
  );
}
