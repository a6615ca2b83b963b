import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useQuery } from '../../lib/api.ts';

interface Call {
  readonly call_id: string;
  readonly at: string;
  readonly tool: string;
  readonly principal: string;
  readonly status: string;
  readonly run_id: string | null;
}
interface Report {
  readonly result: {
    readonly data?: {
      readonly status: string;
      readonly summary: string;
      readonly report: {
        readonly command: string;
        readonly commit: string;
        readonly stdout: string;
        readonly stderr: string;
        readonly sandbox: string;
      };
    };
    readonly message?: string;
  } | null;
}
type Calls = { readonly calls: readonly Call[] };

const EVERY_MS = 10_000;

/** Test and lint reports, newest first. */
export function Quality() {
  const tests = useQuery<Calls>('/activity?tool=qa_test&limit=50', { everyMs: EVERY_MS });
  const lints = useQuery<Calls>('/activity?tool=qa_lint&limit=50', { everyMs: EVERY_MS });
  const calls = [...(tests.data?.calls ?? []), ...(lints.data?.calls ?? [])].sort((a, b) =>
    a.at < b.at ? 1 : -1,
  );
  return (
    <>
      <ErrorNotice error={tests.error ?? lints.error} />
      {tests.data && lints.data && calls.length === 0 && (
        <Empty title="No test or lint was run yet.">
          <p>
            Set <code>test</code> and <code>lint</code> of the repository in the configuration; agents run
            them with qa_test and qa_lint on the code of a run.
          </p>
        </Empty>
      )}
      <ul className="plain-list stack">
        {calls.map((call) => (
          <ReportCard key={call.call_id} call={call} />
        ))}
      </ul>
    </>
  );
}

function ReportCard({ call }: { readonly call: Call }) {
  const [open, setOpen] = useState(false);
  const detail = useQuery<Report>(`/activity/${call.call_id}`);
  const data = detail.data?.result?.data;
  return (
    <li className="card">
      <div className="row">
        <Badge tone={data?.status === 'pass' ? 'good' : data ? 'bad' : 'neutral'}>
          {data?.status ?? call.status}
        </Badge>
        <strong>{call.tool === 'qa_test' ? 'Test' : 'Lint'}</strong>
        <span className="small">
          <Foreign text={data?.summary ?? detail.data?.result?.message ?? ''} />
        </span>
        <span className="muted small">
          {call.principal}, <TimeAgo at={call.at} />
        </span>
        {data && (
          <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide output' : 'Show output'}
          </Button>
        )}
      </div>
      {data && open && (
        <>
          <p className="small">
            <code>
              <Foreign text={data.report.command} />
            </code>{' '}
            on <code>{data.report.commit.slice(0, 12)}</code>
            {data.report.sandbox === 'none' && <span className="muted">, without a sandbox</span>}
          </p>
          <Output name="Standard output" text={data.report.stdout} />
          <Output name="Standard error" text={data.report.stderr} />
        </>
      )}
    </li>
  );
}

function Output({ name, text }: { readonly name: string; readonly text: string }) {
  if (text === '') return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="code-box" aria-label={name} tabIndex={0}>
      <Foreign block text={text} />
    </section>
  );
}
