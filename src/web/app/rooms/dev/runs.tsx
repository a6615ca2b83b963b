import { Link } from 'wouter';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useView } from '../room-data.ts';
import { type Run, shortRun } from './types.ts';

/** What agents set out to do, each with its calls and its bundle. */
export function Runs({ repo }: { readonly repo: string }) {
  const query = useView<{ runs: readonly Run[] }>(
    'dev',
    'runs',
    { repo, limit: 100 },
    { topics: ['changed.dev'] },
  );
  return (
    <>
      <ErrorNotice error={query.error} />
      {query.loading && <p className="muted">Loading…</p>}
      {query.data?.runs.length === 0 && (
        <Empty title="No run was started yet">
          <p>An agent starts one with runs_create; all it does on the repository belongs to a run.</p>
        </Empty>
      )}
      {query.data && query.data.runs.length > 0 && (
        <p className="muted small">
          A bundle holds every call of its run with the proof that nothing was changed:{' '}
          <code>countersign audit check FILE</code> checks it anywhere.
        </p>
      )}
      <ul className="plain-list stack">
        {query.data?.runs.map((run) => (
          <li key={run.run_id} className="card compact">
            <Foreign block text={run.purpose} />
            <p className="muted small">
              Run <code title={run.run_id}>{shortRun(run.run_id)}</code> by {run.created_by},{' '}
              <TimeAgo at={run.created_at} />
              {run.head_branch && (
                <>
                  , branch{' '}
                  <code>
                    <Foreign text={run.head_branch} />
                  </code>
                </>
              )}
            </p>
            <div className="row small">
              <Link href={`/activity?run=${encodeURIComponent(run.run_id)}`}>Its calls</Link>
              <a
                href={`/api/runs/${encodeURIComponent(run.run_id)}/export`}
                download={`run-${run.run_id}.json`}
              >
                Download the bundle
              </a>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
