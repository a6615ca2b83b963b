import { useState } from 'react';
import type { ViewData } from '../../../contract/view.ts';
import { Badge, Skeleton, type Tone } from '../../../web/ui/badge.tsx';
import { Icon, type IconName } from '../../../web/ui/icon.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { views } from '../views.ts';
import { GITHUB_MS, isLocal, type Pull, useView } from './data.ts';

type Check = ViewData<typeof views.checks>['checks'][number];

const STATES: Readonly<Record<Check['state'], { icon: IconName; tone: Tone; word: string }>> = {
  success: { icon: 'checked', tone: 'good', word: 'passed' },
  failure: { icon: 'bad', tone: 'bad', word: 'failed' },
  pending: { icon: 'clock', tone: 'warn', word: 'running' },
  neutral: { icon: 'info', tone: 'neutral', word: 'skipped' },
};
const SOURCES = { qa: 'run here', check_run: 'GitHub check', status: 'commit status' } as const;

/** Whether a pull request can be merged, and what was checked of its newest commit. */
export function Checks({ repo, pull }: { readonly repo: string; readonly pull: Pull }) {
  const query = useView(
    'checks',
    { repo, number: pull.number },
    { topics: ['calls', 'changed.dev'], everyMs: isLocal(pull) ? undefined : GITHUB_MS },
  );
  return (
    <section className="card compact" aria-label="Checks">
      <h3>Checks</h3>
      <ul className="plain-list checks">
        {pull.state === 'open' && <Mergeable pull={pull} />}
        {query.data?.checks.map((check) => (
          <CheckRow key={`${check.source} ${check.name} ${check.finished_at ?? ''}`} check={check} />
        ))}
      </ul>
      <ErrorNotice error={query.error} />
      {query.loading && <Skeleton lines={1} />}
      {query.data?.checks.length === 0 && (
        <p className="muted small">
          No test, lint or continuous integration result for <code>{query.data.commit.slice(0, 12)}</code>.
        </p>
      )}
    </section>
  );
}

function Mergeable({ pull }: { readonly pull: Pull }) {
  const { mergeable, base } = pull;
  const [icon, tone, text] =
    mergeable === undefined
      ? (['info', 'neutral', 'Unknown whether it conflicts with'] as const)
      : mergeable
        ? (['checked', 'good', 'No conflicts with'] as const)
        : (['bad', 'bad', 'Conflicts with'] as const);
  return (
    <li className={`check tone-${tone}`}>
      <Icon name={icon} />
      <span>
        {text}{' '}
        <code>
          <UntrustedText text={base.ref} />
        </code>
      </span>
    </li>
  );
}

function CheckRow({ check }: { readonly check: Check }) {
  const [open, setOpen] = useState(false);
  const { icon, tone, word } = STATES[check.state];
  return (
    <li className={`check tone-${tone}`}>
      <Icon name={icon} />
      <div className="check-text">
        <span className="row">
          <strong>
            <UntrustedText text={check.name} />
          </strong>
          <Badge tone={tone}>{word}</Badge>
          <span className="muted small">
            {SOURCES[check.source]}
            {check.finished_at && (
              <>
                , <TimeAgo at={check.finished_at} />
              </>
            )}
          </span>
          {check.log_tail && (
            <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? 'Hide the log' : 'End of the log'}
            </button>
          )}
        </span>
        {check.summary && (
          <span className="small">
            <UntrustedText text={check.summary} />
          </span>
        )}
        {open && check.log_tail && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
          <section className="code-box" aria-label={`Log of ${check.name}`} tabIndex={0}>
            <UntrustedText block text={check.log_tail} />
          </section>
        )}
      </div>
    </li>
  );
}
