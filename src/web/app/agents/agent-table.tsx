import { Link } from 'wouter';
import type { AgentBrief, AgentsData } from '../../../kernel/views/shapes.ts';
import { Avatar, Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { approvalRate, DayBars, DecisionBar } from './bars.tsx';

const GOOD = 90;
const FEW = 5;

/** How far people agreed with it lately; what stops it comes first. */
function AgentState({ agent }: { readonly agent: AgentBrief }) {
  if (agent.damaged) return <Badge tone="bad">Cannot be read</Badge>;
  if (agent.revoked_at) return <Badge>Revoked</Badge>;
  if (agent.paused_by)
    return (
      <Badge tone="warn">
        <Icon name="pause" />
        Paused
      </Badge>
    );
  const { approved, edited, rejected } = agent.decisions;
  const rate = approvalRate(agent.decisions);
  if (rate === undefined || approved + edited + rejected < FEW) return <Badge>New</Badge>;
  return rate >= GOOD ? <Badge tone="good">Good</Badge> : <Badge tone="warn">Mixed</Badge>;
}

interface Props {
  readonly data: AgentsData;
  readonly chosen: string | undefined;
}

/** Every agent with its last days; choosing one shows it below. */
export const AgentTable = ({ data, chosen }: Props) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
  <section className="table-box" tabIndex={0} aria-label="Agents">
    <table className="table agent-table">
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col" className="minor">
            Calls, {data.days} days
          </th>
          <th scope="col" className="numeric minor">
            Asked you
          </th>
          <th scope="col" className="minor">
            Approved, edited, rejected
          </th>
          <th scope="col" className="numeric">
            Approved
          </th>
          <th scope="col" className="minor">
            Last call
          </th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {data.agents.map((agent) => (
          <Row key={agent.name} agent={agent} isChosen={agent.name === chosen} />
        ))}
      </tbody>
    </table>
  </section>
);

function Row({ agent, isChosen }: { readonly agent: AgentBrief; readonly isChosen: boolean }) {
  const rate = approvalRate(agent.decisions);
  return (
    <tr className={isChosen ? 'agent-chosen' : undefined}>
      <td>
        <div className="agent-name">
          <Avatar name={agent.principal} />
          <div className="stack-tight">
            <Link
              href={`/agents/${encodeURIComponent(agent.name)}`}
              className="agent-link"
              title={agent.principal}
              aria-current={isChosen ? 'true' : undefined}
            >
              {agent.name}
            </Link>
            <p className="meta clip">
              {agent.client ? <UntrustedText text={agent.client} /> : 'No calls yet'}
              {agent.token_since ? '' : ' · no token'}
            </p>
          </div>
        </div>
      </td>
      <td className="minor">
        <DayBars days={agent.days} />
      </td>
      <td className="numeric minor">{agent.decisions.asked.toLocaleString('en')}</td>
      <td className="minor">
        <DecisionBar decisions={agent.decisions} />
      </td>
      <td className="numeric">{rate === undefined ? '–' : `${rate} %`}</td>
      <td className="minor">
        {agent.last_call_at ? <TimeAgo at={agent.last_call_at} /> : <span className="muted">never</span>}
      </td>
      <td>
        <AgentState agent={agent} />
      </td>
    </tr>
  );
}
