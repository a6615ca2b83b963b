import { Field } from '../components/field.tsx';

const OUTCOMES = ['ok', 'routed', 'dry_run', 'refused', 'failed', 'indeterminate', 'running'] as const;
const SPANS = [
  ['', 'any time'],
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last week'],
  ['720', 'the last 30 days'],
] as const;
const HOUR_MS = 3_600_000;

/** The filters of the address as the API wants them. Times are cut to the minute so that a render does not ask anew. */
export function queryOf(search: URLSearchParams): string {
  let query = '';
  for (const [ours, theirs] of [
    ['tool', 'tool'],
    ['agent', 'principal'],
    ['outcome', 'status'],
    ['run', 'run'],
  ] as const) {
    const value = search.get(ours);
    if (value) query += `&${theirs}=${encodeURIComponent(value)}`;
  }
  const hours = Number(search.get('hours'));
  if (hours > 0) {
    const since = new Date(Math.floor(Date.now() / 60_000) * 60_000 - hours * HOUR_MS);
    query += `&since=${encodeURIComponent(since.toISOString())}`;
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
  const text = (name: string, label: string, placeholder: string) => (
    <Field label={label}>
      {(attributes) => (
        <input
          {...attributes}
          type="search"
          placeholder={placeholder}
          value={search.get(name) ?? ''}
          onChange={(event) => set(name, event.target.value.trim())}
        />
      )}
    </Field>
  );
  return (
    <search className="filters">
      {text('tool', 'Tool', 'all tools')}
      {text('agent', 'Agent', 'everyone')}
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
