import { useEffect, useState } from 'react';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { useView } from '../room-data.ts';
import { PullDetail } from './pull-detail.tsx';
import { PullState } from './pull-state.tsx';
import { type Shown, StateFilter } from './state-filter.tsx';
import { GITHUB_MS, isLocal, type Pull } from './types.ts';

interface Props {
  readonly repo: string;
  readonly chosen: number | undefined;
  onChoose(number: number): void;
}

export function Pulls({ repo, chosen, onChoose }: Props) {
  const [state, setState] = useState<Shown>('open');
  const [github, setGithub] = useState(false);
  const query = useView<{ prs: readonly Pull[] }>(
    'dev',
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
        <Empty title={state === 'open' ? 'No open pull requests' : 'No pull requests'}>
          <p>
            An agent asks with approval_request for one exact change; once you approve it in the inbox,
            code_branch_pr_create opens the pull request, and you merge it here.
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
                      #{pull.number} <Foreign text={pull.title} />
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
