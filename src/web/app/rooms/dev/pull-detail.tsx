import { lazy, Suspense } from 'react';
import { Button } from '../../components/button.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { useAct, useView } from '../room-data.ts';
import { ByLine } from './by-line.tsx';
import { PullState } from './pull-state.tsx';
import { type Comment, isLocal, type Pull, type PullFile } from './types.ts';

const PatchView = lazy(() => import('./patch-view.tsx'));

interface Props {
  readonly repo: string;
  readonly number: number;
  onChanged(): Promise<void>;
}

interface Detail {
  readonly pr: Pull;
  readonly files: readonly PullFile[];
  readonly truncated: boolean;
  readonly comments: readonly Comment[];
}

/** One pull request: what it says, what it changes, and the person's decision. */
export function PullDetail({ repo, number, onChanged }: Props) {
  const act = useAct();
  const query = useView<Detail>('dev', 'pr', { repo, number }, { topics: ['changed.dev'] });
  const diff = useView<{ diff: string }>('dev', 'diff', { repo, number }, { topics: ['changed.dev'] });
  if (!query.data)
    return query.error ? <ErrorNotice error={query.error} /> : <p className="muted">Loading…</p>;
  const { pr, files, comments, truncated } = query.data;
  const decide = async (tool: string, args: Record<string, string>, said: string) => {
    await act(tool, { repo, pr_number: number, ...args }, said);
    await query.refresh();
    await onChanged();
  };
  // Whoever looks at this commit decides on this commit: a branch that moved meanwhile is refused.
  const merge = (method: string) =>
    decide('dev_pr_merge', { method, expected_head: pr.head.sha }, `Merged into ${pr.base.ref}.`);
  return (
    <section className="stack" aria-labelledby="pull-title">
      <div className="card compact">
        <div className="titled">
          <PullState pull={pr} />
          <h2 id="pull-title">
            #{pr.number} <Foreign text={pr.title} />
          </h2>
        </div>
        <ByLine author={pr.author} at={pr.created_at} />
        <p className="small">
          <code>
            <Foreign text={pr.head.ref} />
          </code>{' '}
          into{' '}
          <code>
            <Foreign text={pr.base.ref} />
          </code>
          , at <code>{pr.head.sha.slice(0, 12)}</code>
        </p>
        {pr.body && <Foreign block text={pr.body} />}
        {pr.state === 'open' && isLocal(pr) && (
          <div className="row">
            <Button tone="primary" disabled={pr.mergeable === false} onClick={() => void merge('merge')}>
              Merge
            </Button>
            <Button disabled={pr.mergeable === false} onClick={() => void merge('squash')}>
              Squash and merge
            </Button>
            <Button tone="danger" onClick={() => void decide('dev_pr_close', {}, 'Closed.')}>
              Close
            </Button>
            {pr.mergeable === false && (
              <span className="small">
                It conflicts with <Foreign text={pr.base.ref} />.
              </span>
            )}
          </div>
        )}
        {!isLocal(pr) && <p className="small muted">It lives on GitHub; merge or close it there.</p>}
      </div>
      {truncated && <Notice tone="warn">The forge gave only a part of the changed files.</Notice>}
      <ErrorNotice error={diff.error} />
      {diff.loading && <p className="muted">Loading…</p>}
      {diff.data && (
        <Suspense fallback={<p className="muted">Loading…</p>}>
          <PatchView diff={diff.data.diff} files={files} />
        </Suspense>
      )}
      {comments.length > 0 && (
        <section className="card" aria-label="Comments">
          <h3>Comments</h3>
          {comments.map((comment) => (
            <div key={comment.id}>
              <ByLine author={comment.author} at={comment.created_at} />
              <Foreign block text={comment.body} />
            </div>
          ))}
        </section>
      )}
    </section>
  );
}
