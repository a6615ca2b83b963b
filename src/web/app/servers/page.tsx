import { Link, useParams } from 'wouter';
import type { serverViews } from '../../../contract/server-views.ts';
import type { ViewData } from '../../../contract/view.ts';
import { Badge, Empty, type Tone } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { viewsOf } from '../../ui/page-data.ts';
import { Page } from '../../ui/page-head.tsx';
import { Table } from '../../ui/table.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { Health } from './health.tsx';
import { ServerDetail } from './server.tsx';
import '../styles/servers.css';

const { useView } = viewsOf<typeof serverViews>('gateway');

type Summary = ViewData<(typeof serverViews)['servers']>['servers'][number];

/** How often health is read again: servers start and stop without an event. */
const EVERY_MS = 5_000;

const STATE_TONES: Record<Summary['state'], Tone> = {
  trusted: 'good',
  changed: 'bad',
  quarantined: 'warn',
  disabled: 'neutral',
};

/** Third-party servers behind the gateway. */
export default function ServersPage() {
  const { name } = useParams<{ name?: string }>();
  return name === undefined ? <ServerList /> : <ServerDetail name={decodeURIComponent(name)} />;
}

function ServerList() {
  const { data, error } = useView('servers', {}, { topics: ['approvals', 'config'], everyMs: EVERY_MS });
  return (
    <Page
      title="Servers"
      note="Their tools pass the same policy, approvals and audit log as the toolkits. Reads run; changes require approval unless a server is set to allow them or a rule does."
    >
      <ErrorNotice error={error} />
      {data?.servers.length === 0 ? (
        <Empty title="No servers yet" icon="server">
          <p>
            Add one with <code>countersign servers add NAME -- COMMAND</code>, or import those of your clients
            with <code>countersign servers import</code>.
          </p>
        </Empty>
      ) : data ? (
        <Table<Summary>
          label="Servers"
          rows={data.servers}
          rowKey={(one) => one.name}
          columns={[
            {
              key: 'name',
              label: 'Server',
              cell: (one) => (
                <div className="server-name">
                  <span className="kind">
                    <Icon name="server" />
                  </span>
                  <div className="stack-tight">
                    <Link className="server-link" href={`/servers/${encodeURIComponent(one.name)}`}>
                      {one.name}
                    </Link>
                    <p className="meta clip" title={one.target}>
                      <UntrustedText text={one.target} />
                    </p>
                  </div>
                </div>
              ),
            },
            {
              key: 'state',
              label: 'State',
              cell: ({ state }) => <Badge tone={STATE_TONES[state]}>{state}</Badge>,
            },
            {
              key: 'tools',
              label: 'Trusted tools',
              numeric: true,
              minor: true,
              cell: ({ trusted }) => trusted,
            },
            { key: 'changes', label: 'Changes', minor: true, cell: ({ changes }) => changes },
            { key: 'waiting', label: 'Waiting', numeric: true, cell: ({ waiting }) => waiting },
            { key: 'health', label: 'Health', minor: true, cell: (one) => <Health {...one} /> },
          ]}
        />
      ) : null}
    </Page>
  );
}
