import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { useQuery } from '../../ui/api.ts';
import { Empty, Skeleton } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page-head.tsx';
import { PauseButton } from '../../ui/pause-button.tsx';
import { AddAgent } from './add-agent.tsx';
import { AgentDetail } from './agent-detail.tsx';
import { AgentTable } from './agent-table.tsx';
import '../styles/activity.css';
import '../styles/agents.css';

const counted = (agents: number): string => (agents === 1 ? '1 agent' : `${agents} agents`);

/** Who acts, how people decided about it, and what it may do alone. */
export default function AgentsPage() {
  const { name } = useParams<{ name?: string }>();
  const [, navigate] = useLocation();
  const { data, error, refresh } = useQuery('/agents/overview', {
    topics: ['config', 'approvals'],
  });
  const [adding, setAdding] = useState(false);
  const known = data?.agents ?? [];
  const used = known.filter(({ token_since, last_call_at }) => token_since !== null || last_call_at !== null);
  const chosen = name ?? used[0]?.name;
  return (
    <Page
      title="Agents"
      note={data && used.length > 0 ? counted(used.length) : undefined}
      actions={
        <>
          <PauseButton />
          <Button small tone="primary" icon="plus" onClick={() => setAdding(true)}>
            Create an agent
          </Button>
        </>
      }
    >
      <ErrorNotice error={error} />
      {data && used.length === 0 ? (
        <Empty title="No agents yet" icon="agent">
          <p>
            An agent appears here with its first call. Agents on this machine need no token; create one to
            give an agent a name, rules and a history of its own.
          </p>
          <Link href="/start" className="button">
            Connect an agent
          </Link>
        </Empty>
      ) : data ? (
        <>
          <AgentTable data={{ ...data, agents: used }} chosen={chosen} />
          {chosen ? <AgentDetail key={chosen} name={chosen} onChange={() => void refresh()} /> : null}
        </>
      ) : error ? null : (
        <Skeleton lines={6} />
      )}
      {adding ? (
        <AddAgent
          onClose={() => {
            setAdding(false);
            void refresh();
            navigate('/agents');
          }}
        />
      ) : null}
    </Page>
  );
}
