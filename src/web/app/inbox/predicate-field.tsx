import { useId } from 'react';
import type { ArgumentPredicate } from '../../../contract/standing.ts';
import { linksIn } from '../../../lib/links.ts';
import { humanName } from '../../../lib/words.ts';
import type { Json } from '../../ui/session.ts';

type Op = ArgumentPredicate['op'];

const shown = (value: Json | undefined): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

/** Hosts of the links in a text: where "links only to" begins. */
const hostsOf = (text: string): string[] => linksIn(text).filter((host) => host !== null);

function toPredicate(op: Op, arg: string, value: Json | undefined): ArgumentPredicate {
  const text = typeof value === 'string' ? value : '';
  switch (op) {
    case 'equals':
      return { arg, op, value: value ?? null };
    case 'one_of':
      return { arg, op, values: [value ?? null] };
    case 'starts_with':
      return { arg, op, text: text.slice(0, 20) || ' ' };
    case 'at_most':
      return { arg, op, number: typeof value === 'number' ? value : 0 };
    case 'links_only':
      return { arg, op, hosts: hostsOf(text) };
    case 'any':
      return { arg, op };
    default:
      return op satisfies never;
  }
}

/** The widenings that make sense for a value; exactly this one comes first. */
const opsFor = (value: Json | undefined): readonly (readonly [Op, string])[] => [
  ['equals', 'exactly this value'],
  ...(typeof value === 'string'
    ? ([
        ['starts_with', 'starts with'],
        ['links_only', 'any text, links only to'],
      ] as const)
    : []),
  ...(typeof value === 'number' ? ([['at_most', 'at most']] as const) : []),
  ['any', 'any value'],
];

interface Props {
  readonly predicate: ArgumentPredicate;
  /** What the argument is in the call that the person looks at. */
  readonly value: Json | undefined;
  onChange(predicate: ArgumentPredicate): void;
}

/** What one argument must be. Every widening is a step the person takes. */
export function PredicateField({ predicate, value, onChange }: Props) {
  const id = useId();
  const { arg, op } = predicate;
  const name = humanName(arg);
  return (
    <div className="predicate">
      <label htmlFor={id}>{name}</label>
      <select
        id={id}
        value={op}
        onChange={(event) => onChange(toPredicate(event.target.value as Op, arg, value))}
      >
        {opsFor(value).map(([key, label]) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
      {predicate.op === 'starts_with' ? (
        <input
          aria-label={`${name} starts with`}
          required
          value={predicate.text}
          onChange={(event) => onChange({ ...predicate, text: event.target.value || ' ' })}
        />
      ) : predicate.op === 'at_most' ? (
        <input
          aria-label={`${name} at most`}
          type="number"
          step="any"
          value={predicate.number}
          onChange={(event) => onChange({ ...predicate, number: Number(event.target.value) })}
        />
      ) : predicate.op === 'links_only' ? (
        <input
          aria-label={`Hosts that ${name} may link to`}
          placeholder="no links"
          value={predicate.hosts.join(', ')}
          onChange={(event) =>
            onChange({
              ...predicate,
              hosts: event.target.value
                .split(',')
                .map((host) => host.trim().toLowerCase())
                .filter(Boolean),
            })
          }
        />
      ) : null}
      <span className="meta">{op === 'equals' ? shown(value) : `was: exactly ${shown(value)}`}</span>
    </div>
  );
}
