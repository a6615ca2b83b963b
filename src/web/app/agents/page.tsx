import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { Tabs } from '../components/tabs.tsx';
import { useFaultToast, useToast } from '../components/toast.tsx';
import { post } from '../lib/api.ts';
import { useSession } from '../lib/session.ts';
import { AgentList } from './agent-list.tsx';
import { Matrix } from './matrix.tsx';
import { Rules } from './rules.tsx';
import { Standing } from './standing.tsx';
import '../styles/agents.css';

type Part = 'agents' | 'matrix' | 'rules' | 'standing';

/** Who may act, and what they may do. */
export default function AgentsPage() {
  const [part, setPart] = useState<Part>('agents');
  const { session, refresh } = useSession();
  const say = useToast();
  const sayFault = useFaultToast();
  const pause = async (): Promise<void> => {
    await post(session.paused ? '/resume' : '/pause');
    await refresh();
    if (session.paused) say('Changes are allowed again.', { tone: 'good' });
  };
  return (
    <Page
      title="Agents and policy"
      actions={
        <Button tone={session.paused ? 'primary' : 'danger'} onClick={() => pause().catch(sayFault)}>
          {session.paused ? 'Resume' : 'Pause all changes'}
        </Button>
      }
    >
      <Tabs<Part>
        label="Agents and policy"
        current={part}
        onChange={setPart}
        tabs={[
          { key: 'agents', label: 'Agents' },
          { key: 'matrix', label: 'What they may do' },
          { key: 'rules', label: 'Rules' },
          { key: 'standing', label: 'Mode, template, limits' },
        ]}
      >
        {part === 'agents' ? <AgentList /> : null}
        {part === 'matrix' ? <Matrix /> : null}
        {part === 'rules' ? <Rules /> : null}
        {part === 'standing' ? <Standing /> : null}
      </Tabs>
    </Page>
  );
}
