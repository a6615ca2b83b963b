import { useState } from 'react';
import { type Reply, useQuery } from '../../../web/ui/api.ts';
import { Badge, Empty, shortName } from '../../../web/ui/badge.tsx';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { TimeAgo } from '../../../web/ui/page-head.tsx';
import { isRecord, textAt } from '../../../web/ui/session.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { useView } from './data.ts';

type Call = Reply<'/activity'>['calls'][number];

const LIVE = { topics: ['calls'] } as const;
/** Each report is fetched separately, so only those in view. */
const SHOWN = 20;

/** Test and lint reports of a repository, newest first. */
export function Quality({ repo }: { readonly repo: string }) {
  const [shown, setShown] = useState(SHOWN);
  const runs = useView('runs', { repo, limit: 100 }, LIVE);
  const tests = useQuery('/activity?tool=qa_test&limit=500', LIVE);
  const lints = useQuery('/activity?tool=qa_lint&limit=500', LIVE);
  const purposes = new Map(runs.data?.runs.map(({ run_id, purpose }) => [run_id, purpose]));
  const calls = [...(tests.data?.calls ?? []), ...(lints.data?.calls ?? [])]
    .filter(({ run_id }) => run_id !== null && purposes.has(run_id))
    .sort((a, b) => (a.at < b.at ? 1 : -1));
  return (
    <>
      <ErrorNotice error={runs.error ?? tests.error ?? lints.error} />
      {runs.data && tests.data && lints.data && calls.length === 0 && (
        <Empty title="No test or lint runs yet" icon="checked">
          <p>
            Set <code>test</code> and <code>lint</code> of the repository in the configuration; agents run
            them with <code>qa_test</code> and <code>qa_lint</code> on the code of a run.
          </p>
        </Empty>
      )}
      <ul className="plain-list stack">
        {calls.slice(0, shown).map((call) => (
          <ReportCard key={call.call_id} call={call} purpose={purposes.get(call.run_id ?? '') ?? ''} />
        ))}
      </ul>
      {calls.length > shown && (
        <div className="row">
          <Button onClick={() => setShown(shown + SHOWN)}>Show older reports</Button>
        </div>
      )}
    </>
  );
}

function ReportCard({ call, purpose }: { readonly call: Call; readonly purpose: string }) {
  const [open, setOpen] = useState(false);
  // A report that is still being made comes with the end of its call.
  const detail = useQuery(`/activity/${call.call_id}`, call.status === 'running' ? LIVE : {});
  const result = detail.data?.result;
  const data = isRecord(result) ? result.data : undefined;
  const report = isRecord(data) ? data.report : undefined;
  const status = textAt(data, 'status');
  const name = call.tool === 'qa_test' ? 'Test' : 'Lint';
  return (
    <li className="card compact">
      <div className="titled">
        <Badge tone={status === 'pass' ? 'good' : status ? 'bad' : 'neutral'}>{status ?? call.status}</Badge>
        <h3>
          {name}:{' '}
          <UntrustedText
            text={
              textAt(data, 'summary') ??
              textAt(result, 'message') ??
              (call.status === 'running' ? 'running…' : '…')
            }
          />
        </h3>
      </div>
      <p className="muted small">
        <UntrustedText text={shortName(call.principal)} />, <TimeAgo at={call.at} />, for{' '}
        <UntrustedText text={purpose} />
      </p>
      {report && (
        <div className="row">
          <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide output' : 'Show output'}
          </Button>
        </div>
      )}
      {report && open && (
        <>
          <p className="small">
            <code>
              <UntrustedText text={textAt(report, 'command') ?? ''} />
            </code>{' '}
            on <code>{textAt(report, 'commit')?.slice(0, 12)}</code>
            {textAt(report, 'sandbox') === 'none' && <span className="muted">, without a sandbox</span>}
          </p>
          <Output name="Standard output" text={textAt(report, 'stdout')} />
          <Output name="Standard error" text={textAt(report, 'stderr')} />
        </>
      )}
    </li>
  );
}

function Output({ name, text }: { readonly name: string; readonly text: string | undefined }) {
  if (!text) return null;
  return (
    <div>
      <p className="muted small">{name}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="code-box" aria-label={name} tabIndex={0}>
        <UntrustedText block text={text} />
      </section>
    </div>
  );
}
