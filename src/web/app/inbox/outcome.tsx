import { Link } from 'wouter';
import type { Tone } from '../components/badge.tsx';
import { Foreign } from '../components/foreign.tsx';
import { JsonView } from '../components/json-view.tsx';
import { Notice } from '../components/notice.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { isRecord, textAt } from '../lib/json.ts';
import type { Item } from './types.ts';

const HEADS: Readonly<Record<string, readonly [Tone, string]>> = {
  done: ['good', 'Done'],
  approved: ['good', 'Approved; the agent may make this call once'],
  executing: ['info', 'Running…'],
  failed: ['bad', 'It failed'],
  indeterminate: ['warn', 'Nobody knows yet whether it happened. Settle it at the top of the inbox'],
  rejected: ['info', 'Rejected'],
  expired: ['info', 'Expired before anybody decided'],
  withdrawn: ['info', 'Withdrawn by the one who asked'],
};

/** What came of a decision. */
export function Outcome({ item }: { readonly item: Item }) {
  const head = HEADS[item.state];
  if (!head) return null;
  const [tone, text] = item.undo?.undone ? (['info', 'Done, and undone since'] as const) : head;
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
                Decided by {item.decided_by}
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
          {message ? <Foreign block text={message} /> : null}
          {hint ? <p className="muted small">{hint}</p> : null}
          {item.decision_reason ? (
            <p>
              Reason: <Foreign text={item.decision_reason} />
            </p>
          ) : null}
        </div>
      </Notice>
      {data !== undefined && data !== null ? <JsonView value={data} label="Result" /> : null}
    </>
  );
}
