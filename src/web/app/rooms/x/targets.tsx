import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useView } from '../room-data.ts';

interface Account {
  readonly username: string;
  readonly posts_seen: number;
  readonly replies_sent: number;
  readonly last_reply_at: string | null;
  readonly last_checked_at: string | null;
}

/** Accounts the configuration names, and what was exchanged with each. */
export function Targets() {
  const targets = useView<{ accounts: readonly Account[]; max_replies_per_day: number }>(
    'x',
    'targets',
    {},
    { topics: ['calls', 'x.changed'] },
  );
  if (targets.data?.accounts.length === 0)
    return (
      <Empty title="No account is watched">
        <p>
          Name some under <code>[targets]</code> in the configuration, for example{' '}
          <code>accounts = ["lena_learns"]</code>, and restart <code>countersign up</code>.
        </p>
      </Empty>
    );
  return (
    <>
      <ErrorNotice error={targets.error} />
      {targets.loading && <p className="muted">Loading…</p>}
      {targets.data && (
        <>
          <p className="muted">
            While <code>countersign up</code> runs it looks for new posts of these accounts; at most{' '}
            {targets.data.max_replies_per_day} replies a day go to them. Change the list under{' '}
            <code>[targets]</code> in the configuration.
          </p>
          <Table
            label="Watched accounts"
            rows={targets.data.accounts}
            rowKey={({ username }) => username}
            columns={[
              {
                key: 'name',
                label: 'Account',
                cell: ({ username }) => (
                  <span className="account">
                    @<Foreign text={username} />
                  </span>
                ),
              },
              { key: 'seen', label: 'Seen', numeric: true, cell: ({ posts_seen }) => posts_seen },
              { key: 'sent', label: 'Replies', numeric: true, cell: ({ replies_sent }) => replies_sent },
              { key: 'reply', label: 'Last reply', cell: ({ last_reply_at }) => ago(last_reply_at) },
              {
                key: 'look',
                label: 'Last look',
                minor: true,
                cell: ({ last_checked_at }) => ago(last_checked_at),
              },
            ]}
          />
        </>
      )}
    </>
  );
}

const ago = (at: string | null) => (at ? <TimeAgo at={at} /> : 'never');
