import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { ApiError, post, useQuery } from '../lib/api.ts';
import { type Draft, draftOf, ruleOf } from './rule-draft.ts';
import { ACTION_WORDS, ACTIONS, type Action, type Rule } from './types.ts';

const EFFECTS = ['read', 'change', 'destroy', 'propose'] as const;
const TYPING_MS = 350;

interface Props {
  readonly rule: Rule | undefined;
  onClose(): void;
  onSave(rule: Rule): Promise<void>;
}

/** Writes a rule, and shows while it is written what it would have done to the last hundred calls. */
export function RuleDialog({ rule: given, onClose, onSave }: Props) {
  const [draft, setDraft] = useState(() => draftOf(given));
  const [problem, setProblem] = useState<string>();
  const rule = useMemo(() => ruleOf(draft), [draft]);
  const tools = useQuery<{ rows: readonly { tool: string }[] }>('/policy/matrix').data?.rows ?? [];
  const set = (part: Partial<Draft>): void => setDraft((old) => ({ ...old, ...part }));
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await onSave(rule);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  const text = (name: keyof Draft & string, label: string, hint: string, list?: string) => (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          list={list}
          value={String(draft[name])}
          onChange={(event) => set({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <Dialog
      wide
      title={given ? `Edit ${given.id}` : 'Add a rule'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="rule-form">
            Save and put in force
          </Button>
        </>
      }
    >
      <div className="rule-preview">
        <Preview rule={rule} />
      </div>
      <form id="rule-form" className="rule-form" onSubmit={(event) => void save(event)}>
        {problem ? (
          <div className="rule-wide">
            <Notice tone="bad">{problem}</Notice>
          </div>
        ) : null}
        {given ? null : text('id', 'Name', 'Letters, digits, dots and dashes.')}
        {text('label', 'What it is for', 'In plain words; shown with its decisions.')}
        <Field label="Decision">
          {(attributes) => (
            <select
              {...attributes}
              value={draft.action}
              onChange={(event) => set({ action: event.target.value as Action })}
            >
              {ACTIONS.map((action) => (
                <option key={action} value={action}>
                  {ACTION_WORDS[action]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {text('tools', 'Tools', 'Names or patterns like x_post_*, with commas between.', 'rule-tools')}
        <datalist id="rule-tools">
          {tools.map(({ tool }) => (
            <option key={tool} value={tool} />
          ))}
        </datalist>
        {text('toolkits', 'Toolkits', 'x, dev, research, assistant')}
        {text('principals', 'Who', 'agent, agent:NAME, system:*')}
        <fieldset className="fieldset rule-wide">
          <legend>Effects</legend>
          <div className="row">
            {EFFECTS.map((effect) => (
              <label key={effect} className="row">
                <input
                  type="checkbox"
                  checked={draft.effects.includes(effect)}
                  onChange={({ target }) =>
                    set({
                      effects: target.checked
                        ? [...draft.effects, effect]
                        : draft.effects.filter((one) => one !== effect),
                    })
                  }
                />
                {effect}
              </label>
            ))}
          </div>
          <p className="field-hint">None ticked: any effect of the tools named; without tools, changes.</p>
        </fieldset>
        <div className="rule-wide">
          {text('when', 'Condition', "CEL, for example args.text.contains('http') or size(args.text) > 200")}
        </div>
        {text('from', 'From', 'A time of day like 22:00; empty for always.')}
        {text('until', 'Until', 'Like 07:00; may be after midnight.')}
        {text('priority', 'Order', 'Lower numbers come first.')}
        {text('reason', 'Reason', 'Told to the agent and to whoever decides.')}
      </form>
    </Dialog>
  );
}

interface PreviewData {
  readonly stopped: readonly { callId: string; tool: string; before: string; after: string }[];
  readonly loosened: readonly { callId: string; tool: string; before: string; after: string }[];
  readonly unknown: readonly string[];
  readonly looked_at: number;
}

function Preview({ rule }: { readonly rule: Rule }) {
  const [data, setData] = useState<PreviewData>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      // An unnamed rule can be tried already.
      const body = { rule: { ...rule, id: rule.id || 'preview' } };
      post<PreviewData>('/policy/preview', body).then(
        (reply) => {
          if (!current) return;
          setData(reply);
          setProblem(undefined);
        },
        (error: unknown) => {
          if (current) setProblem(error instanceof Error ? error.message : String(error));
        },
      );
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [rule]);
  if (problem)
    return (
      <Notice tone="bad">
        <p className="foreign-block">{problem}</p>
      </Notice>
    );
  if (!data) return null;
  const { stopped, loosened, unknown, looked_at: seen } = data;
  return (
    <div role="status">
      <Notice tone={loosened.length > 0 ? 'warn' : 'info'}>
        <div className="stack">
          <p>
            Of the last {seen} calls this rule would have stopped <strong>{stopped.length}</strong>
            {loosened.length > 0 ? (
              <>
                {' '}
                and let through <strong>{loosened.length}</strong> that wait or are refused today
              </>
            ) : null}
            {unknown.length > 0 ? `; of ${unknown.length} the arguments are no longer kept` : ''}.
          </p>
          {[...stopped, ...loosened].slice(0, 5).map(({ callId, tool, before, after }) => (
            <span key={callId} className="mono">
              {tool}: {before} → {after}
            </span>
          ))}
        </div>
      </Notice>
    </div>
  );
}
