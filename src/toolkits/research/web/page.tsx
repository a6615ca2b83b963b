import { Badge } from '../../../web/ui/badge.tsx';
import { usePlace, useServerEvent } from '../../../web/ui/events.ts';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice, Notice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { Page, Tabs } from '../../../web/ui/page-head.tsx';
import { Pending } from '../../../web/ui/pending.tsx';
import { usePagePath } from '../../../web/ui/session.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { Codes } from './codes.tsx';
import { counted } from './counted.ts';
import { useView } from './data.ts';
import { History } from './history.tsx';
import { Numbers } from './numbers.tsx';
import { Start } from './open-project.tsx';
import { Read } from './read.tsx';
import { Suggestions } from './suggestions.tsx';
import './research.css';

const TABS = ['read', 'suggestions', 'codes', 'numbers', 'history'] as const;
type Tab = (typeof TABS)[number];

export default function ResearchPage() {
  const [parts, go] = usePagePath('research');
  const project = useView('project', {}, { topics: ['approvals', 'research.changed'] });
  const act = useAct();
  usePlace(project.data?.project_open ? `research:${project.data.project_id}` : undefined);
  // An agent that points at a passage brings the reader to the front; the reader itself goes to the place.
  useServerEvent('research.navigate', ({ source_id, start_pos, end_pos, highlight }) => {
    if (highlight === false) go('read', Number(source_id), Number(start_pos));
    else go('read', Number(source_id), Number(start_pos), Number(end_pos));
  });

  if (!project.data)
    return (
      <Page title="Research" wide>
        <ErrorNotice error={project.error} />
        {project.loading && <p className="muted">Loading…</p>}
      </Page>
    );
  if (!project.data.project_open)
    return (
      <Page title="Research" wide>
        <Start recent={project.data.recent} onOpened={project.refresh} />
      </Page>
    );

  const { data } = project;
  const tab: Tab = TABS.find((each) => each === parts[0]) ?? 'read';
  const close = async () => {
    await act('close_project', {});
    await project.refresh();
    go();
  };
  return (
    <Page
      wide
      title="Research"
      actions={
        <>
          <strong className="clip">
            <UntrustedText text={data.project_name} />
          </strong>
          <span className="muted small wide-only">
            {counted(data.source_count, 'source')} · {counted(data.code_count, 'code')} ·{' '}
            {counted(data.coding_count, 'coding')}
          </span>
          <Badge title="Changes are recorded under this coder's name">coder {data.coder}</Badge>
          <Button small tone="quiet" className="button-minor" icon="cross" onClick={() => void close()}>
            Close project
          </Button>
        </>
      }
    >
      {data.open_in_qualcoder_by ? (
        <Notice tone="warn">
          <p>
            QualCoder has this project open (<UntrustedText text={data.open_in_qualcoder_by} />
            ). Close it there before you change anything here.
          </p>
        </Notice>
      ) : null}
      <Pending filter="toolkit=research" compact />
      <Tabs
        label="Research"
        current={tab}
        onChange={(next) => go(next)}
        tabs={[
          { key: 'read', label: 'Read and code' },
          { key: 'suggestions', label: `Suggestions (${data.pending_count})` },
          { key: 'codes', label: 'Codebook' },
          { key: 'numbers', label: 'Agreement and tables' },
          { key: 'history', label: 'History' },
        ]}
      >
        {tab === 'read' && <Read parts={parts.slice(1)} go={(...to) => go('read', ...to)} />}
        {tab === 'suggestions' && <Suggestions onShow={(id, start, end) => go('read', id, start, end)} />}
        {tab === 'codes' && (
          <Codes analysis={data.ai !== 'off'} onShow={(id, start, end) => go('read', id, start, end)} />
        )}
        {tab === 'numbers' && <Numbers />}
        {tab === 'history' && <History />}
      </Tabs>
    </Page>
  );
}
