import { useMemo, useState } from 'react';
import { Badge } from '../components/badge.tsx';
import { Field } from '../components/field.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { ToolName } from '../components/tool-name.tsx';
import { useQuery } from '../lib/api.ts';
import { ACTION_WORDS, ACTIONS, type Action, type Agent } from './types.ts';

interface Row {
  readonly tool: string;
  readonly toolkit: string;
  readonly category: string;
  readonly effect: string;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
}

/** What policy says of every tool for one agent, as it stands now. Conditions on arguments may decide otherwise. */
export function Matrix() {
  const agents = useQuery<{ agents: readonly Agent[] }>('/agents', { topics: ['config'] }).data?.agents ?? [];
  const [principal, setPrincipal] = useState('agent:local');
  const [toolkit, setToolkit] = useState('');
  const [wanted, setWanted] = useState('');
  const { data, error } = useQuery<{ rows: readonly Row[] }>(
    `/policy/matrix?principal=${encodeURIComponent(principal)}`,
    { topics: ['config'] },
  );
  const toolkits = useMemo(() => [...new Set(data?.rows.map((row) => row.toolkit) ?? [])], [data]);
  const rows = data?.rows.filter(
    (row) => (!toolkit || row.toolkit === toolkit) && row.tool.includes(wanted.trim().toLowerCase()),
  );
  return (
    <>
      <div className="filters">
        <Field label="Agent">
          {(attributes) => (
            <select {...attributes} value={principal} onChange={(event) => setPrincipal(event.target.value)}>
              <option value="agent:local">agent:local (no token)</option>
              {agents
                .filter(({ revoked_at }) => revoked_at === null)
                .map(({ name }) => (
                  <option key={name} value={`agent:${name}`}>
                    agent:{name}
                  </option>
                ))}
              <option value="system:scheduler">system:scheduler</option>
            </select>
          )}
        </Field>
        <Field label="Toolkit">
          {(attributes) => (
            <select {...attributes} value={toolkit} onChange={(event) => setToolkit(event.target.value)}>
              <option value="">all</option>
              {toolkits.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Tool">
          {(attributes) => (
            <input
              {...attributes}
              type="search"
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
          )}
        </Field>
      </div>
      <ErrorNotice error={error} />
      {rows ? (
        <p className="muted small">
          {rows.length} tools:{' '}
          {ACTIONS.map(
            (action) => `${rows.filter((row) => row.action === action).length} ${ACTION_WORDS[action]}`,
          ).join(', ')}
        </p>
      ) : error ? null : (
        <p className="muted">Loading…</p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="table-box matrix" tabIndex={0} aria-label="Decisions by tool">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" className="minor">
                Effect
              </th>
              {ACTIONS.map((action) => (
                <th key={action} scope="col" className="matrix-cell">
                  {ACTION_WORDS[action]}
                </th>
              ))}
              <th scope="col" className="minor">
                Rule
              </th>
            </tr>
          </thead>
          <tbody>
            {rows?.map((row) => (
              <tr key={row.tool}>
                <th scope="row" className="mono matrix-tool">
                  <ToolName name={row.tool} />
                </th>
                <td className="minor">{row.effect}</td>
                {ACTIONS.map((action) => (
                  <td key={action} className="matrix-cell">
                    {row.action === action ? <Mark action={action} reason={row.reason} /> : null}
                  </td>
                ))}
                <td className="minor mono">{row.rule}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

const TONES = { allow: 'good', ask: 'info', dry_run: 'neutral', deny: 'bad' } as const;

const Mark = ({ action, reason }: { readonly action: Action; readonly reason: string }) => (
  <Badge tone={TONES[action]} title={reason}>
    <span aria-hidden="true">●</span>
    <span className="sr-only">{ACTION_WORDS[action]}</span>
  </Badge>
);
