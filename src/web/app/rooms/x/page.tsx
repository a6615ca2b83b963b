import { changeOverrides } from '../../agents/overrides.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useFaultToast, useToast } from '../../components/toast.tsx';
import { useSession } from '../../lib/session.ts';
import { useView } from '../room-data.ts';
import { useRoomPath } from '../room-path.ts';
import { Calendar } from './calendar.tsx';
import { Discover } from './discover.tsx';
import { Figures } from './figures.tsx';
import { Targets } from './targets.tsx';
import type { Provider } from './types.ts';
import { Write } from './write.tsx';
import './x.css';

const TABS = ['discover', 'write', 'calendar', 'targets', 'figures'] as const;

export default function XPage() {
  const [parts, go] = useRoomPath('x');
  const provider = useView<Provider>('x', 'provider');
  const tab = TABS.find((each) => each === parts[0]) ?? 'discover';
  const llm = provider.data?.llm ?? null;
  return (
    <Page
      title="X"
      actions={
        <>
          {provider.data?.sandbox && (
            <Badge tone="warn" title={provider.data.provider?.note}>
              sandbox: nothing reaches X
            </Badge>
          )}
          {provider.data?.provider && !provider.data.sandbox && (
            <Badge tone="good">{provider.data.provider.backend}</Badge>
          )}
          <ModeSwitch />
        </>
      }
    >
      <ErrorNotice error={provider.error} />
      {provider.data?.problem && (
        <Notice tone="warn">
          <p>
            X cannot be reached: <Foreign text={provider.data.problem} />
          </p>
        </Notice>
      )}
      <Tabs
        label="X"
        current={tab}
        onChange={(next) => go(next)}
        tabs={[
          { key: 'discover', label: 'Discover' },
          { key: 'write', label: 'Write' },
          { key: 'calendar', label: 'Calendar' },
          { key: 'targets', label: 'Targets' },
          { key: 'figures', label: 'Figures' },
        ]}
      >
        {tab === 'discover' && <Discover llm={llm} />}
        {tab === 'write' && <Write llm={llm} known={provider.data !== undefined} />}
        {tab === 'calendar' && <Calendar />}
        {tab === 'targets' && <Targets />}
        {tab === 'figures' && <Figures />}
      </Tabs>
    </Page>
  );
}

/** In Composer every change of this toolkit waits for a person; in Autopilot policy alone decides. */
function ModeSwitch() {
  const { session, refresh } = useSession();
  const say = useToast();
  const sayFault = useFaultToast();
  const other = session.mode === 'composer' ? 'autopilot' : 'composer';
  const change = async () => {
    try {
      await changeOverrides(() => ({ mode: other }));
      await refresh();
      say(`The mode is now ${other}.`, { tone: 'good' });
    } catch (error) {
      sayFault(error);
    }
  };
  return (
    <span className="row">
      <span className="small">
        Mode: <strong>{session.mode}</strong>
      </span>
      <Button
        small
        title={
          other === 'composer'
            ? 'Every post, reply and like then waits for you.'
            : 'What policy allows then happens without you.'
        }
        onClick={() => void change()}
      >
        Switch to {other}
      </Button>
    </span>
  );
}
