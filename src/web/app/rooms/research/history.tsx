import { StateBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useAct, useView } from '../room-data.ts';

interface Change {
  readonly change_id: number;
  readonly tool: string;
  readonly at: string;
  readonly owner: string;
  readonly principal: string;
  readonly approved_by: string | null;
  readonly state: string;
  readonly undoes: number | null;
  readonly summary: string;
  /** Names of the codes, sources and cases it concerns. */
  readonly about: readonly string[];
}

/** What changed the project through Countersign, with the way back. */
export function History() {
  const act = useAct();
  const changes = useView<readonly Change[]>(
    'research',
    'changes',
    { limit: 200 },
    { topics: ['approvals', 'research.changed'] },
  );
  const undo = async (id: number) => {
    await act('undo_change', { change_id: id }, 'Taken back.');
    await changes.refresh();
  };
  if (changes.data?.length === 0)
    return (
      <Empty title="Nothing was changed through Countersign yet">
        <p>Every coding, code and source that you or an agent adds will be listed here, each with an undo.</p>
      </Empty>
    );
  return (
    <>
      <ErrorNotice error={changes.error} />
      <Table
        label="Changes of the project"
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
                    : <Foreign text={about.join(', ')} />
                  </>
                )}
              </>
            ),
          },
          { key: 'who', label: 'Coder', minor: true, cell: ({ owner }) => <Foreign text={owner} /> },
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
