import { useEffect, useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { useAct, useView } from '../room-data.ts';
import { ByLine } from './by-line.tsx';
import { type Shown, StateFilter } from './state-filter.tsx';
import { GITHUB_MS, type Issue, isLocal } from './types.ts';

export function Issues({ repo }: { readonly repo: string }) {
  const act = useAct();
  const [state, setState] = useState<Shown>('open');
  const [github, setGithub] = useState(false);
  const query = useView<{ issues: readonly Issue[] }>(
    'dev',
    'issues',
    { repo, state },
    { topics: ['changed.dev'], everyMs: github ? GITHUB_MS : undefined },
  );
  const elsewhere = query.data?.issues.some((each) => !isLocal(each)) ?? false;
  useEffect(() => setGithub(elsewhere), [elsewhere]);
  const close = async (issue: Issue) => {
    await act('dev_issue_close', { repo, issue_number: issue.number }, `Issue ${issue.number} is closed.`);
    await query.refresh();
  };
  return (
    <>
      <StateFilter value={state} onChange={setState} />
      <ErrorNotice error={query.error} />
      {query.loading && <p className="muted">Loading…</p>}
      {query.data?.issues.length === 0 && (
        <Empty title={state === 'closed' ? 'No closed issues' : 'No issues'}>
          <p>An agent files issues with github_issues_create after it started a run with runs_create.</p>
        </Empty>
      )}
      <ul className="plain-list stack">
        {query.data?.issues.map((issue) => (
          <li key={issue.number} className="card compact">
            <div className="titled">
              <Badge tone={issue.state === 'open' ? 'good' : 'neutral'}>{issue.state}</Badge>
              <h3>
                #{issue.number} <Foreign text={issue.title} />
              </h3>
            </div>
            <div className="row">
              <ByLine author={issue.author} at={issue.created_at} />
              {issue.labels.map((label) => (
                <Badge key={label} tone="info">
                  <Foreign text={label} />
                </Badge>
              ))}
            </div>
            {issue.body && <Foreign block text={issue.body} />}
            {issue.state === 'open' && isLocal(issue) && (
              <div className="row">
                <Button small onClick={() => void close(issue)}>
                  Close issue
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
