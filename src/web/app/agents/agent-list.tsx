import { type FormEvent, useState } from 'react';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { CopyBox } from '../components/copy-box.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { Field } from '../components/field.tsx';
import { ErrorNotice, Notice } from '../components/notice.tsx';
import { Table } from '../components/table.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useFaultToast, useToast } from '../components/toast.tsx';
import { type ApiError, api, post, toApiError, useQuery } from '../lib/api.ts';
import type { Agent } from './types.ts';

export function AgentList() {
  const { data, error, refresh } = useQuery<{ agents: readonly Agent[] }>('/agents', { topics: ['config'] });
  const [adding, setAdding] = useState(false);
  const [revoking, setRevoking] = useState<string>();
  const say = useToast();
  const sayFault = useFaultToast();
  const revoke = async (name: string): Promise<void> => {
    try {
      await api(`/agents/${encodeURIComponent(name)}`, { method: 'DELETE' });
      say(`The token of ${name} no longer works.`, { tone: 'good' });
    } catch (fault) {
      sayFault(fault);
    }
    setRevoking(undefined);
    await refresh();
  };
  return (
    <>
      <p className="muted">
        A token gives an agent a name of its own, which rules can speak of. Clients without a token are all
        one agent, <code>agent:local</code>.
      </p>
      <ErrorNotice error={error} />
      {data && data.agents.length === 0 ? (
        <Empty title="No agent has a token yet">
          <p>On this machine agents need none. Give one its own token to set rules for it alone.</p>
        </Empty>
      ) : data ? (
        <Table<Agent>
          label="Agents"
          rows={data.agents}
          rowKey={({ name }) => name}
          columns={[
            { key: 'name', label: 'Name', cell: ({ name }) => <code>agent:{name}</code> },
            {
              key: 'since',
              label: 'Since',
              minor: true,
              cell: ({ created_at }) => <TimeAgo at={created_at} />,
            },
            {
              key: 'state',
              label: 'Token',
              cell: ({ revoked_at }) =>
                revoked_at ? <Badge>revoked</Badge> : <Badge tone="good">active</Badge>,
            },
            {
              key: 'act',
              label: <span className="sr-only">Revoke</span>,
              cell: ({ name, revoked_at }) =>
                revoked_at ? null : (
                  <Button small tone="danger" aria-label={`Revoke ${name}`} onClick={() => setRevoking(name)}>
                    Revoke
                  </Button>
                ),
            },
          ]}
        />
      ) : null}
      <div>
        <Button tone="primary" onClick={() => setAdding(true)}>
          Create an agent
        </Button>
      </div>
      {adding ? (
        <AddAgent
          onClose={() => {
            setAdding(false);
            void refresh();
          }}
        />
      ) : null}
      {revoking ? (
        <Dialog
          title={`Revoke ${revoking}?`}
          onClose={() => setRevoking(undefined)}
          footer={
            <>
              <Button onClick={() => setRevoking(undefined)}>Cancel</Button>
              <Button tone="danger" onClick={() => void revoke(revoking)}>
                Revoke
              </Button>
            </>
          }
        >
          <p>Its token stops working at once and cannot be brought back.</p>
        </Dialog>
      ) : null}
    </>
  );
}

function AddAgent({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [token, setToken] = useState<string>();
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      setToken((await post<{ token: string }>('/agents', { name: name.trim() })).token);
    } catch (error) {
      setProblem(toApiError(error));
    }
    setBusy(false);
  };
  return (
    <Dialog
      title={token ? `The token of ${name}` : 'Create an agent'}
      onClose={onClose}
      footer={
        token ? (
          <Button tone="primary" onClick={onClose}>
            I have copied it
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button tone="primary" type="submit" form="add-agent" disabled={busy}>
              Create
            </Button>
          </>
        )
      }
    >
      {token ? (
        <>
          <Notice tone="warn">It is shown only now. Countersign keeps no copy, only a hash.</Notice>
          <CopyBox text={token} label="the token" />
          <p className="muted">
            Over HTTP the agent sends it as <code>Authorization: Bearer …</code>. A client that starts its own
            server (stdio) sets the variable <code>COUNTERSIGN_TOKEN</code> for it.
          </p>
        </>
      ) : (
        <form id="add-agent" className="stack" onSubmit={(event) => void add(event)}>
          <Field
            label="Name"
            hint="Short and without spaces, for example research-desk."
            error={problem?.message}
          >
            {(attributes) => (
              <input
                {...attributes}
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
        </form>
      )}
    </Dialog>
  );
}
