import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useSearch } from 'wouter';
import type { Rule } from '../../../kernel/views/policy-shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { Badge, Empty, Skeleton, StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { changeOverrides } from '../../ui/overrides.ts';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { StandingSentence, UntrustedText } from '../../ui/untrusted-text.tsx';
import { RuleEditor } from './rule-editor.tsx';
import { describeRule, hitsOf } from './words.ts';

interface Props {
  readonly editing: Rule | 'new' | undefined;
  onEdit(rule: Rule | 'new' | undefined): void;
}

/** The rules in the order in which they are evaluated, and the editor of one of them. */
export function Rules({ editing, onEdit }: Props) {
  const { data, error, refresh } = useQuery('/policy', { topics: ['config', 'calls'] });
  const [saves, setSaves] = useState(0);
  const say = useToast();
  const describeError = useErrorToast();
  const linked = new URLSearchParams(useSearch()).get('rule') ?? undefined;
  const opened = useRef<string>(undefined);
  useEffect(() => {
    const rule = data?.overrides.rules.find(({ id }) => id === linked);
    if (!rule || opened.current === linked) return;
    opened.current = linked;
    onEdit(rule);
  }, [data, linked, onEdit]);
  if (!data) return error ? <ErrorNotice error={error} /> : <Skeleton lines={6} />;
  const { overrides, configured, status } = data;
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
      describeError(fault);
    }
  };
  const own = overrides.rules.toSorted((a, b) => (a.priority ?? 100) - (b.priority ?? 100));
  const template = status.template_rules ?? [];
  return (
    <div className="policy-columns">
      <div className="policy-list">
        <ListHead name="Your rules" note="the strictest match decides; an allow exempts from those below" />
        {own.length === 0 ? (
          <Empty title="No custom rules" icon="policy">
            <p>
              The template and the configuration file apply. Add a rule: it is tested on your past calls while
              you write it.
            </p>
          </Empty>
        ) : (
          <ol className="rules">
            {own.map((rule, index) => (
              <RuleRow
                key={rule.id}
                rule={rule}
                number={index + 1}
                hits={hitsOf(data, rule.id)}
                isChosen={editing !== 'new' && (editing?.id ?? linked) === rule.id}
              >
                <Button small onClick={() => onEdit(rule)} aria-label={`Edit ${rule.id}`}>
                  Edit
                </Button>
                <Button
                  small
                  aria-label={`${rule.enabled === false ? 'Enable' : 'Disable'} ${rule.id}`}
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
                  {rule.enabled === false ? 'Enable' : 'Disable'}
                </Button>
                <Button
                  small
                  tone="danger"
                  aria-label={`Remove ${rule.id}`}
                  onClick={() =>
                    void attempt(
                      (rules) => rules.filter(({ id }) => id !== rule.id),
                      `Removed rule ${rule.id}.`,
                    )
                  }
                >
                  Remove
                </Button>
              </RuleRow>
            ))}
          </ol>
        )}
        {configured.length > 0 ? (
          <>
            <ListHead name="In the configuration file" note="edited there" />
            <ul className="rules">
              {configured.map((rule) => (
                <RuleRow
                  key={rule.id}
                  rule={rule}
                  hits={hitsOf(data, rule.id)}
                  isChosen={linked === rule.id}
                />
              ))}
            </ul>
          </>
        ) : null}
        {template.length > 0 ? (
          <>
            <ListHead
              name={`Template “${String(status.template).replaceAll('_', ' ')}”`}
              note="in addition to your rules"
            />
            <ul className="rules">
              {template.map((rule) => {
                const id = `template:${String(status.template)}:${rule.id}`;
                return <RuleRow key={id} rule={rule} hits={hitsOf(data, id)} isChosen={linked === id} />;
              })}
            </ul>
          </>
        ) : null}
        <RememberedHere />
      </div>
      <div className="policy-detail">
        {editing ? (
          <RuleEditor
            key={editing === 'new' ? `new-${saves}` : editing.id}
            rule={editing === 'new' ? undefined : editing}
            onClose={() => onEdit(undefined)}
            onSave={async (rule) => {
              await store((rules) => [...rules.filter(({ id }) => id !== rule.id), rule]);
              setSaves(saves + 1);
              onEdit(undefined);
              say(`Rule ${rule.id} is active.`, { tone: 'good' });
            }}
          />
        ) : (
          <>
            {linked ? <LinkedRule id={linked} hits={hitsOf(data, linked)} /> : null}
            <Guide onEdit={onEdit} />
          </>
        )}
      </div>
    </div>
  );
}

