import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { ReplayChange, ReplayData, Rule, RuleIssue } from '../../../kernel/views/policy-shapes.ts';
import { type ApiError, post, toApiError } from '../../ui/api.ts';
import { Avatar, StateBadge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

const TYPING_MS = 350;

export interface Replay {
  readonly data: ReplayData | undefined;
  /** What is wrong with the rule as it is written. */
  readonly issues: readonly RuleIssue[];
  readonly error: ApiError | undefined;
  readonly ms: number | undefined;
}

const NONE: Replay = { data: undefined, issues: [], error: undefined, ms: undefined };

/** What the rule would have done to past calls, asked again a moment after each change of it. */
export function useReplay(rule: Rule): Replay {
  const [state, setState] = useState<Replay>(NONE);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      const start = performance.now();
      // An unnamed rule can be tried already.
      post('/policy/replay', { rule: { ...rule, id: rule.id || 'draft' } }).then(
        ({ issues, replay }) => {
          if (!current) return;
          setState({ data: replay ?? undefined, issues, error: undefined, ms: performance.now() - start });
        },
        (error: unknown) => {
          if (current) setState((old) => ({ ...old, error: toApiError(error) }));
        },
      );
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [rule]);
  return state;
}

/** The calls that a draft rule would have decided otherwise, each linked to its story. */
export function ReplayCard({ replay: { data, ms } }: { readonly replay: Replay }) {
  if (!data) return null;
  const { changes } = data;
  const stopped = changes.filter(({ after }) => after === 'deny' || after === 'dry_run').length;
  return (
    <section className="card side-card" aria-label="Replay">
      <header className="side-head">
        <Icon name="history" />
        <h3>
          Tested on your last {data.looked_at.toLocaleString('en')} {data.looked_at === 1 ? 'call' : 'calls'}
        </h3>
        <span className="grow" />
        <span className="meta">{ms === undefined ? '' : `${Math.round(ms)} ms, `}nothing is run</span>
      </header>
      <div role="status">
        <dl className="figures">
          <Figure name="Still ask" value={data.still_ask} detail="as before" />
          <Figure
            name="No longer ask"
            value={data.no_longer_ask}
            detail="would run without you"
            {...(data.no_longer_ask > 0 ? { tone: 'warn' } : {})}
          />
          <Figure name="Newly ask" value={data.newly_ask} detail="would wait for you" />
          <Figure name="Newly stopped" value={stopped} detail="denied or made a dry run" />
        </dl>
      </div>
      {changes.length > 0 ? (
        <ul className="replay-list">
          {changes.map((change) => (
            <Change key={change.call_id} change={change} />
          ))}
        </ul>
      ) : (
        <p className="side-body muted">It would have changed none of them.</p>
      )}
      {data.more > 0 ? <p className="side-body muted small">And {data.more} more.</p> : null}
      {data.unknown > 0 ? (
        <p className="side-body muted small">
          Unknown for {data.unknown}: their arguments are no longer stored, or are private.
        </p>
      ) : null}
    </section>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly detail: string;
  readonly tone?: string;
}

const Figure = ({ name, value, detail, tone }: FigureProps) => (
  <div>
    <dt>{name}</dt>
    <dd className={tone ? `figure tone-${tone}` : 'figure'}>{value}</dd>
    <dd>{detail}</dd>
  </div>
);

const Change = ({ change }: { readonly change: ReplayChange }) => (
  <li>
    <span className="meta">
      {new Date(change.at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}
    </span>
    <Avatar name={change.principal} />
    <span className="replay-what">
      <Link href={`/activity/${change.call_id}`}>
        <UntrustedText text={change.title} />
      </Link>{' '}
      {change.decided === 'rejected' ? <span className="tone-bad">You rejected this</span> : null}
    </span>
    <span className="replay-move">
      <StateBadge state={change.before} />
      <span aria-hidden="true">→</span>
      <span className="sr-only"> becomes </span>
      <StateBadge state={change.after} />
    </span>
  </li>
);
