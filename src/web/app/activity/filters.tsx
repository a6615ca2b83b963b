import { Field } from '../components/field.tsx';
import { useQuery } from '../lib/api.ts';

const OUTCOMES = ['ok', 'routed', 'dry_run', 'refused', 'failed', 'indeterminate', 'running'] as const;
const SPANS = [
  ['', 'any time'],
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last week'],
  ['720', 'the last 30 days'],
] as const;

/** The filters of the address as the API wants them. */
export function queryOf(search: URLSearchParams): string {
  let query = '';
  for (const [ours, theirs] of [
    ['tool', 'tool'],
    ['agent', 'principal'],
    ['outcome', 'status'],
    ['run', 'run'],
    ['hours', 'hours'],
  ] as const) {
    const value = search.get(ours);
    if (value) query += `&${theirs}=${encodeURIComponent(value)}`;
  }
  return query;
}

interface Props {
  readonly search: URLSearchParams;
  onChange(next: URLSearchParams): void;
}

export function Filters({ search, onChange }: Props) {
  const set = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value) next.set(name, value);
    else next.delete(name);
    onChange(next);
  };
  const tools = useQuery<{ rows: readonly { tool: string }[] }>('/policy/matrix').data?.rows;
  const agents = useQuery<{ agents: readonly { name: string }[] }>('/agents').data?.agents;
  const text = (name: string, label: string, placeholder: string, known: readonly string[] = []) => (
    <Field label={label}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            type="search"
            placeholder={placeholder}
            list={known.length > 0 ? `known-${name}` : undefined}
            value={search.get(name) ?? ''}
            onChange={(event) => set(name, event.target.value.trim())}
          />
          {known.length > 0 ? (
            <datalist id={`known-${name}`}>
              {known.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          ) : null}
        </>
      )}
    </Field>
  );
  return (
    <search className="filters">
      {text(
        'tool',
        'Tool',
        'all tools',
        tools?.map(({ tool }) => tool),
      )}
      {text('agent', 'Agent', 'everyone', [
        'agent:local',
        ...(agents?.map(({ name }) => `agent:${name}`) ?? []),
      ])}
      <Field label="Outcome">
        {(attributes) => (
          <select
            {...attributes}
            value={search.get('outcome') ?? ''}
            onChange={(event) => set('outcome', event.target.value)}
          >
            <option value="">any</option>
            {OUTCOMES.map((outcome) => (
              <option key={outcome} value={outcome}>
                {outcome.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      {text('run', 'Run', 'all runs')}
      <Field label="Time">
        {(attributes) => (
          <select
            {...attributes}
            value={search.get('hours') ?? ''}
            onChange={(event) => set('hours', event.target.value)}
          >
            {SPANS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </search>
  );
}
