import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentDetail as Detail } from '../../../kernel/views/shapes.ts';
import { post, remove, useQuery } from '../../ui/api.ts';
import { Avatar, Skeleton } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { Prose } from '../../ui/prose.tsx';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { StandingSentence, UntrustedText } from '../../ui/untrusted-text.tsx';

/** One agent: how it fared, what it may do without a person, and why it was last rejected. */
export function AgentDetail({ name, onChange }: { readonly name: string; onChange(): void }) {
  const path = `/agents/${encodeURIComponent(name)}` as const;
  const { data, error, refresh } = useQuery(`${path}/overview`, {
    topics: ['config', 'approvals'],
  });
  const [revoking, setRevoking] = useState(false);
  const say = useToast();
  const describeError = useErrorToast();
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await work();
      say(done, { tone: 'good' });
    } catch (fault) {
      describeError(fault);
    }
    setRevoking(false);
    onChange();
    await refresh();
  };
  if (!data) return error ? <ErrorNotice error={error} /> : <Skeleton lines={6} />;
  const paused = data.paused_by !== null;
  return (
    <section className="card side-card" aria-label={name}>
      <header className="agent-head">
        <Avatar name={data.principal} large />
        <div className="stack-tight grow">
          <h2>{name}</h2>
          <p className="meta">
            {data.client ? (
              <>
                <UntrustedText text={data.client} />
                {' · '}
              </>
            ) : null}
            {data.damaged ? (
              'token date not known'
            ) : data.token_since ? (
              <>
                token since{' '}
                {new Date(data.token_since).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}
              </>
            ) : (
              'no token: every client without one has this name'
            )}
            {data.paused_by ? ` · paused by ${data.paused_by.replace(/^person:/u, '')}` : ''}
          </p>
        </div>
        {data.revoked_at ? null : (
          <>
            <Button
              small
              icon={paused ? 'right' : 'pause'}
              aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
              onClick={() =>
                void act(
                  () => post(`${path}/${paused ? 'resume' : 'pause'}`),
                  paused ? `Resumed ${name}.` : `Paused ${name}. Its calls are refused until you resume it.`,
                )
              }
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
            {data.token_since ? (
              <Button small tone="danger" aria-label={`Revoke ${name}`} onClick={() => setRevoking(true)}>
                Revoke token
              </Button>
            ) : null}
          </>
        )}
      </header>
      {data.damaged ? (
        <div className="agent-notice">
          <Notice tone="bad">
            <Prose text={data.damaged} />
          </Notice>
        </div>
      ) : null}
      <Figures data={data} />
      <div className="agent-columns">
        <Alone data={data} />
        <Last data={data} />
      </div>
      {revoking ? (
        <Dialog
          title={`Revoke ${name}?`}
          onClose={() => setRevoking(false)}
          footer={
            <>
              <Button onClick={() => setRevoking(false)}>Cancel</Button>
              <Button
                tone="danger"
                onClick={() => void act(() => remove(path), `Revoked ${name}. Its token no longer works.`)}
              >
                Revoke
              </Button>
            </>
          }
        >
          <p>Its token stops working immediately. This cannot be undone.</p>
        </Dialog>
      ) : null}
    </section>
  );
}

function Figures({ data }: { readonly data: Detail }) {
  const { decisions, refused, days } = data;
  const calls = days.reduce((sum, count) => sum + count, 0);
  const uses = data.standing.reduce((sum, { used }) => sum + used, 0);
  const cells: readonly [string, number, string, string?][] = [
    [`Asked, ${days.length} days`, decisions.asked, `of ${calls.toLocaleString('en')} calls`],
    [
      'Approved as asked',
      decisions.approved,
      `${decisions.edited} edited, ${decisions.rejected} rejected`,
      'good',
    ],
    ['Refused by policy', refused.by_policy + refused.by_limit, `${refused.by_limit} beyond a limit`],
    ['Remembered decisions', data.standing.length, uses === 1 ? '1 use' : `${uses} uses`],
  ];
  return (
    <dl className="figures">
      {cells.map(([name, value, detail, tone]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={tone ? `figure tone-${tone}` : 'figure'}>{value.toLocaleString('en')}</dd>
          <dd>{detail}</dd>
        </div>
      ))}
    </dl>
  );
}

const SHOWN = 6;

function Alone({ data }: { readonly data: Detail }) {
  const { alone, standing, reads } = data;
  const isEmpty = alone.length === 0 && standing.length === 0;
  return (
    <section aria-label="What it may do without you">
      <h3>What it may do without you</h3>
      <ul className="agent-lines">
        {standing.map(({ id, sentence, used, uses, until }) => (
          <li key={id}>
            <Icon name="remember" />
            <span>
              <StandingSentence text={sentence} />
            </span>
            <span className="meta">
              {used} of {uses} used, ends <TimeAgo at={until} />
            </span>
          </li>
        ))}
        {alone.map(({ toolkit, title, tools }) => (
          <li key={toolkit}>
            <Icon name="edit" />
            <span>
              {title}:{' '}
              {tools
                .slice(0, SHOWN)
                .map((one) => one.title)
                .join(', ')}
              {tools.length > SHOWN ? ` and ${tools.length - SHOWN} more` : ''}
            </span>
            {tools.some(({ depends }) => depends) ? (
              <span className="meta">some depend on arguments</span>
            ) : null}
          </li>
        ))}
        <li>
          <Icon name="eye" />
          <span>
            {reads.allowed === reads.of
              ? 'Read everything'
              : `Read with ${reads.allowed} of ${reads.of} tools`}
          </span>
        </li>
      </ul>
      {isEmpty ? <p className="muted small">Every change it requests needs your approval.</p> : null}
      <Link className="small" href={`/policy/permissions?agent=${encodeURIComponent(data.principal)}`}>
        All permissions
      </Link>
    </section>
  );
}

function Last({ data }: { readonly data: Detail }) {
  return (
    <section aria-label="Last decisions">
      <h3>Last decisions</h3>
      {data.last.length === 0 ? (
        <p className="muted small">No one has decided on a call by {data.name} yet.</p>
      ) : (
        <ul className="agent-lines">
          {data.last.map((one) => (
            <li key={one.approval_id} className={one.state === 'rejected' ? 'tone-bad' : undefined}>
              <Icon name={one.state === 'rejected' ? 'cross' : 'check'} />
              <Link
                className="clip"
                href={one.call_id ? `/activity/${one.call_id}` : `/inbox/${one.approval_id}`}
              >
                <UntrustedText text={one.gist ? `${one.title}: ${one.gist}` : one.title} />
              </Link>
              <span className={one.reason ? 'small' : 'meta'}>
                {one.reason ? (
                  <UntrustedText text={`“${one.reason}”`} />
                ) : one.decided_at ? (
                  <>
                    {one.edited ? 'edited, ' : ''}
                    <TimeAgo at={one.decided_at} />
                  </>
                ) : null}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Link className="small" href={`/activity?agent=${encodeURIComponent(data.principal)}`}>
        All its calls
      </Link>
    </section>
  );
}
