import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../web/ui/field.tsx';
import { Notice } from '../../../web/ui/notice.tsx';
import { isRecord, type JsonRecord, textAt } from '../../../web/ui/session.ts';
import type { StartSteps } from '../../../web/ui/start-steps.ts';
import { useView } from './data.ts';

function Remark() {
  const { data } = useView('provider', {});
  if (!data?.sandbox) return null;
  return (
    <Notice tone="good">
      <p>
        X is a sandbox on this machine: posts, followers and messages are made up and nothing leaves your
        computer. Connect a real account later with <code>countersign auth x</code>.
      </p>
    </Notice>
  );
}

/** By the very door agents use, without a token, as an agent on this machine would. */
async function askAsAgent(args: JsonRecord): Promise<{ approval?: number; message?: string }> {
  const response = await fetch('/tools/x_post_tweet', {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  });
  const reply: unknown = await response.json();
  const data = isRecord(reply) ? reply.data : undefined;
  if (isRecord(data) && typeof data.approval_queue_id === 'number')
    return { approval: data.approval_queue_id };
  const error = isRecord(reply) ? reply.error : undefined;
  const message = typeof error === 'string' ? error : textAt(error, 'message');
  return message === undefined ? {} : { message };
}

function Sample() {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const make = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const text = `Hello from Countersign. My first countersigned post, at ${new Date().toLocaleTimeString('en')}.`;
      const result = await askAsAgent({ text });
      if (result.approval) return navigate(`/inbox/${result.approval}`);
      setProblem(result.message ?? 'Your policy allowed the post without approval, so nothing is pending.');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <div className="stack">
      <p>
        Let an unnamed agent request a post. It waits for your approval: approve it with{' '}
        <kbd className="key">A</kbd>, and undo it with <kbd className="key">U</kbd>.
      </p>
      {problem ? <Notice tone="warn">{problem}</Notice> : null}
      <div>
        <Button tone="primary" disabled={busy} onClick={() => void make()}>
          Create a sample call
        </Button>
      </div>
    </div>
  );
}

const steps: StartSteps = {
  Remark,
  Sample,
  example: { request: 'Post on X that the beta is open.', result: 'The post' },
};

export default steps;
