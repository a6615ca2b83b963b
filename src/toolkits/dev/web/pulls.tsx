import { useEffect, useState } from 'react';
import { Empty } from '../../../web/ui/badge.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { GITHUB_MS, isLocal, useView } from './data.ts';
import { PullState, type Shown, StateFilter } from './list-parts.tsx';
import { PullDetail } from './pull-detail.tsx';

interface Props {
  readonly repo: string;
  readonly chosen: number | undefined;
  onChoose(number: number): void;
}

export function Pulls({ repo, chosen, onChoose }: Props) {
  const [state, setState] = useState<Shown>('open');
  const [github, setGithub] = useState(false);
  const query = useView(
    'prs',
    { repo, state },
    { topics: ['changed.dev'], everyMs: github ? GITHUB_MS : undefined },
  );
  const elsewhere = query.data?.prs.some((each) => !isLocal(each)) ?? false;
  useEffect(() => setGithub(elsewhere), [elsewhere]);
  const pulls = query.data?.prs ?? [];
  const current = chosen ?? pulls[0]?.number;
  return (
    <>
      <StateFilter value={state} onChange={setState} />
      <ErrorNotice error={query.error} />
      {query.loading && <p className="muted">Loading…</p>}
      {query.data && pulls.length === 0 && (
        <Empty title={state === 'open' ? 'No open pull requests' : 'No pull requests'} icon="branch">
          <p>
            An agent requests a permit for one exact change with <code>approval_request</code>. Once you
            approve it in the inbox, <code>code_branch_pr_create</code> opens the pull request, and you merge
            it here.
          </p>
        </Empty>
      )}
      <div className="pulls">
        {pulls.length > 0 && (
          <nav aria-label="Pull requests">
            <ul className="plain-list">
              {pulls.map((pull) => (
                <li key={pull.number}>
                  <button
                    type="button"
                    className="pull-choice"
                    aria-current={pull.number === current ? 'true' : undefined}
                    onClick={() => onChoose(pull.number)}
                  >
                    <span>
                      #{pull.number} <UntrustedText text={pull.title} />
                    </span>
                    <PullState pull={pull} />
                  </button>
                </li>
              ))}
            </ul>
          </nav>
        )}
        {current !== undefined && (
          <PullDetail key={current} repo={repo} number={current} onChanged={query.refresh} />
        )}
      </div>
    </>
  );
}
