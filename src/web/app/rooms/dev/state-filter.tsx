const STATES = ['open', 'closed', 'all'] as const;
export type Shown = (typeof STATES)[number];

interface Props {
  readonly value: Shown;
  onChange(value: Shown): void;
}

export function StateFilter({ value, onChange }: Props) {
  return (
    <label className="row nowrap small">
      Show
      <select className="fit" value={value} onChange={(event) => onChange(event.target.value as Shown)}>
        {STATES.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
    </label>
  );
}
