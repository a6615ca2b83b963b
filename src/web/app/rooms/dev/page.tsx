import { useState } from 'react';
import { CopyBox } from '../../components/copy-box.tsx';
import { Empty } from '../../components/empty.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useView } from '../room-data.ts';
import { useRoomPath } from '../room-path.ts';
import { Issues } from './issues.tsx';
import { Pulls } from './pulls.tsx';
import { Quality } from './quality.tsx';
import { Runs } from './runs.tsx';
import './dev.css';

const TABS = ['pulls', 'issues', 'runs', 'qa'] as const;
const EXAMPLE =
  '[dev.repos.demo]\npath = "/home/you/code/demo"\ntest = ["npm", "test"]\nlint = ["npm", "run", "lint"]';

export default function DevPage() {
  const [parts, go] = useRoomPath('dev');
  const repos = useView<{ repos: readonly string[] }>('dev', 'repos');
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
      {repos.data && names.length === 0 && (
        <Empty title="No repository may be used yet">
          <p>
            Register a clone in the configuration and restart <code>countersign up</code>. Issues and pull
            requests then live here, without any account.
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