/** Apart from the rules, because they answer an ask and nothing else. */
function RememberedHere() {
  const { data } = useQuery('/standing', { topics: ['config', 'calls'] });
  const active = data?.standing.filter(({ state }) => state === 'active') ?? [];
  if (active.length === 0) return null;
  return (
    <>
      <ListHead name="Remembered decisions" note="answer an ask, never a deny" />
      <ul className="rules">
        {active.map(({ id, sentence, used, uses }) => (
          <li key={id} className="rule">
            <span className="rule-number" />
            <div className="stack-tight">
              <p className="small">
                <StandingSentence text={sentence} />
              </p>
              <p className="meta">
                {used} of {uses} uses · <Link href="/policy/remembered">Show</Link>
              </p>
            </div>
            <Badge tone="info">Approves</Badge>
          </li>
        ))}
      </ul>
    </>
  );
}

const ListHead = ({ name, note }: { readonly name: string; readonly note: string }) => (
  <h2 className="policy-list-head">
    {name} <span className="muted">{note}</span>
  </h2>
);

interface RowProps {
  readonly rule: Rule;
  readonly hits: string;
  readonly number?: number;
  readonly isChosen?: boolean;
  readonly children?: ReactNode;
}

function RuleRow({ rule, hits, number, isChosen = false, children }: RowProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <li
      ref={row}
      className={isChosen ? 'rule rule-chosen' : 'rule'}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span className="rule-number">{number ?? ''}</span>
      <div className="stack-tight">
        <p className="rule-name">
          <UntrustedText text={rule.label || rule.id} />
        </p>
        <p className="small rule-about">
          <UntrustedText text={describeRule(rule)} />
        </p>
        <p className="meta">
          {hits}
          {rule.enabled === false ? ' · disabled' : ''}
        </p>
        {children ? <div className="row rule-acts">{children}</div> : null}
      </div>
      <StateBadge state={rule.action} />
    </li>
  );
}

/** The rule that a call names: also one that no list has, because it is built in or gone. */
function LinkedRule({ id, hits }: { readonly id: string; readonly hits: string }) {
  const { data } = useQuery(`/policy/rules/${encodeURIComponent(id)}`);
  if (!data) return null;
  return (
    <section className="linked-rule" aria-label="Linked rule">
      <h2>
        <UntrustedText text={data.title} />
      </h2>
      {data.sentence ? (
        <p>
          <UntrustedText text={data.sentence} />
        </p>
      ) : null}
      <p className="meta">
        {hits} · <Link href="/policy">Close</Link>
      </p>
    </section>
  );
}

/** What to do here, and what history suggests. */
function Guide({ onEdit }: { onEdit(rule: Rule | 'new'): void }) {
  const { data } = useQuery('/policy/recommendations', {
    topics: ['config', 'approvals'],
  });
  const rules = data?.recommendations.flatMap((one) => (one.rule ? [{ ...one, rule: one.rule }] : [])) ?? [];
  return (
    <div className="policy-guide">
      <h2>How calls are decided</h2>
      <p>
        Built-in rules ask for everything destructive. Then your rules, the configuration file and the
        template are evaluated; the strictest that matches decides. A saved rule takes effect immediately for
        every agent.
      </p>
      <p className="muted">
        Choose a rule to edit it, or add one. It is tested on your past calls before you save it, and nothing
        is run.
      </p>
      {rules.length > 0 ? (
        <section aria-label="Suggested rules">
          <h3>Suggested from history</h3>
          <ul className="rules">
            {rules.map(({ rule, sentence, evidence }) => (
              <li key={rule.id} className="remembered">
                <div className="stack-tight">
                  <p>{sentence}</p>
                  <p className="meta">
                    You rejected {evidence.rejected} of {evidence.asked}.
                  </p>
                </div>
                <Button small onClick={() => onEdit(rule)}>
                  Review
                </Button>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  );
}
