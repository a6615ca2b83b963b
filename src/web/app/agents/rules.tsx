import { useState } from 'react';
import { StateBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Foreign } from '../components/foreign.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { useFaultToast, useToast } from '../components/toast.tsx';
import { useQuery } from '../lib/api.ts';
import { changeOverrides } from './overrides.ts';
import { RuleDialog } from './rule-dialog.tsx';
import type { PolicyData, Rule } from './types.ts';

/** The rules written here. Those of the configuration file hold beside them and are edited there. */
export function Rules() {
  const { data, error, refresh } = useQuery<PolicyData>('/policy', { topics: ['config'] });
  const [editing, setEditing] = useState<Rule | 'new'>();
  const say = useToast();
  const sayFault = useFaultToast();
  if (!data) return <ErrorNotice error={error} />;
  const { overrides } = data;

  const store = async (change: (rules: readonly Rule[]) => readonly Rule[]): Promise<void> => {
    await changeOverrides(({ rules }) => ({ rules: change(rules) }));
    await refresh();
  };
  const attempt = async (
    change: (rules: readonly Rule[]) => readonly Rule[],
    done: string,
  ): Promise<void> => {
    try {
      await store(change);
      say(done, { tone: 'good' });
    } catch (fault) {
      sayFault(fault);
    }
  };
  return (
    <>
      <p className="muted">
        The strictest rule that matches wins, unless an allow rule of a lower number comes before it. A rule
        takes effect for every agent the moment it is saved.
      </p>
      {overrides.rules.length === 0 ? (
        <Empty title="You have written no rule here">
          <p>
            The template and the configuration file decide. Add a rule and see first what it would have
            changed.
          </p>
        </Empty>
      ) : (
        <ul className="rules">
          {overrides.rules.map((rule) => (
            <li key={rule.id} className="card rule">
              <RuleHead rule={rule} />
              <div className="row">
                <Button small onClick={() => setEditing(rule)} aria-label={`Edit ${rule.id}`}>
                  Edit
                </Button>
                <Button
                  small
                  aria-label={`${rule.enabled === false ? 'Switch on' : 'Switch off'} ${rule.id}`}
                  onClick={() =>
                    void attempt(
                      (rules) =>
                        rules.map((one) =>
                          one.id === rule.id ? { ...one, enabled: rule.enabled === false } : one,
                        ),
                      'Saved.',
                    )
                  }
                >
                  {rule.enabled === false ? 'Switch on' : 'Switch off'}
                </Button>
                <Button
                  small
                  tone="danger"
                  aria-label={`Remove ${rule.id}`}
                  onClick={() =>
                    void attempt(
                      (rules) => rules.filter(({ id }) => id !== rule.id),
                      `The rule ${rule.id} is gone.`,
                    )
                  }
                >
                  Remove
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      <div>
        <Button tone="primary" onClick={() => setEditing('new')}>
          Add a rule
        </Button>
      </div>
      <Configured rules={data.configured} />
      {editing ? (
        <RuleDialog
          rule={editing === 'new' ? undefined : editing}
          onClose={() => setEditing(undefined)}
          onSave={async (rule) => {
            await store((rules) => [...rules.filter(({ id }) => id !== rule.id), rule]);
            setEditing(undefined);
            say(`The rule ${rule.id} is in force.`, { tone: 'good' });
          }}
        />
      ) : null}
    </>
  );
}

function Configured({ rules }: { readonly rules: readonly Rule[] }) {
  if (rules.length === 0) return null;
  return (
    <>
      <h2>In the configuration file</h2>
      <p className="muted">They hold beside yours and are edited there.</p>
      <ul className="rules">
        {rules.map((rule) => (
          <li key={rule.id} className="card rule">
            <RuleHead rule={rule} />
          </li>
        ))}
      </ul>
    </>
  );
}

const RuleHead = ({ rule }: { readonly rule: Rule }) => (
  <>
    <div className="row">
      <StateBadge state={rule.action} />
      <strong>
        <Foreign text={rule.label || rule.id} />
      </strong>
      {rule.enabled === false ? <span className="muted">switched off</span> : null}
    </div>
    <p className="small">
      <Foreign text={describe(rule)} />
    </p>
  </>
);

function describe(rule: Rule): string {
  const { schedule } = rule;
  const parts = [
    rule.tools ? `tools ${rule.tools.join(', ')}` : '',
    rule.categories ? `categories ${rule.categories.join(', ')}` : '',
    rule.toolkits ? `toolkits ${rule.toolkits.join(', ')}` : '',
    rule.effects ? `effects ${rule.effects.join(', ')}` : '',
    rule.principals ? `by ${rule.principals.join(', ')}` : '',
    rule.modes ? `in ${rule.modes.join(' and ')}` : '',
    schedule?.days && schedule.days.length < 7 ? `on ${schedule.days.join(', ')}` : '',
    schedule && schedule.start !== schedule.end ? `from ${schedule.start} to ${schedule.end}` : '',
    schedule ? schedule.timezone : '',
    rule.when ? `when ${rule.when}` : '',
  ].filter(Boolean);
  return parts.length > 0 ? parts.join('; ') : 'every change';
}
