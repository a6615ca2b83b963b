import { useState } from 'react';
import { Link } from 'wouter';
import type { StandingTest } from '../../../contract/standing.ts';
import { Notice } from '../../ui/notice.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

/** What a standing approval would have answered among the calls that a person decided. */
export function StandingTestView({ test, agent }: { readonly test: StandingTest; readonly agent: string }) {
  const [open, setOpen] = useState(false);
  const { of, answered, asked, rejected } = test;
  if (of === 0) return <Notice>No past calls of this kind to test it on. It starts with this one.</Notice>;
  return (
    <Notice tone={rejected > 0 ? 'bad' : 'info'}>
      <p>
        Of the last {of} such calls of {agent} it would have allowed <strong>{answered.length}</strong>
        {answered.length > 0
          ? rejected === 0
            ? ', all of which you approved'
            : `, of which you rejected ${rejected}`
          : ''}
        . <strong>{asked.length}</strong> would still ask.{' '}
        <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide them' : 'Show them'}
        </button>
      </p>
      {open ? (
        <ul className="past-calls">
          {[...answered, ...asked].map((row) => (
            <li key={row.approval_id}>
              <Link href={`/inbox/${row.approval_id}`}>
                <UntrustedText text={row.gist ?? row.title} />
              </Link>{' '}
              <span className="meta">
                {row.state}, <TimeAgo at={row.created_at} />
                {row.why ? (
                  <>
                    ; asks: <UntrustedText text={row.why} />
                  </>
                ) : (
                  '; allowed'
                )}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
    </Notice>
  );
}
