import type { Brief } from '../../../kernel/views/shapes.ts';
import { Icon } from '../../ui/icon.tsx';
import { iconOf } from '../toolkits.ts';

/** As the kernel writes the risk of a call that moves money; it is always the first. */
const MONEY = 'Moves money';
const movesMoney = ({ first_risk }: Brief): boolean => first_risk === MONEY;

/** What is decided one at a time. */
export const isGrave = (row: Brief): boolean => row.effect === 'destroy' || movesMoney(row);

/** Fill means environment, colour means risk, icon means kind. */
export function KindMark({ row }: { readonly row: Brief }) {
  const name = movesMoney(row)
    ? 'money'
    : row.effect === 'destroy'
      ? 'trash'
      : (iconOf(row.toolkit) ?? 'server');
  const tone = isGrave(row) ? 'danger' : (row.environment ?? 'local');
  return (
    <span className={`kind kind-${tone}`} aria-hidden="true">
      <Icon name={name} />
    </span>
  );
}

const SHORT_AGES: readonly [number, string][] = [
  [60, 's'],
  [60, 'm'],
  [24, 'h'],
  [Number.POSITIVE_INFINITY, 'd'],
];

/** "4m" in lists; the exact time is on hover. */
export function ShortAge({ at }: { readonly at: string }) {
  let value = Math.max(0, (Date.now() - Date.parse(at)) / 1000);
  let text = '';
  for (const [size, unit] of SHORT_AGES) {
    if (value < size) {
      text = unit === 's' ? 'now' : `${Math.floor(value)}${unit}`;
      break;
    }
    value /= size;
  }
  return (
    <time
      className="inbox-age"
      dateTime={at}
      title={new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })}
    >
      {text}
    </time>
  );
}

/** The gravest first, in the order of the list. */
export const RISKS = [
  'Needs a signature',
  'Destructive or moves money',
  'With risk notes',
  'Live',
  'Sandbox and local',
] as const;

const riskOf = (row: Brief): number =>
  row.signers > 0 ? 0 : isGrave(row) ? 1 : row.risks > 0 ? 2 : row.environment === 'live' ? 3 : 4;

/** The value of the heading that a row stands under, as its count names it. */
export function groupOf(row: Brief, group: string): string | undefined {
  switch (group) {
    case 'risk':
      return String(riskOf(row));
    case 'agent':
      return row.requester;
    case 'run':
      return row.run_id ?? '';
    default:
      return undefined;
  }
}
