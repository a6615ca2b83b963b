import { useEffect, useState } from 'react';
import type { StandingDraft, StandingView } from '../../../contract/standing.ts';
import { post, useQuery } from '../../ui/api.ts';
import { Avatar, Badge, Empty, Skeleton, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { StandingSentence, UntrustedText } from '../../ui/untrusted-text.tsx';

const STATES: Readonly<Record<StandingView['state'], readonly [string, Tone]>> = {
  active: ['Active', 'info'],
  used_up: ['Used up', 'neutral'],
  expired: ['Expired', 'neutral'],
  revoked: ['Revoked', 'neutral'],
  changed: ['Tool changed', 'warn'],
};

/** What people decided in advance: counted down, and revoked with one press. */
export function Remembered() {
  const { data, error, refresh } = useQuery('/standing', { topics: ['config', 'calls'] });
  const say = useToast();
  const describeError = useErrorToast();
  const revoke = async (id: number): Promise<void> => {
    try {
      await post(`/standing/${id}/revoke`);
      say('Revoked. Such calls require approval again.', { tone: 'good' });
    } catch (fault) {
      describeError(fault);
    }
    await refresh();
  };
  if (!data) return error ? <ErrorNotice error={error} /> : <Skeleton lines={4} />;
  const active = data.standing.filter(({ state }) => state === 'active');
  const over = data.standing.filter(({ state }) => state !== 'active');
  return (
    <>
      <p className="muted">
        A remembered decision answers an ask, never a deny. It covers one agent and one tool as it is today,
        within the conditions you chose, for a number of calls and a time. Each use is in the audit log.
      </p>
      {active.length === 0 ? (
        <Empty title="No remembered decisions" icon="remember">
          <p>
            Open a call in the inbox and press <kbd className="key">M</kbd> to remember your approval of calls
            like it. What you always decide the same way is suggested below.
          </p>
        </Empty>
      ) : (
        <ul className="rules" aria-label="Remembered decisions">
          {active.map((one) => (
            <Row key={one.id} one={one} onRevoke={() => void revoke(one.id)} />
          ))}
        </ul>
      )}
      <Recommendations onSaved={() => void refresh()} />
      {over.length > 0 ? (
        <details>
          <summary>Ended ({over.length})</summary>
          <ul className="rules">
            {over.map((one) => (
              <Row key={one.id} one={one} />
            ))}
          </ul>
        </details>
      ) : null}
    </>
  );
}

function Row({ one, onRevoke }: { readonly one: StandingView; onRevoke?(): void }) {
  const [word, tone] = STATES[one.state];
  return (
    <li className="remembered">
      <Avatar name={one.agent} />
      <div className="stack-tight">
        <p>
          <StandingSentence text={one.sentence} />
        </p>
        <p className="meta">
          <progress max={one.uses} value={one.used} aria-label={`${one.used} of ${one.uses} uses`} />{' '}
          {one.used} of {one.uses} uses
          {one.state === 'active' ? (
            <>
              {' · ends '}
              <Countdown until={one.until} />
            </>
          ) : null}{' '}
          · by {one.created_by.replace(/^person:/u, '')}
        </p>
      </div>
      <Badge tone={tone}>{word}</Badge>
      {onRevoke ? (
        <Button small tone="danger" aria-label={`Revoke ${one.id}`} onClick={onRevoke}>
          Revoke
        </Button>
      ) : null}
    </li>
  );
}

const SECOND = 1000;

/** The time that is left, counted down while one looks at it. */
function Countdown({ until }: { readonly until: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND);
    return () => clearInterval(timer);
  }, []);
  const left = Math.max(0, Math.floor((Date.parse(until) - now) / SECOND));
  const [days, hours, minutes] = [
    Math.floor(left / 86_400),
    Math.floor(left / 3600) % 24,
    Math.floor(left / 60) % 60,
  ];
  const text =
    days > 0
      ? `in ${days} d ${hours} h`
      : hours > 0
        ? `in ${hours} h ${minutes} min`
        : left > 0
          ? `in ${minutes} min ${left % 60} s`
          : 'now';
  return (
    <time
      dateTime={until}
      title={new Date(until).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })}
    >
      {text}
    </time>
  );
}

/** What history suggests; each with its evidence, none saved without a press. */
function Recommendations({ onSaved }: { onSaved(): void }) {
  const { data, refresh } = useQuery('/policy/recommendations', {
    topics: ['config', 'approvals'],
  });
  const say = useToast();
  const describeError = useErrorToast();
  const found =
    data?.recommendations.flatMap((one) =>
      one.kind === 'standing' && one.draft ? [{ ...one, draft: one.draft }] : [],
    ) ?? [];
  if (found.length === 0) return null;
  const save = async (draft: StandingDraft): Promise<void> => {
    try {
      await post('/standing', { draft });
      say('Remembered. Such calls no longer require approval.', { tone: 'good' });
    } catch (fault) {
      describeError(fault);
    }
    onSaved();
    await refresh();
  };
  return (
    <section aria-label="Suggested from history">
      <h2>Suggested from history</h2>
      <ul className="rules">
        {found.map((one) => (
          <li key={`${one.agent} ${one.tool}`} className="remembered">
            <Avatar name={one.agent} />
            <div className="stack-tight">
              <p>
                <StandingSentence text={one.sentence} />
              </p>
              <p className="meta">
                You approved {one.evidence.approved} of {one.evidence.asked} as asked, last{' '}
                <a href={`/inbox/${one.evidence.approvals[0]}`}>
                  <UntrustedText text={one.title} />
                </a>
              </p>
            </div>
            <Button small onClick={() => void save(one.draft)}>
              Remember
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
