import { Empty, StateBadge } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { Table } from '../../../web/ui/table.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { useView } from './data.ts';

/** What changed the project through Countersign, with the way back. */
export function History() {
  const act = useAct();
  const changes = useView('changes', { limit: 200 }, { topics: ['approvals', 'research.changed'] });
  const undo = async (id: number) => {
    await act('undo_change', { change_id: id }, 'Undone.');
    await changes.refresh();
  };
  if (changes.data?.length === 0)
    return (
      <Empty title="No changes through Countersign yet" icon="history">
        <p>Every coding, code and source that you or an agent adds appears here and can be undone.</p>
      </Empty>
    );
  return (
    <>
      <ErrorNotice error={changes.error} />
      <Table
        label="Changes to the project"
        rows={changes.data ?? []}
        rowKey={({ change_id }) => change_id}
        columns={[
          { key: 'at', label: 'When', cell: ({ at }) => <TimeAgo at={at} /> },
          {
            key: 'what',
            label: 'What',
            cell: ({ summary, tool, about }) => (
              <>
                {summary || tool}
                {about.length > 0 && (
                  <>
                    : <UntrustedText text={about.join(', ')} />
                  </>
                )}
              </>
            ),
          },
          { key: 'who', label: 'Coder', minor: true, cell: ({ owner }) => <UntrustedText text={owner} /> },
          {
            key: 'approved',
            label: 'Approved by',
            minor: true,
            cell: ({ approved_by }) => approved_by ?? '–',
          },
          { key: 'state', label: 'State', minor: true, cell: ({ state }) => <StateBadge state={state} /> },
          {
            key: 'undo',
            label: <span className="sr-only">Undo</span>,
            cell: ({ change_id, state, undoes }) =>
              state === 'applied' && undoes === null ? (
                <Button small onClick={() => void undo(change_id)}>
                  Undo
                </Button>
              ) : null,
          },
        ]}
      />
    </>
  );
}
