import { useState } from 'react';
import { Badge, Empty, shortName } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { useKeys, useSettled } from '../../../web/ui/keys.ts';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useDecide, type Verdict } from '../../../web/ui/page-data.ts';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { type Suggestion, useView } from './data.ts';

const KINDS = { code: 'new code', merge: 'merge', coding: 'coding', metadata: 'metadata' } as const;
const STATES = ['pending', 'done', 'rejected', 'failed'] as const;

interface Props {
  onShow(source: number, start: number, end: number): void;
}

/** Everything agents suggest for this project, one after the other. */
export function Suggestions({ onShow }: Props) {
  const decide = useDecide();
  const [state, setState] = useState<(typeof STATES)[number]>('pending');
  const query = useView('suggestions', { state }, { topics: ['approvals', 'research.changed'] });
  const [at, setAt] = useState(0);
  const items = query.data ?? [];
  const place = Math.min(at, items.length - 1);
  const current = items[place];

  const settle = async (item: Suggestion | undefined, verdict: Verdict) => {
    if (!item || state !== 'pending') return;
    await decide(item, verdict);
    await query.refresh();
  };
  const move = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, place + by));
    setAt(next);
    document.getElementById(`suggestion-${items[next]?.approval_id}`)?.scrollIntoView({ block: 'nearest' });
  };
  useSettled(current && `${current.approval_id} ${current.version}`);
  useKeys({
    move: { j: () => move(1), k: () => move(-1) },
    decide: { a: () => void settle(current, 'approve'), r: () => void settle(current, 'reject') },
  });

  return (
    <>
      <div className="row">
        <label className="row small">
          Show
          <select
            className="fit"
            value={state}
            onChange={(event) => setState(event.target.value as typeof state)}
          >
            {STATES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <span className="muted small wide-only">
          <kbd className="key">J</kbd> <kbd className="key">K</kbd> move, <kbd className="key">A</kbd> accept,{' '}
          <kbd className="key">R</kbd> reject
        </span>
      </div>
      <ErrorNotice error={query.error} />
      {query.data && items.length === 0 && (
        <Empty
          icon="passage"
          title={state === 'pending' ? 'No pending suggestions' : `No ${state} suggestions`}
        >
          <p>
            Ask an agent to code a source: it calls <code>suggest_code_application</code>,{' '}
            <code>suggest_new_code</code> or <code>suggest_merge_codes</code>, and its suggestions appear here
            and in the inbox.
          </p>
        </Empty>
      )}
      <ol className="plain-list stack">
        {items.map((item, index) => (
          <li
            key={item.approval_id}
            id={`suggestion-${item.approval_id}`}
            className={index === place ? 'card is-current' : 'card'}
            aria-current={index === place ? 'true' : undefined}
          >
            <div className="row">
              <Badge tone={item.kind === 'merge' ? 'warn' : 'info'}>{KINDS[item.kind]}</Badge>
              <strong>
                <UntrustedText text={item.summary} />
              </strong>
            </div>
            {item.passage && (
              <blockquote className="excerpt">
                <bdi className="foreign muted">…{item.passage.before}</bdi>
                <mark>
                  <UntrustedText text={item.passage.text} />
                </mark>
                <span className="muted">
                  <UntrustedText text={`${item.passage.after}…`} />
                </span>
              </blockquote>
            )}
            {item.rationale && <UntrustedText block text={item.rationale} />}
            {item.risks.map((risk) => (
              <p key={risk} className="small">
                ⚠ <UntrustedText text={risk} />
              </p>
            ))}
            <p className="muted small">
              {shortName(item.suggested_by)}, <TimeAgo at={item.created_at} />
              {item.confidence !== null && `, ${item.confidence} % sure`}
              {item.decision_reason && (
                <>
                  , <UntrustedText text={item.decision_reason} />
                </>
              )}
            </p>
            <div className="row">
              {state === 'pending' && (
                <>
                  <Button
                    small
                    tone="primary"
                    shortcut={index === place ? 'a' : undefined}
                    onClick={() => void settle(item, 'approve')}
                  >
                    Accept
                  </Button>
                  <Button
                    small
                    tone="danger"
                    shortcut={index === place ? 'r' : undefined}
                    onClick={() => void settle(item, 'reject')}
                  >
                    Reject
                  </Button>
                </>
              )}
              {item.kind === 'coding' && (
                <Button
                  small
                  onClick={() =>
                    onShow(
                      Number(item.args.source_id),
                      Number(item.args.start_pos),
                      Number(item.args.end_pos),
                    )
                  }
                >
                  Show in the text
                </Button>
              )}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}
