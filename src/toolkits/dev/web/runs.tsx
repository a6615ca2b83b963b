import { Link } from 'wouter';
import { Empty, shortName } from '../../../web/ui/badge.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { apiPath } from '../../../web/ui/place.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { shortRun, useView } from './data.ts';

/** What agents set out to do, each with its calls and its bundle. */
export function Runs({ repo }: { readonly repo: string }) {
  const query = useView('runs', { repo, limit: 100 }, { topics: ['changed.dev'] });
  return (
    <>
      <ErrorNotice error={query.error} />
      {query.loading && <p className="muted">Loading…</p>}
      {query.data?.runs.length === 0 && (
        <Empty title="No runs yet" icon="activity">
          <p>
            An agent starts a run with runs_create; everything it does in the repository belongs to a run.
          </p>
        </Empty>
      )}
      {query.data && query.data.runs.length > 0 && (
        <p className="muted small">
          A bundle contains every call of its run with proof that no entry was changed:{' '}
          <code>countersign audit check FILE</code> verifies it anywhere.
        </p>
      )}
      <ul className="plain-list stack">
        {query.data?.runs.map((run) => (
          <li key={run.run_id} className="card compact">
            <UntrustedText block text={run.purpose} />
            <p className="muted small">
              Run <code title={run.run_id}>{shortRun(run.run_id)}</code> by {shortName(run.created_by)},{' '}
              <TimeAgo at={run.created_at} />
              {run.head_branch && (
                <>
                  , branch{' '}
                  <code>
                    <UntrustedText text={run.head_branch} />
                  </code>
                </>
              )}
            </p>
            <div className="row small">
              <Link href={`/activity?run=${encodeURIComponent(run.run_id)}`}>Its calls</Link>
              <a
                href={apiPath(`/runs/${encodeURIComponent(run.run_id)}/export`)}
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
