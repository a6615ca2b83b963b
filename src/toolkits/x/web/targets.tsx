import { type FormEvent, useState } from 'react';
import { Badge, Empty, Skeleton } from '../../../web/ui/badge.tsx';
import { Button, Field } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { Table } from '../../../web/ui/table.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { useView } from './data.ts';

const USERNAME = /^@?\w{1,15}$/;

/** Accounts that are watched, and what was exchanged with each; the list is changed here. */
export function Targets() {
  const act = useAct();
  const targets = useView('targets', {}, { topics: ['calls', 'x.changed'] });
  const change = async (username: string, watched: boolean): Promise<boolean> => {
    const said = watched ? `Watching @${username}.` : `No longer watching @${username}.`;
    const { ok } = await act('update_target_account', { username, watched }, said);
    await targets.refresh();
    return ok;
  };
  const accounts = targets.data?.accounts;
  return (
    <>
      <ErrorNotice error={targets.error} />
      <AddAccount onAdd={(username) => change(username, true)} />
      {targets.loading && <Skeleton />}
      {accounts?.length === 0 && (
        <Empty title="No watched accounts" icon="eye">
          <p>
            Add an account above, or name some under <code>[targets]</code> in the configuration. While{' '}
            <code>countersign up</code> runs in autopilot, it checks them for new posts and prepares replies.
          </p>
        </Empty>
      )}
      {targets.data && accounts && accounts.length > 0 && (
        <>
          <p className="muted">
            While <code>countersign up</code> runs, it checks these accounts for new posts; at most{' '}
            {targets.data.max_replies_per_day} replies a day go to them.
          </p>
          <Table
            label="Watched accounts"
            rows={accounts}
            rowKey={({ username }) => username}
            columns={[
              {
                key: 'name',
                label: 'Account',
                cell: ({ username, configured }) => (
                  <span className="row account">
                    <span>
                      @<UntrustedText text={username} />
                    </span>
                    {configured && <Badge title="Set in the configuration file">configured</Badge>}
                  </span>
                ),
              },
              { key: 'seen', label: 'Seen', numeric: true, cell: ({ posts_seen }) => posts_seen },
              { key: 'sent', label: 'Replies', numeric: true, cell: ({ replies_sent }) => replies_sent },
              {
                key: 'reply',
                label: 'Last reply',
                minor: true,
                cell: ({ last_reply_at }) => ago(last_reply_at),
              },
              {
                key: 'look',
                label: 'Last check',
                minor: true,
                cell: ({ last_checked_at }) => ago(last_checked_at),
              },
              {
                key: 'change',
                label: <span className="sr-only">Change</span>,
                cell: ({ username }) => (
                  <Button
                    small
                    aria-label={`Stop watching @${username}`}
                    onClick={() => void change(username, false)}
                  >
                    Stop
                  </Button>
                ),
              },
            ]}
          />
        </>
      )}
    </>
  );
}

function AddAccount({ onAdd }: { onAdd(username: string): Promise<boolean> }) {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wanted = name.trim();
    if (!USERNAME.test(wanted)) return setProblem('Up to 15 letters, digits and underscores, as X allows.');
    setProblem(undefined);
    if (await onAdd(wanted.replace('@', ''))) setName('');
  };
  return (
    <form className="row add-account" onSubmit={(event) => void submit(event)}>
      <Field label="Watch an account" error={problem}>
        {(attributes) => (
          <input
            {...attributes}
            value={name}
            placeholder="@username"
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" disabled={name.trim() === ''}>
        Add
      </Button>
    </form>
  );
}

const ago = (at: string | null) => (at ? <TimeAgo at={at} /> : 'never');
