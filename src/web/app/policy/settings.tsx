import type { Overrides } from '../../../kernel/views/policy-shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { changeOverrides } from '../../ui/overrides.ts';
import { TimeAgo } from '../../ui/page-head.tsx';
import { useSession } from '../../ui/session.ts';
import { Table } from '../../ui/table.tsx';
import { useErrorToast, useToast } from '../../ui/toast.tsx';

/** A limit's key, such as `template:NAME:changes_per_hour`, in words. */
const nameOf = (key: string): string => {
  const [name = key, template] = key.split(':').reverse();
  const words = name.replaceAll('_', ' ');
  return template && key.startsWith('template:') ? `${words} (template)` : words;
};

const MODES = [
  ['autopilot', 'Agents act within the rules. Calls that need approval wait in your inbox.'],
  ['composer', 'Every change on X requires your approval, regardless of the rules.'],
] as const;

/** How the whole stands: mode, template and what is used of the limits. */
export function Settings() {
  const { session, refresh: refreshSession } = useSession();
  const { data, error, refresh } = useQuery('/policy', { topics: ['calls', 'config'] });
  const say = useToast();
  const describeError = useErrorToast();
  if (!data) return <ErrorNotice error={error} />;
  const store = async (change: Partial<Overrides>): Promise<void> => {
    try {
      await changeOverrides(() => change);
      say('Active for every agent.', { tone: 'good' });
    } catch (fault) {
      describeError(fault);
    }
    await Promise.all([refresh(), refreshSession()]);
  };
  const template = data.overrides.template ?? data.status.template;
  return (
    <>
      <h2>Mode</h2>
      <div className="choices">
        {MODES.map(([mode, text]) => (
          <div key={mode} className="card">
            <div className="row">
              <h3>{mode}</h3>
              {session.mode === mode ? <Badge tone="good">active</Badge> : null}
            </div>
            <p className="muted">{text}</p>
            {session.mode === mode ? null : (
              <div>
                <Button small onClick={() => void store({ mode })}>
                  Switch to {mode}
                </Button>
              </div>
            )}
          </div>
        ))}
      </div>
      <h2>Template</h2>
      <div className="choices">
        {data.templates.map(({ name, doc, rules }) => (
          <div key={name} className="card">
            <div className="row">
              <h3>{name.replaceAll('_', ' ')}</h3>
              {template === name ? <Badge tone="good">active</Badge> : null}
            </div>
            <p className="muted">{doc}</p>
            {rules.length > 0 ? (
              <ul className="small">
                {rules.map((rule) => (
                  <li key={rule}>{rule}</li>
                ))}
              </ul>
            ) : null}
            {template === name ? null : (
              <div>
                <Button small onClick={() => void store({ template: name })}>
                  Use {name.replaceAll('_', ' ')}
                </Button>
              </div>
            )}
          </div>
        ))}
      </div>
      <h2>Limits</h2>
      <Table
        label="Limits"
        rows={data.limits}
        rowKey={({ key }) => key}
        columns={[
          { key: 'key', label: 'Limit', cell: ({ key }) => <span title={key}>{nameOf(key)}</span> },
          {
            key: 'what',
            label: 'Counts',
            minor: true,
            cell: ({ dimension, match }) => `${dimension} ${match}`,
          },
          { key: 'used', label: 'Used', numeric: true, cell: ({ used, max }) => `${used} of ${max}` },
          { key: 'reset', label: 'Resets', cell: ({ resetAt }) => <TimeAgo at={resetAt} /> },
        ]}
      />
    </>
  );
}
