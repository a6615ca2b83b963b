import { useLocation, useSearch } from 'wouter';
import { shortName } from '../../ui/badge.tsx';
import { useSession } from '../../ui/session.ts';

/** What the address of the inbox may say; the same names as the API has. */
export const FILTERS = [
  { key: 'agent', facet: 'requester', label: 'Agent' },
  { key: 'environment', facet: 'environment', label: 'Environment' },
  { key: 'effect', facet: 'effect', label: 'Effect' },
  { key: 'signature', facet: 'signature', label: 'Signature' },
  { key: 'toolkit', facet: 'toolkit', label: 'Server or toolkit' },
  { key: 'tool', facet: 'tool', label: 'Tool' },
  { key: 'run', facet: 'run_id', label: 'Run' },
] as const;
export type FilterKey = (typeof FILTERS)[number]['key'];
const OTHERS = ['newer', 'older', 'q'] as const;
const KEYS: readonly string[] = [...FILTERS.map(({ key }) => key), ...OTHERS];

/** How old an approval is. */
export const AGES = [
  { key: 'newer', value: '1h', label: 'Last hour' },
  { key: 'newer', value: '24h', label: 'Last 24 hours' },
  { key: 'older', value: '1h', label: 'Older than 1 hour' },
  { key: 'older', value: '24h', label: 'Older than 24 hours' },
  { key: 'older', value: '7d', label: 'Older than 7 days' },
] as const;

export const GROUPS = { risk: 'Risk', agent: 'Agent', run: 'Run', newest: 'Newest' } as const;
export type Group = keyof typeof GROUPS;
export type Shelf = 'waiting' | 'decided';
const STATES: Readonly<Record<Shelf, string>> = {
  waiting: 'pending',
  decided: 'approved,executing,done,failed,indeterminate,rejected,expired,withdrawn',
};

export interface Part {
  readonly key: string;
  readonly value: string;
}

export interface InboxView {
  readonly shelf: Shelf;
  readonly group: Group;
  /** One per value; the address has the values of a key in one list. */
  readonly parts: readonly Part[];
  readonly text: string;
  /** For the API: the filter without its paging. */
  readonly query: string;
  /** For links that keep the view: empty or `?…`. */
  readonly search: string;
  has(part: Part): boolean;
  toggle(part: Part): void;
  clear(): void;
  setText(text: string): void;
  setGroup(group: Group): void;
  setShelf(shelf: Shelf): void;
}

/** What the inbox shows, read from the address: a filtered inbox can be linked to, reloaded and gone back to. */
export function useInboxView(): InboxView {
  const search = useSearch();
  const [location, navigate] = useLocation();
  const address = new URLSearchParams(search);
  const shelf: Shelf = address.get('shelf') === 'decided' ? 'decided' : 'waiting';
  const group = readGroup(address.get('group'));
  const parts = KEYS.filter((key) => key !== 'q').flatMap((key) =>
    (address.get(key) ?? '')
      .split(',')
      .filter(Boolean)
      .map((value) => ({ key, value })),
  );
  const change = (edit: (to: URLSearchParams) => void, place = location): void => {
    const to = new URLSearchParams(search);
    edit(to);
    const text = to.toString();
    navigate(text ? `${place}?${text}` : place, { replace: true });
  };
  const put = (to: URLSearchParams, key: string, value: string): void => {
    if (value) to.set(key, value);
    else to.delete(key);
  };
  const has = ({ key, value }: Part): boolean =>
    parts.some((part) => part.key === key && part.value === value);
  const query = new URLSearchParams({ state: STATES[shelf], group });
  for (const key of KEYS) put(query, key, address.get(key) ?? '');
  return {
    shelf,
    group,
    parts,
    text: address.get('q') ?? '',
    query: query.toString(),
    search: search ? `?${search}` : '',
    has,
    toggle(part) {
      const others = parts.filter(({ key, value }) => key === part.key && value !== part.value);
      // A run and an age have one value each.
      const kept = ['run', 'signature', ...OTHERS].includes(part.key) ? [] : others;
      const next = has(part) ? kept : [...kept, part];
      change((to) => {
        if (part.key === 'newer' || part.key === 'older') {
          to.delete('newer');
          to.delete('older');
        }
        put(to, part.key, next.map(({ value }) => value).join(','));
      }, '/');
    },
    clear: () =>
      change((to) => {
        for (const key of KEYS) to.delete(key);
      }),
    setText: (text) => change((to) => put(to, 'q', text)),
    setGroup: (next) => change((to) => put(to, 'group', next === 'risk' ? '' : next)),
    setShelf: (next) => change((to) => put(to, 'shelf', next === 'waiting' ? '' : next), '/'),
  };
}

const readGroup = (text: string | null): Group =>
  text !== null && Object.hasOwn(GROUPS, text) ? (text as Group) : 'risk';

const EFFECTS: Readonly<Record<string, string>> = {
  read: 'Reads',
  change: 'Changes',
  destroy: 'Destructive',
  propose: 'Proposes',
  decide: 'Decides',
};
const ENVIRONMENTS: Readonly<Record<string, string>> = { live: 'Live', sandbox: 'Sandbox', local: 'Local' };

/** What an effect is called on a badge. */
export const effectName = (effect: string): string => EFFECTS[effect] ?? effect;

/** A value of a filter as a person reads it. */
export function valueName({ key, value }: Part): string {
  switch (key) {
    case 'agent':
      return shortName(value);
    case 'effect':
      return effectName(value);
    case 'environment':
      return ENVIRONMENTS[value] ?? value;
    case 'signature':
      return 'Needs a signature';
    case 'run':
      return value.length > 12 ? `${value.slice(0, 8)}…` : value;
    case 'newer':
    case 'older':
      return AGES.find((age) => age.key === key && age.value === value)?.label ?? `${key} than ${value}`;
    default:
      return value;
  }
}

/** With the titles of toolkits. */
export function useValueName(): (part: Part) => string {
  const { session } = useSession();
  return (part) =>
    (part.key === 'toolkit' ? session.toolkits.find(({ id }) => id === part.value)?.title : undefined) ??
    valueName(part);
}
