import { lazy, Suspense } from 'react';
import { Button } from '../../../web/ui/field.tsx';
import { ErrorNotice } from '../../../web/ui/notice.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { Checks } from './checks.tsx';
import { isLocal, useView } from './data.ts';
import { Discussion } from './discussion.tsx';
import { ByLine, PullState } from './list-parts.tsx';

const PatchFiles = lazy(async () => ({ default: (await import('../../../web/ui/patch.tsx')).PatchFiles }));

interface Props {
  readonly repo: string;
  readonly number: number;
  onChanged(): Promise<void>;
}

/** One pull request: what it says, what it changes, and the person's decision. */
export function PullDetail({ repo, number, onChanged }: Props) {
  const act = useAct();
  const query = useView('pr', { repo, number }, { topics: ['changed.dev'] });
  const diff = useView('diff', { repo, number }, { topics: ['changed.dev'] });
  if (!query.data)
    return query.error ? <ErrorNotice error={query.error} /> : <p className="muted">Loading…</p>;
  const { pr, comments } = query.data;
  const decide = async (tool: string, args: Record<string, string>, said: string) => {
    await act(tool, { repo, pr_number: number, ...args }, said);
    await query.refresh();
    await onChanged();
  };
  // A person who looks at this commit decides on this commit: a branch that has moved since is refused.
  const merge = (method: string) =>
    decide('dev_pr_merge', { method, expected_head: pr.head.sha }, `Merged into ${pr.base.ref}.`);
  return (
    <section className="stack" aria-labelledby="pull-title">
      <div className="card compact">
        <div className="titled">
          <PullState pull={pr} />
          <h2 id="pull-title">
            #{pr.number} <UntrustedText text={pr.title} />
          </h2>
        </div>
        <ByLine author={pr.author} at={pr.created_at} />
        <p className="small">
          <code>
            <UntrustedText text={pr.head.ref} />
          </code>{' '}
          into{' '}
          <code>
            <UntrustedText text={pr.base.ref} />
          </code>
          , at <code>{pr.head.sha.slice(0, 12)}</code>
        </p>
        {pr.body && <UntrustedText block text={pr.body} />}
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
          </div>
        )}
        {!isLocal(pr) && (
          <p className="small muted">This pull request is on GitHub; merge or close it there.</p>
        )}
      </div>
      <Checks repo={repo} pull={pr} />
      <ErrorNotice error={diff.error} />
      {diff.loading && <p className="muted">Loading…</p>}
      {diff.data && (
        <Suspense fallback={<p className="muted">Loading…</p>}>
          <PatchFiles files={diff.data.files} />
        </Suspense>
      )}
      <Discussion repo={repo} pull={pr} comments={comments} onChanged={query.refresh} />
    </section>
  );
}
