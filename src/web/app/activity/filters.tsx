import { useEffect, useId, useState } from 'react';
import { useQuery } from '../../ui/api.ts';
import { Icon } from '../../ui/icon.tsx';
import { OUTCOME_WORDS } from '../../ui/outcome-badge.tsx';

const SPANS = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last day'],
  ['168', 'Last week'],
  ['720', 'Last 30 days'],
] as const;
const TYPING_MS = 250;

/** The filters of the address as the API wants them. */
export function queryOf(search: URLSearchParams): string {
  let query = '';
  for (const [ours, theirs] of [
    ['q', 'text'],
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
  const tools = useQuery('/policy/matrix').data?.rows;
  const agents = useQuery('/agents').data?.agents;
  return (
    <search className="activity-tools">
      <div className="activity-search">
        <Icon name="search" />
        <Words value={search.get('q') ?? ''} onChange={(text) => set('q', text)} />
      </div>
      <select
        aria-label="Outcome"
        value={search.get('outcome') ?? ''}
        onChange={(event) => set('outcome', event.target.value)}
      >
        <option value="">Any outcome</option>
        {OUTCOME_WORDS.map(([status, word]) => (
          <option key={status} value={status}>
            {word}
          </option>
        ))}
      </select>
      <Pick
        label="Agent"
        placeholder="Everyone"
        known={['agent:local', ...(agents?.map(({ name }) => `agent:${name}`) ?? [])]}
        value={search.get('agent') ?? ''}
        onChange={(value) => set('agent', value)}
      />
      <Pick
        label="Tool"
        placeholder="All tools"
        known={tools?.map(({ tool }) => tool) ?? []}
        value={search.get('tool') ?? ''}
        onChange={(value) => set('tool', value)}
      />
      <Pick
        label="Run"
        placeholder="All runs"
        known={[]}
        value={search.get('run') ?? ''}
        onChange={(value) => set('run', value)}
      />
      <select
        aria-label="Time"
        value={search.get('hours') ?? ''}
        onChange={(event) => set('hours', event.target.value)}
      >
        {SPANS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </search>
  );
}

interface WordsProps {
  readonly value: string;
  onChange(text: string): void;
}

/** Asks the server a moment after the last key, so that one word is one search. */
function Words({ value, onChange }: WordsProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      aria-label="Search activity"
      placeholder="Titles, arguments and results"
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

interface PickProps {
  readonly label: string;
  readonly placeholder: string;
  readonly known: readonly string[];
  readonly value: string;
  onChange(value: string): void;
}

function Pick({ label, placeholder, known, value, onChange }: PickProps) {
  const id = useId();
  return (
    <>
      <input
        type="search"
        className="activity-pick"
        aria-label={label}
        placeholder={placeholder}
        list={known.length > 0 ? id : undefined}
        value={value}
        onChange={(event) => onChange(event.target.value.trim())}
      />
      {known.length > 0 ? (
        <datalist id={id}>
          {known.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      ) : null}
    </>
  );
}
