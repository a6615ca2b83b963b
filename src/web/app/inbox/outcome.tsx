import { Link } from 'wouter';
import type { Item } from '../../../kernel/views/shapes.ts';
import { shortName, type Tone } from '../../ui/badge.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { ResultView } from '../../ui/result-view.tsx';
import { isRecord, textAt } from '../../ui/session.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

const HEADS: Readonly<Record<string, readonly [Tone, string]>> = {
  done: ['good', 'Done'],
  approved: ['good', 'Approved. The agent may make this call once'],
  executing: ['info', 'Running…'],
  failed: ['bad', 'Failed'],
  indeterminate: ['warn', 'Outcome unknown. Settle it at the top of the inbox'],
  rejected: ['info', 'Rejected'],
  expired: ['info', 'Expired without a decision'],
  withdrawn: ['info', 'Withdrawn'],
};

/** What came of a decision. */
export function Outcome({ item }: { readonly item: Item }) {
  const head = HEADS[item.state];
  if (!head) return null;
  const [tone, text] = item.undo?.undone ? (['info', 'Done, later undone'] as const) : head;
  const message = textAt(item.outcome, 'message');
  const hint = textAt(item.outcome, 'hint');
  const data = isRecord(item.outcome) ? item.outcome.data : undefined;
  return (
    <>
      <Notice tone={tone}>
        <div>
          <p>
            <strong>{text}.</strong>
            {item.decided_by ? (
              <>
                {' '}
                Decided by {shortName(item.decided_by)}
                {item.decided_at ? (
                  <>
                    {' '}
                    <TimeAgo at={item.decided_at} />
                  </>
                ) : null}
                .
              </>
            ) : null}{' '}
            {item.call_id ? <Link href={`/activity/${item.call_id}`}>Evidence</Link> : null}
          </p>
          {message ? <UntrustedText block text={message} /> : null}
          {hint ? <p className="muted small">{hint}</p> : null}
          {item.decision_reason ? (
            <p>
              Reason: <UntrustedText text={item.decision_reason} />
            </p>
          ) : null}
        </div>
      </Notice>
      {data !== undefined && data !== null ? <ResultView value={data} /> : null}
    </>
  );
}
