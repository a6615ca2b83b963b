import { useState } from 'react';
import { Empty } from '../../../web/ui/badge.tsx';
import { CopyBox } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { Page, Tabs } from '../../../web/ui/page-head.tsx';
import { Pending } from '../../../web/ui/pending.tsx';
import { usePagePath } from '../../../web/ui/session.ts';
import { Issues } from './issues.tsx';
import { Pulls } from './pulls.tsx';
import { Quality } from './quality.tsx';
import { Runs } from './runs.tsx';
import './dev.css';
import { useView } from './data.ts';

const TABS = ['pulls', 'issues', 'runs', 'qa'] as const;
const EXAMPLE =
  '[dev.repos.demo]\npath = "/home/you/code/demo"\ntest = ["npm", "test"]\nlint = ["npm", "run", "lint"]';

export default function DevPage() {
  const [parts, go] = usePagePath('dev');
  const repos = useView('repos', {});
  const [chosen, setChosen] = useState<string>();
  const names = repos.data?.repos ?? [];
  const repo = chosen ?? names[0];
  const tab = TABS.find((each) => each === parts[0]) ?? 'pulls';
  return (
    <Page
      title="Dev"
      actions={
        names.length > 0 && (
          <label className="row nowrap small">
            Repository
            <select className="fit" value={repo} onChange={(event) => setChosen(event.target.value)}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )
      }
    >
      <ErrorNotice error={repos.error} />
      <Pending filter="toolkit=dev" />
      {repos.data && names.length === 0 && (
        <Empty title="No repositories yet" icon="folder">
          <p>
            Register a clone in the configuration and restart <code>countersign up</code>. Issues and pull
            requests are then stored here, without any account.
          </p>
          <CopyBox text={EXAMPLE} label="the configuration" />
        </Empty>
      )}
      {repo !== undefined && (
        <Tabs
          label="Dev"
          current={tab}
          onChange={(next) => go(next)}
          tabs={[
            { key: 'pulls', label: 'Pull requests' },
            { key: 'issues', label: 'Issues' },
            { key: 'runs', label: 'Runs' },
            { key: 'qa', label: 'QA reports' },
          ]}
        >
          {tab === 'pulls' && (
            <Pulls
              key={repo}
              repo={repo}
              chosen={Number(parts[1]) || undefined}
              onChoose={(at) => go('pulls', at)}
            />
          )}
          {tab === 'issues' && <Issues key={repo} repo={repo} />}
          {tab === 'runs' && <Runs key={repo} repo={repo} />}
          {tab === 'qa' && <Quality key={repo} repo={repo} />}
        </Tabs>
      )}
    </Page>
  );
}
