import { useEffect, useState } from 'react';
import { Badge, Empty } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { GITHUB_MS, type Issue, isLocal, useView } from './data.ts';
import { ByLine, type Shown, StateFilter } from './list-parts.tsx';

export function Issues({ repo }: { readonly repo: string }) {
  const act = useAct();
  const [state, setState] = useState<Shown>('open');
  const [github, setGithub] = useState(false);
  const query = useView(
    'issues',
    { repo, state },
    { topics: ['changed.dev'], everyMs: github ? GITHUB_MS : undefined },
  );
  const elsewhere = query.data?.issues.some((each) => !isLocal(each)) ?? false;
  useEffect(() => setGithub(elsewhere), [elsewhere]);
  const close = async (issue: Issue) => {
    await act('dev_issue_close', { repo, issue_number: issue.number }, `Closed issue ${issue.number}.`);
    await query.refresh();
  };
  return (
    <>
      <StateFilter value={state} onChange={setState} />
      <ErrorNotice error={query.error} />
      {query.loading && <p className="muted">Loading…</p>}
      {query.data?.issues.length === 0 && (
        <Empty title={state === 'closed' ? 'No closed issues' : 'No issues'} icon="issue">
          <p>
            An agent creates issues with <code>github_issues_create</code> after starting a run with{' '}
            <code>runs_create</code>.
          </p>
        </Empty>
      )}
      <ul className="plain-list stack">
        {query.data?.issues.map((issue) => (
          <li key={issue.number} className="card compact">
            <div className="titled">
              <Badge tone={issue.state === 'open' ? 'good' : 'neutral'}>{issue.state}</Badge>
              <h3>
                #{issue.number} <UntrustedText text={issue.title} />
              </h3>
            </div>
            <div className="row">
              <ByLine author={issue.author} at={issue.created_at} />
              {issue.labels.map((label) => (
                <Badge key={label} tone="info">
                  <UntrustedText text={label} />
                </Badge>
              ))}
            </div>
            {issue.body && <UntrustedText block text={issue.body} />}
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
