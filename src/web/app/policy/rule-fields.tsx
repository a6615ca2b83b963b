import { type HTMLInputTypeAttribute, useEffect, useMemo, useState } from 'react';
import type { Action } from '../../../contract/policy.ts';
import { useQuery } from '../../ui/api.ts';
import { Field } from '../../ui/field.tsx';
import { ACTION_WORDS, ACTIONS } from './actions.ts';
import { type Draft, WEEKDAYS } from './rule-draft.ts';

const EFFECTS = ['read', 'change', 'destroy', 'propose', 'decide'] as const;
const MODES = ['autopilot', 'composer'] as const;

/** By how many people sign. */
const SIGNERS = ['None', 'One person', 'Two people', 'Three people', 'Four people', 'Five people'] as const;

interface Props {
  readonly draft: Draft;
  /** What is wrong, by field. */
  readonly errors: Readonly<Record<string, string>>;
  readonly isNew: boolean;
  onChange(part: Partial<Draft>): void;
}

type TextName = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];
type ListName = { [K in keyof Draft]: Draft[K] extends readonly string[] ? K : never }[keyof Draft];

/** Everything a rule can say: what it is about, who and when, and what it decides. */
export function RuleFields({ draft, errors, isNew, onChange }: Props) {
  const [more, setMore] = useState(false);
  const needsMore = hasMore(draft, errors);
  useEffect(() => {
    if (needsMore) setMore(true);
  }, [needsMore]);
  const rows = useQuery('/policy/matrix').data?.rows;
  const known = useMemo(() => {
    const of = (pick: (row: { tool: string; category: string; toolkit: string }) => string): string[] =>
      [...new Set(rows?.map(pick) ?? [])].sort();
    return {
      tools: of(({ tool }) => tool),
      categories: of(({ category }) => category),
      toolkits: of(({ toolkit }) => toolkit),
      timezone: Intl.supportedValuesOf('timeZone'),
    };
  }, [rows]);
  const text = (name: TextName, label: string, hint: string, type: HTMLInputTypeAttribute = 'text') => {
    const choices = name in known ? known[name as keyof typeof known] : undefined;
    return (
      <Field label={label} hint={hint} error={errors[name]}>
        {(attributes) => (
          <>
            <input
              {...attributes}
              type={type}
              list={choices ? `rule-${name}` : undefined}
              value={draft[name]}
              onChange={({ target }) => onChange({ [name]: target.value })}
            />
            {choices ? (
              <datalist id={`rule-${name}`}>
                {choices.map((choice) => (
                  <option key={choice} value={choice} />
                ))}
              </datalist>
            ) : null}
          </>
        )}
      </Field>
    );
  };
  const ticks = (name: ListName, label: string, choices: readonly string[], hint: string) => (
    <Ticks
      label={label}
      choices={choices}
      hint={errors[name] ?? hint}
      isWrong={errors[name] !== undefined}
      ticked={draft[name]}
      onChange={(next) => onChange({ [name]: next })}
    />
  );
  return (
    <>
      {text('principals', 'Who', 'agent, agent:NAME, person:NAME or system:*; empty for everyone.')}
      {text('tools', 'Tools', 'Names or patterns that end in *, separated by commas.')}
      <Field label="Decision" hint="The strictest matching rule decides." error={errors.action}>
        {(attributes) => (
          <select
            {...attributes}
            value={draft.action}
            onChange={({ target }) => onChange({ action: target.value as Action })}
          >
            {ACTIONS.map((action) => (
              <option key={action} value={action}>
                {ACTION_WORDS[action]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {draft.action === 'ask' ? (
        <Field
          label="Signatures"
          hint="Signed with a passkey, so that no program can decide."
          error={errors.signed ?? errors.signers}
        >
          {(attributes) => (
            <select
              {...attributes}
              value={draft.signers}
              onChange={({ target }) => onChange({ signers: target.value })}
            >
              {SIGNERS.map((label, count) => (
                <option key={label} value={count}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      ) : null}
      <div className="rule-wide">
        {text('when', 'Condition', "CEL, for example args.text.contains('http') or size(args.text) > 200")}
      </div>
      <h3 className="rule-wide">Name and purpose</h3>
      {isNew ? text('id', 'Name', 'Letters, digits, dots and dashes.') : null}
      {text('label', 'Purpose', 'In plain words; shown with its decisions.')}
      {text('reason', 'Reason', 'Shown to the agent and to the person who decides.')}
      <details
        className="rule-wide rule-more"
        open={more}
        onToggle={({ currentTarget }) => setMore(currentTarget.open)}
      >
        <summary>More: scope, schedule, order</summary>
        <div className="rule-form">
          {text('categories', 'Categories', known.categories.slice(0, 6).join(', '))}
          {text('toolkits', 'Toolkits', known.toolkits.join(', '))}
          {ticks(
            'effects',
            'Effects',
            EFFECTS,
            'None selected: any effect of the named tools; if no tools are named, changes only.',
          )}
          <h3 className="rule-wide">When</h3>
          {ticks('modes', 'Modes', MODES, 'None selected: both.')}
          {ticks('days', 'Days', WEEKDAYS, 'None selected: every day.')}
          {text('from', 'From', 'Empty for the whole day.', 'time')}
          {text('until', 'Until', 'May be after midnight.', 'time')}
          {text('timezone', 'Time zone', 'Applies to these days and times.')}
          <h3 className="rule-wide">Order</h3>
          {text('priority', 'Order', 'Lower numbers come first.', 'number')}
          <label className="row">
            <input
              type="checkbox"
              checked={draft.enabled}
              onChange={({ target }) => onChange({ enabled: target.checked })}
            />
            Active
          </label>
        </div>
      </details>
    </>
  );
}

const MORE = [
  'categories',
  'toolkits',
  'effects',
  'modes',
  'days',
  'from',
  'until',
  'timezone',
  'priority',
] as const;

/** What a rule says beyond the first fields must not be out of sight, nor what is wrong with it. */
const hasMore = (draft: Draft, errors: Readonly<Record<string, string>>): boolean =>
  !draft.enabled ||
  draft.priority !== '100' ||
  MORE.some((name) => errors[name] !== undefined) ||
  [draft.categories, draft.toolkits, draft.effects, draft.modes, draft.days, draft.from, draft.until].some(
    (value) => value.length > 0,
  );

interface TicksProps {
  readonly label: string;
  readonly choices: readonly string[];
  readonly hint: string;
  readonly isWrong: boolean;
  readonly ticked: readonly string[];
  onChange(next: readonly string[]): void;
}

const Ticks = ({ label, choices, hint, isWrong, ticked, onChange }: TicksProps) => (
  <fieldset className="fieldset rule-wide">
    <legend>{label}</legend>
    <div className="row">
      {choices.map((choice) => (
        <label key={choice} className="row">
          <input
            type="checkbox"
            checked={ticked.includes(choice)}
            onChange={({ target }) =>
              onChange(target.checked ? [...ticked, choice] : ticked.filter((one) => one !== choice))
            }
          />
          {choice}
        </label>
      ))}
    </div>
    <p className={isWrong ? 'field-error' : 'field-hint'}>{hint}</p>
  </fieldset>
);
