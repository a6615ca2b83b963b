import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { CallDetail } from '../../../kernel/views/shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { EnvironmentBadge, Fact, Skeleton } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { EffectBadge, OutcomeBadge } from '../../ui/outcome-badge.tsx';
import { apiPath } from '../../ui/place.ts';
import type { Checked } from '../../ui/proof.ts';
import { useTabTitle } from '../../ui/title.ts';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { PlacedTitle, UntrustedText } from '../../ui/untrusted-text.tsx';
import { ProofCard } from './proof-card.tsx';
import { Story, storySentence } from './story.tsx';
import { UndoCard } from './undo-card.tsx';
import { Arguments, Result } from './values.tsx';

/** One call: its story, the proof that the log has it, what it was given and what it gave. */
export function CallPage({ id }: { readonly id: string }) {
  // What is finished stays as it is; only a call that still runs, or waits to be settled, is looked at again.
  const [open, setOpen] = useState(false);
  const topics = open ? ['calls', 'approvals'] : [];
  const path = `/activity/${encodeURIComponent(id)}` as const;
  const { data: call, error, refresh } = useQuery(path, { topics });
  const story = useQuery(`${path}/story`, { topics });
  const [checked, setChecked] = useState<Checked>();
  const status = call?.status;
  useEffect(() => {
    if (status !== undefined) setOpen(['running', 'indeterminate', 'routed'].includes(status));
  }, [status]);
  useTabTitle(call?.title ?? 'Call');
  return (
    <div className="page call-page">
      <header className="page-head">
        <Link href="/activity" className="back-link">
          <Icon name="left" small /> Activity
        </Link>
        {call ? <Actions call={call} /> : null}
      </header>
      <ErrorNotice error={error} />
      {call ? (
        <>
          <header className="call-head">
            <div className="row">
              <OutcomeBadge status={call.status} approval={call.approval_state} />
              {call.environment ? <EnvironmentBadge environment={call.environment} /> : null}
              <EffectBadge effect={call.effect} />
              <span className="meta">
                {call.approval_id ? (
                  <Link href={`/inbox/${call.approval_id}`}>#{call.approval_id}</Link>
                ) : null}
                {call.approval_id ? ' · ' : ''}
                {new Date(call.at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}
              </span>
            </div>
            <h1 className="call-title">
              <PlacedTitle title={call.title} environment={call.environment} />
            </h1>
            {call.gist ? (
              <p className="call-gist">
                <UntrustedText text={call.gist} />
              </p>
            ) : null}
            {story.data ? <p className="muted">{storySentence(story.data)}</p> : null}
          </header>
          <Doubt call={call} checked={checked} />
          <div className="call-columns">
            {story.data ? <Story story={story.data} callId={id} /> : <Skeleton lines={6} />}
            <div className="stack call-side">
              {call.proof ? <ProofCard call={call} proof={call.proof} onChecked={setChecked} /> : null}
              {call.undo && call.approval_id ? (
                <UndoCard
                  approval={call.approval_id}
                  undo={call.undo}
                  onDone={() => {
                    void refresh();
                    void story.refresh();
                  }}
                />
              ) : null}
            </div>
          </div>
          <Arguments call={call} />
          <Result call={call} />
          <Details call={call} />
        </>
      ) : error ? null : (
        <Skeleton lines={8} />
      )}
    </div>
  );
}

/** Why this page is not to be relied on, before anything that it shows. */
function Doubt({ call, checked }: { readonly call: CallDetail; readonly checked: Checked | undefined }) {
  if (!call.proof)
    return (
      <Notice tone="bad">
        <strong>Not proven.</strong> The audit log has no entry of this call. Do not rely on what this page
        shows about it.
      </Notice>
    );
  if (!checked || checked.ok) return null;
  if (!checked.steps.some(({ ok }) => ok === false))
    return (
      <Notice tone="warn">
        <strong>Not verified.</strong> This browser cannot check the proof.
      </Notice>
    );
  return (
    <Notice tone="bad">
      <strong>Not verified.</strong>{' '}
      {call.differences.length > 0
        ? 'What is stored about this call differs from the audit log.'
        : 'The proof of this call is invalid.'}{' '}
      Do not rely on what this page shows about it.
    </Notice>
  );
}

function Actions({ call }: { readonly call: CallDetail }) {
  const say = useToast();
  const describeError = useErrorToast();
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(location.href);
    say('Copied the link.');
  };
  const save = (): void => {
    const url = URL.createObjectURL(
      new Blob([JSON.stringify(call.proof, null, 2)], { type: 'application/json' }),
    );
    const link = document.createElement('a');
    link.href = url;
    link.download = `proof-${call.call_id}.json`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <div className="page-actions">
      <Button
        small
        tone="quiet"
        className="button-minor"
        icon="link"
        onClick={() => copy().catch(describeError)}
      >
        Copy link
      </Button>
      <Button small tone="quiet" className="button-minor" icon="file" onClick={() => print()}>
        Print
      </Button>
      {call.proof ? (
        <Button small icon="download" onClick={save}>
          Export proof
        </Button>
      ) : null}
    </div>
  );
}

/** What else the audit log says about the call; IDs are here and nowhere above. */
const Details = ({ call }: { readonly call: CallDetail }) => (
  <details className="call-details">
    <summary>Technical details</summary>
    <dl className="facts">
      <Fact name="Tool">
        <code>{call.tool}</code>
      </Fact>
      <Fact name="Principal">
        {call.principal}
        {call.client ? (
          <span className="muted">
            {' '}
            (client name: <UntrustedText text={call.client} />)
          </span>
        ) : null}
      </Fact>
      <Fact name="Transport">{call.transport}</Fact>
      <Fact name="Decision">
        {call.decision}
        {call.rule ? (
          <>
            {' by '}
            <code>{call.rule}</code>
          </>
        ) : null}
      </Fact>
      {call.code ? (
        <Fact name="Code">
          <code>{call.code}</code>
        </Fact>
      ) : null}
      <Fact name="Duration">{Math.round(call.latency_ms).toLocaleString('en')} ms</Fact>
      {call.replay_of ? (
        <Fact name="Replay of">
          <Link href={`/activity/${call.replay_of}`}>{call.replay_of}</Link>
        </Fact>
      ) : null}
      {call.run_id ? (
        <Fact name="Run">
          <Link href={`/activity?run=${encodeURIComponent(call.run_id)}`}>{call.run_id}</Link>{' '}
          <a href={apiPath(`/runs/${encodeURIComponent(call.run_id)}/export`)} download>
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
  </details>
);
