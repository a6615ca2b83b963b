import { type HTMLInputTypeAttribute, useMemo } from 'react';
import { Field } from '../components/field.tsx';
import { useQuery } from '../lib/api.ts';
import { type Draft, WEEKDAYS } from './rule-draft.ts';
import { ACTION_WORDS, ACTIONS, type Action } from './types.ts';

const EFFECTS = ['read', 'change', 'destroy', 'propose', 'decide'] as const;
const MODES = ['autopilot', 'composer'] as const;

interface Props {
  readonly draft: Draft;
  readonly isNew: boolean;
  onChange(part: Partial<Draft>): void;
}

type TextName = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];
type ListName = { [K in keyof Draft]: Draft[K] extends readonly string[] ? K : never }[keyof Draft];

/** Everything a rule can say: what it is about, who and when, and what it decides. */
export function RuleFields({ draft, isNew, onChange }: Props) {
  const rows = useQuery<{ rows: readonly { tool: string; category: string; toolkit: string }[] }>(
    '/policy/matrix',
  ).data?.rows;
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
      <Field label={label} hint={hint}>
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
      hint={hint}
      ticked={draft[name]}
      onChange={(next) => onChange({ [name]: next })}
    />
  );
  return (
    <>
      {isNew ? text('id', 'Name', 'Letters, digits, dots and dashes.') : null}
      {text('label', 'What it is for', 'In plain words; shown with its decisions.')}
      <Field label="Decision">
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
      <h3 className="rule-wide">What it is about</h3>
      {text('tools', 'Tools', 'Names or patterns like x_post_*, with commas between.')}
      {text('categories', 'Categories', known.categories.slice(0, 6).join(', '))}
      {text('toolkits', 'Toolkits', known.toolkits.join(', '))}
      {ticks(
        'effects',
        'Effects',
        EFFECTS,
        'None ticked: any effect of what is named; without names, changes.',
      )}
      <h3 className="rule-wide">Who and when</h3>
      {text('principals', 'Who', 'agent, agent:NAME, person:NAME or system:*; empty for everyone.')}
      {ticks('modes', 'Modes', MODES, 'None ticked: in both.')}
      {ticks('days', 'Days', WEEKDAYS, 'None ticked: every day.')}
      {text('from', 'From', 'Empty for the whole day.', 'time')}
      {text('until', 'Until', 'May be after midnight.', 'time')}
      {text('timezone', 'Time zone', 'Of these days and times.')}
      <div className="rule-wide">
        {text('when', 'Condition', "CEL, for example args.text.contains('http') or size(args.text) > 200")}
      </div>
      <h3 className="rule-wide">How it decides</h3>
      {text('priority', 'Order', 'Lower numbers come first.', 'number')}
      {text('reason', 'Reason', 'Told to the agent and to whoever decides.')}
      <label className="row">
        <input
          type="checkbox"
          checked={draft.enabled}
          onChange={({ target }) => onChange({ enabled: target.checked })}
        />
        In force
      </label>
    </>
  );
}

interface TicksProps {
  readonly label: string;
  readonly choices: readonly string[];
  readonly hint: string;
  readonly ticked: readonly string[];
  onChange(next: readonly string[]): void;
}

const Ticks = ({ label, choices, hint, ticked, onChange }: TicksProps) => (
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
    <p className="field-hint">{hint}</p>
  </fieldset>
);
