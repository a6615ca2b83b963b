import { Badge, EnvironmentBadge } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice, Notice } from '../../../web/ui/notice.tsx';
import { changeOverrides } from '../../../web/ui/overrides.ts';
import { Page, Tabs } from '../../../web/ui/page-head.tsx';
import { Pending } from '../../../web/ui/pending.tsx';
import { usePagePath, useSession } from '../../../web/ui/session.ts';
import { useErrorToast, useToast } from '../../../web/ui/toast.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { Calendar } from './calendar.tsx';
import { useView } from './data.ts';
import { Discover } from './discover.tsx';
import { Figures } from './figures.tsx';
import { Published } from './published.tsx';
import { Targets } from './targets.tsx';
import { Write } from './write.tsx';
import './x.css';

const TABS = ['discover', 'write', 'calendar', 'published', 'targets', 'figures'] as const;

export default function XPage() {
  const [parts, go] = usePagePath('x');
  const provider = useView('provider', {});
  const tab = TABS.find((each) => each === parts[0]) ?? 'discover';
  const llm = provider.data?.llm ?? null;
  return (
    <Page
      title="X"
      actions={
        <>
          {provider.data?.sandbox && <EnvironmentBadge environment="sandbox" detail="nothing reaches X" />}
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
            X cannot be reached: <UntrustedText text={provider.data.problem.message} />
          </p>
        </Notice>
      )}
      <Pending filter="toolkit=x" />
      <Tabs
        label="X"
        current={tab}
        onChange={(next) => go(next)}
        tabs={[
          { key: 'discover', label: 'Discover' },
          { key: 'write', label: 'Write' },
          { key: 'calendar', label: 'Calendar' },
          { key: 'published', label: 'Published' },
          { key: 'targets', label: 'Targets' },
          { key: 'figures', label: 'Figures' },
        ]}
      >
        {tab === 'discover' && <Discover llm={llm} />}
        {tab === 'write' && <Write llm={llm} known={provider.data !== undefined} />}
        {tab === 'calendar' && <Calendar />}
        {tab === 'published' && <Published />}
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
  const describeError = useErrorToast();
  const other = session.mode === 'composer' ? 'autopilot' : 'composer';
  const change = async () => {
    try {
      await changeOverrides(() => ({ mode: other }));
      await refresh();
      say(`The mode is now ${other}.`, { tone: 'good' });
    } catch (error) {
      describeError(error);
    }
  };
  return (
    <span className="row">
      <span className="small wide-only">
        Mode: <strong>{session.mode}</strong>
      </span>
      <Button
        small
        title={
          other === 'composer'
            ? 'Every post, reply and like then requires your approval.'
            : 'Changes that policy allows then happen without your approval.'
        }
        onClick={() => void change()}
      >
        Switch to {other}
      </Button>
    </span>
  );
}
