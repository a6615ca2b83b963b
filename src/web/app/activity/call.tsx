import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { StateBadge } from '../components/badge.tsx';
import { Fact } from '../components/fact.tsx';
import { Foreign } from '../components/foreign.tsx';
import { JsonView } from '../components/json-view.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useQuery } from '../lib/api.ts';
import type { CallDetail } from './types.ts';
import { Verify } from './verify.tsx';

/** One call: what it was given, what it gave, and the proof that the log has it. */
export function CallPage({ id }: { readonly id: string }) {
  // What is finished stays as it is; only a call that still runs, or waits to be settled, is looked at again.
  const [open, setOpen] = useState(true);
  const { data: call, error } = useQuery<CallDetail>(`/activity/${encodeURIComponent(id)}`, {
    topics: open ? ['calls'] : [],
  });
  const status = call?.status;
  useEffect(() => {
    if (status !== undefined) setOpen(status === 'running' || status === 'indeterminate');
  }, [status]);
  return (
    <Page title={call ? call.tool : 'Call'} actions={<Link href="/activity">← All activity</Link>}>
      <ErrorNotice error={error} />
      {call ? (
        <>
          <section className="card" aria-label="The call">
            <div className="row">
              <StateBadge state={call.status} />
              <StateBadge state={call.effect} />
              {call.code ? <code>{call.code}</code> : null}
              <span className="muted small">
                <TimeAgo at={call.at} />
              </span>
            </div>
            <CallFacts call={call} />
          </section>
          {call.proof ? <Verify proof={call.proof} evidenceHash={call.evidence_hash} /> : null}
          <section className="card" aria-label="Arguments">
            <h2>Arguments</h2>
            {call.args === null ? (
              <p className="muted">They are no longer kept; the evidence holds their hash.</p>
            ) : (
              <JsonView value={call.args} label="Arguments" />
            )}
          </section>
          <section className="card" aria-label="Result">
            <h2>Result</h2>
            {call.result === null ? (
              <p className="muted">
                {call.effect === 'read'
                  ? 'The result of a read stays with the reader; the evidence holds its hash.'
                  : 'There is none, or it is no longer kept.'}
              </p>
            ) : (
              <JsonView value={call.result} label="Result" />
            )}
          </section>
        </>
      ) : error ? null : (
        <p className="muted">Loading…</p>
      )}
    </Page>
  );
}

function CallFacts({ call }: { readonly call: CallDetail }) {
  return (
    <dl className="facts">
      <Fact name="Who">
        {call.principal}
        {call.client ? (
          <span className="muted">
            {' '}
            (calls itself <Foreign text={call.client} />)
          </span>
        ) : null}
      </Fact>
      <Fact name="By">{call.transport}</Fact>
      <Fact name="Decision">
        <StateBadge state={call.decision} /> {call.rule ? <code>{call.rule}</code> : null}
      </Fact>
      <Fact name="Took">{Math.round(call.latency_ms).toLocaleString('en')} ms</Fact>
      {call.approval_id ? (
        <Fact name="Approval">
          <Link href={`/inbox/${call.approval_id}`}>#{call.approval_id}</Link>
        </Fact>
      ) : null}
      {call.replay_of ? (
        <Fact name="Replay of">
          <Link href={`/activity/${call.replay_of}`}>{call.replay_of}</Link>
        </Fact>
      ) : null}
      {call.run_id ? (
        <Fact name="Run">
          <Link href={`/activity?run=${encodeURIComponent(call.run_id)}`}>{call.run_id}</Link>{' '}
          <a href={`/api/runs/${encodeURIComponent(call.run_id)}/export`} download>
            Export
          </a>
        </Fact>
      ) : null}
      <Fact name="Call">
        <code>{call.call_id}</code>
      </Fact>
      {call.evidence_hash ? (
        <Fact name="Evidence">
          <code>{call.evidence_hash}</code>
        </Fact>
      ) : null}
    </dl>
  );
}
