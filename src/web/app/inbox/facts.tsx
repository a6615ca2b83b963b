import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { LimitUse, RiskNote } from '../../../contract/presentation.ts';
import type { Item } from '../../../kernel/views/shapes.ts';
import { Avatar, shortName } from '../../ui/badge.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

const PERIODS: readonly [number, string][] = [
  [3600, 'this hour'],
  [86_400, 'today'],
  [604_800, 'this week'],
];

const periodName = (seconds: number): string =>
  PERIODS.find(([length]) => length === seconds)?.[1] ?? `in ${Math.round(seconds / 3600)} h`;

export const describeUse = ({ used, of, period_seconds }: LimitUse): string =>
  `${used.toLocaleString('en')} of ${of.toLocaleString('en')} used ${periodName(period_seconds)}`;

/** The requester, where it acts, what it does, whether it can be undone: before any scrolling. */
export function FactStrip({ item }: { readonly item: Item }) {
  const { target, effect, undo, limits, risks } = item.presentation;
  const danger = item.effect === 'destroy' || risks.some(({ level }) => level === 'danger');
  const asks = item.ordered_by ? `for ${shortName(item.ordered_by)}` : (item.requester_label ?? undefined);
  const used = limits[0] && describeUse(limits[0]);
  return (
    <dl className="fact-strip" aria-label="Facts">
      <Cell name="Requester" text={shortName(item.requester)} avatar={item.requester} detail={asks} />
      <Cell name="Where" text={target.label} detail={target.detail} />
      <Cell
        name="Effect"
        text={effect.text}
        detail={effect.detail ?? used}
        tone={danger ? 'tone-bad' : undefined}
      />
      <Cell
        name="Undo"
        text={undo.text}
        detail={undo.detail}
        tone={undo.possible === true ? 'tone-good' : undo.possible === false ? 'tone-bad' : 'tone-warn'}
      />
    </dl>
  );
}

interface CellProps {
  readonly name: string;
  readonly text: string;
  readonly detail?: string | undefined;
  readonly tone?: string | undefined;
  readonly avatar?: string;
}

const Cell = ({ name, text, detail, tone, avatar }: CellProps) => (
  <div>
    <dt>{name}</dt>
    <dd className={tone} title={text}>
      {avatar ? <Avatar name={avatar} /> : null} <UntrustedText text={text} />
    </dd>
    {detail ? (
      <dd title={detail}>
        <UntrustedText text={detail} />
      </dd>
    ) : null}
  </div>
);

/** What is worth reading before anything else. */
export const RiskNotes = ({ risks }: { readonly risks: readonly RiskNote[] }) =>
  risks.length > 0 ? (
    <ul className="risks" aria-label="Risk notes">
      {risks.map(({ level, text }) => (
        <li key={text} className={level === 'danger' ? 'badge badge-bad' : 'badge badge-warn'}>
          <UntrustedText text={text} />
        </li>
      ))}
    </ul>
  ) : null;

/** The words of the requester, and the rule that asked, as a sentence. */
export function Reasons({ item }: { readonly item: Item }) {
  const { reason, rule } = item.presentation;
  const [all, setAll] = useState(false);
  const [isCut, setCut] = useState(false);
  const words = useRef<HTMLDivElement>(null);
  // A few lines until the person asks for the rest; how many characters that is depends on the screen.
  useEffect(() => {
    const box = words.current;
    if (!box) return;
    const watch = new ResizeObserver(() => setCut(box.scrollHeight > box.clientHeight + 1));
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  return (
    <dl className="reasons" aria-label="Reasons">
      <div>
        <dt>{reason ? `${shortName(reason.by)} says` : 'Reason'}</dt>
        <dd className={reason ? 'said' : 'muted'}>
          {reason ? (
            <>
              <div ref={words} className={all ? undefined : 'said-short'}>
                <UntrustedText block text={reason.text} />
              </div>
              {isCut || all ? (
                <button
                  type="button"
                  className="link-button"
                  aria-expanded={all}
                  onClick={() => setAll(!all)}
                >
                  {all ? 'Less' : 'More'}
                </button>
              ) : null}
            </>
          ) : (
            'No reason given'
          )}
        </dd>
      </div>
      <div>
        <dt>Asked because</dt>
        <dd className="asked-rule" title={`${rule.title}: ${rule.sentence}`}>
          <Link href={`/policy?rule=${encodeURIComponent(rule.id)}`}>
            <UntrustedText text={rule.title} />
          </Link>
          <span className="rule-sentence">
            : <UntrustedText text={rule.sentence} />
          </span>
        </dd>
      </div>
    </dl>
  );
}
