import { Link } from 'wouter';
import { Fact } from '../components/fact.tsx';
import { Foreign } from '../components/foreign.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { ruleName } from './rule-name.ts';
import type { Item } from './types.ts';

/** Who asks, why, and what sent it here. */
export function Facts({ item }: { readonly item: Item }) {
  const { confidence, method } = item.context;
  return (
    <dl className="facts">
      <Fact name="Who asks">
        {item.requester}
        {item.requester_label ? (
          <span className="muted">
            {' '}
            (calls itself <Foreign text={item.requester_label} />)
          </span>
        ) : null}
      </Fact>
      <Fact name="Why">
        {item.reason ? <Foreign block text={item.reason} /> : <span className="muted">No reason given</span>}
      </Fact>
      <Fact name="Tool">
        <code>{item.tool}</code>
      </Fact>
      <Fact name="Sent here by">
        <span title={item.rule}>
          <Foreign text={ruleName(item.rule)} />
        </span>
      </Fact>
      {item.expires_at && item.state === 'pending' ? (
        <Fact name="Expires">
          <TimeAgo at={item.expires_at} />
        </Fact>
      ) : null}
      {typeof confidence === 'number' ? (
        <Fact name="Confidence">
          {Math.round(confidence)} %{typeof method === 'string' ? ` (${method})` : ''}
        </Fact>
      ) : null}
      {item.run_id ? (
        <Fact name="Run">
          <Link href={`/activity?run=${encodeURIComponent(item.run_id)}`}>{item.run_id}</Link>
        </Fact>
      ) : null}
      {item.edits.map(({ at, editor }) => (
        <Fact key={at} name="Edited">
          by {editor}, <TimeAgo at={at} />
        </Fact>
      ))}
    </dl>
  );
}
