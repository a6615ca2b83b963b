import { type FormEvent, type ReactNode, useState } from 'react';
import type { ViewData } from '../../../contract/view.ts';
import { Badge, type Tone } from '../../../web/ui/badge.tsx';
import { Button, Field } from '../../../web/ui/field.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { views } from '../views.ts';
import { isLocal, type Pull, useView } from './data.ts';
import { ByLine } from './list-parts.tsx';

type Remark = ViewData<typeof views.pr>['comments'][number];

const VERDICTS = {
  commented: { label: 'Comment', said: 'Commented.' },
  approved: { label: 'Approve', said: 'Approved.' },
  changes_requested: { label: 'Request changes', said: 'Requested changes.' },
} as const;
type Verdict = keyof typeof VERDICTS;

const STATES: Readonly<Record<string, { word: string; tone: Tone }>> = {
  approved: { word: 'approved', tone: 'good' },
  changes_requested: { word: 'requested changes', tone: 'warn' },
  dismissed: { word: 'dismissed', tone: 'neutral' },
};

interface Props {
  readonly repo: string;
  readonly pull: Pull;
  readonly comments: readonly Remark[];
  onChanged(): Promise<void>;
}

/** What was said about a pull request, and the person's own word on it. */
export function Discussion({ repo, pull, comments, onChanged }: Props) {
  return (
    <section className="card" aria-label="Comments">
      <h3>Comments</h3>
      {comments.length === 0 && <p className="muted small">No comments yet.</p>}
      <ol className="plain-list stack">
        {comments.map((comment) => (
          <li key={`${comment.kind ?? 'comment'} ${comment.id}`} className="remark">
            <div className="row">
              <ByLine author={comment.author} at={comment.created_at} />
              <Verdict state={comment.state} />
              {comment.path && (
                <code className="small">
                  <UntrustedText text={`${comment.path}${comment.line ? `:${comment.line}` : ''}`} />
                </code>
              )}
            </div>
            <UntrustedText block text={comment.body} />
          </li>
        ))}
      </ol>
      {pull.state === 'open' &&
        (isLocal(pull) ? (
          <ReviewForm repo={repo} pull={pull} onChanged={onChanged} />
        ) : (
          <RemoteComment repo={repo} pull={pull} onChanged={onChanged} />
        ))}
    </section>
  );
}

function Verdict({ state }: { readonly state: Remark['state'] }) {
  const shown = state === undefined ? undefined : STATES[state];
  return shown ? <Badge tone={shown.tone}>{shown.word}</Badge> : null;
}

interface FormProps {
  readonly repo: string;
  readonly pull: Pull;
  onChanged(): Promise<void>;
}

function ReviewForm({ repo, pull, onChanged }: FormProps) {
  const act = useAct();
  const [verdict, setVerdict] = useState<Verdict>('commented');
  const send = async (body: string): Promise<boolean> => {
    const args = { repo, pr_number: pull.number, state: verdict, body };
    const { ok } = await act('dev_pr_review', args, VERDICTS[verdict].said);
    if (ok) setVerdict('commented');
    await onChanged();
    return ok;
  };
  return (
    <CommentForm
      act={VERDICTS[verdict].label}
      onSend={send}
      extra={
        <select
          className="fit"
          aria-label="Kind of review"
          value={verdict}
          onChange={(event) => setVerdict(event.target.value as Verdict)}
        >
          {Object.entries(VERDICTS).map(([key, { label }]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      }
    />
  );
}

/** On GitHub a comment belongs to the run that made the pull request; for any other, GitHub itself is the place. */
function RemoteComment({ repo, pull, onChanged }: FormProps) {
  const act = useAct();
  const runs = useView('runs', { repo, limit: 100 }, { topics: ['changed.dev'] });
  const run = runs.data?.runs.find(({ head_branch }) => head_branch === pull.head.ref);
  if (!run) return <p className="muted small">Comment on GitHub: no run here opened this pull request.</p>;
  const send = async (body: string): Promise<boolean> => {
    const args = { run_id: run.run_id, pr_number: pull.number, body };
    const { ok } = await act('github_pr_comment_create', args, 'Commented on GitHub.');
    await onChanged();
    return ok;
  };
  return <CommentForm act="Comment on GitHub" onSend={send} />;
}

interface CommentFormProps {
  readonly act: string;
  readonly extra?: ReactNode;
  onSend(body: string): Promise<boolean>;
}

function CommentForm({ act, extra, onSend }: CommentFormProps) {
  const [body, setBody] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    if (await onSend(body)) setBody('');
    setBusy(false);
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <Field label="Your comment" hint="Recorded in your name, in the audit log too.">
        {(attributes) => (
          <textarea {...attributes} rows={3} value={body} onChange={(event) => setBody(event.target.value)} />
        )}
      </Field>
      <div className="row">
        {extra}
        <Button type="submit" tone="primary" disabled={busy || body.trim() === ''}>
          {act}
        </Button>
      </div>
    </form>
  );
}
