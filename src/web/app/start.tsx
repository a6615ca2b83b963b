import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useQuery } from '../ui/api.ts';
import { Badge } from '../ui/badge.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/page-head.tsx';
import { useSession } from '../ui/session.ts';
import { overHttp, Snippets } from '../ui/snippets.tsx';
import { useStartSteps } from './toolkits.ts';
import './styles/agents.css';
import './styles/start.css';

/** The first two minutes, as a list that ticks itself: one agent connected, one decision. Nothing needs an account. */
export default function StartPage() {
  const { session } = useSession();
  const steps = useStartSteps(session.toolkits);
  const { data: snippets } = useQuery('/snippets');
  const { data: policy } = useQuery('/policy');
  const agents =
    useQuery('/agents/overview', { topics: ['calls', 'approvals', 'config'] }).data?.agents ?? [];
  const keys = useQuery('/passkeys').data?.keys ?? [];
  // The sample call comes from this page, and names no client.
  const connected = agents.find(
    ({ client, token_since, last_call_at }) =>
      last_call_at !== null && (client !== null || token_since !== null),
  );
  const decided = agents.some(
    ({ decisions }) => decisions.approved + decisions.edited + decisions.rejected > 0,
  );
  const connect = (
    <div className="stack">
      <p className="muted">
        <code>countersign init</code> connects the clients on your machine. To do it by hand, run or paste
        this:
      </p>
      {snippets ? <Snippets snippets={[...snippets, overHttp()]} /> : null}
      {steps ? (
        <p className="small muted">
          Then ask it, for example: <em>“{steps.example.request}”</em> {steps.example.result} appears in your{' '}
          <Link href="/">inbox</Link>.
        </p>
      ) : null}
    </div>
  );
  return (
    <Page title="Getting started">
      <div className="start">
        <p className="start-lead">
          Agents call tools through Countersign. Reads are allowed; calls that publish, cost money or delete
          something wait in your <Link href="/">inbox</Link> until you decide. Every call leaves evidence you
          can <Link href="/activity">verify</Link>.
        </p>
        <ol className="steps">
          <Step number={1} done title="Countersign runs on this machine">
            <p className="muted">Its audit log was started and its key created.</p>
            <div className="row">
              <Badge>Mode: {session.mode}</Badge>
              {policy?.status.template ? (
                <Badge>Policy: {String(policy.status.template).replaceAll('_', ' ')}</Badge>
              ) : null}
            </div>
            {steps ? <steps.Remark /> : null}
          </Step>
          <Step number={2} done={connected !== undefined} title="Connect your first agent">
            {connected ? (
              <>
                <p className="muted">
                  {connected.name} has called. <Link href={`/agents/${connected.name}`}>Show it</Link>
                </p>
                <details>
                  <summary>Connect another client</summary>
                  {connect}
                </details>
              </>
            ) : (
              <>
                {connect}
                <p className="listening small">
                  Listening. This step ticks when the agent makes its first call.
                </p>
              </>
            )}
          </Step>
          <Step number={3} done={decided} title="Make your first decision">
            {decided ? (
              <p className="muted">
                Done. <Link href="/inbox?shelf=decided">What you decided</Link> stays with its proof.
              </p>
            ) : steps ? (
              <steps.Sample />
            ) : steps === null ? (
              <p className="muted">
                No enabled toolkit offers a sample call. Connect an agent and let it call a tool.
              </p>
            ) : null}
          </Step>
          <Step number={4} done={keys.length > 0} title="Add a passkey, set the rules">
            <p className="muted">
              A passkey signs dangerous decisions. Rules are tested on your past calls before you save them.
              Notifications of new approvals are switched on in the side bar.
            </p>
            <div className="row">
              <Link href="/passkeys" className="button button-small">
                <Icon name="fingerprint" />
                Add a passkey
              </Link>
              <Link href="/policy" className="button button-small">
                <Icon name="policy" />
                Set the rules
              </Link>
            </div>
          </Step>
        </ol>
      </div>
    </Page>
  );
}

interface StepProps {
  readonly number: number;
  readonly done: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

const Step = ({ number, done, title, children }: StepProps) => (
  <li className={done ? 'step step-done' : 'step'}>
    <span className="step-mark" aria-hidden="true">
      {done ? <Icon name="check" /> : number}
    </span>
    <div className="step-body">
      <h2>
        {title}
        {done ? <span className="sr-only"> (done)</span> : null}
      </h2>
      {children}
    </div>
  </li>
);
