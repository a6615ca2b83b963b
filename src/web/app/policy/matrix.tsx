import { useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Action } from '../../../contract/policy.ts';
import { useQuery } from '../../ui/api.ts';
import { Badge, ToolName } from '../../ui/badge.tsx';
import { Field } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { ACTION_WORDS, ACTIONS } from './actions.ts';

/** What would happen to any call of every tool by one agent: rules, permits, pauses and limits included. */
export function Matrix() {
  const agents = useQuery('/agents', { topics: ['config'] }).data?.agents ?? [];
  const [principal, setPrincipal] = useState(useSearchParams()[0].get('agent') ?? 'agent:local');
  const [toolkit, setToolkit] = useState('');
  const [wanted, setWanted] = useState('');
  const { data, error } = useQuery(`/policy/matrix?principal=${encodeURIComponent(principal)}`, {
    topics: ['config'],
  });
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
          {rows.length === 1 ? '1 tool' : `${rows.length} tools`}:{' '}
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
                  {row.offered ? null : <span className="meta matrix-note">Not offered to agents</span>}
                </th>
                <td className="minor matrix-effect">{row.effect}</td>
                {ACTIONS.map((action) => (
                  <td key={action} className="matrix-cell">
                    {row.action === action || row.depends?.loosest === action ? (
                      <Mark action={action} reason={row.reason} depends={row.depends !== null} />
                    ) : null}
                  </td>
                ))}
                <td className="minor" title={row.reason}>
                  <code>{row.rule}</code>
                  {row.depends ? (
                    <span className="muted small"> depends on arguments: {row.depends.rules.join(', ')}</span>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

const TONES = { allow: 'good', ask: 'info', dry_run: 'neutral', deny: 'bad' } as const;

interface MarkProps {
  readonly action: Action;
  readonly reason: string;
  readonly depends: boolean;
}

const Mark = ({ action, reason, depends }: MarkProps) => (
  <Badge tone={TONES[action]} title={reason}>
    <span aria-hidden="true">{depends ? '◐' : '●'}</span>
    <span className="sr-only">
      {ACTION_WORDS[action]}
      {depends ? ' or not' : ''}
    </span>
  </Badge>
);
