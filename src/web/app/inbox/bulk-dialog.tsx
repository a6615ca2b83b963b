import { type FormEvent, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Foreign } from '../components/foreign.tsx';
import { ErrorNotice, Notice } from '../components/notice.tsx';
import { type ApiError, post, toApiError } from '../lib/api.ts';
import { ReasonField } from './reject-dialog.tsx';
import type { Brief } from './types.ts';

/** So many per request that the person sees it move. */
const AT_ONCE = 10;

interface Result {
  readonly id: number;
  readonly state?: string;
  readonly error?: string;
  readonly hint?: string | null;
  readonly result?: { readonly message?: string; readonly hint?: string } | null;
}

export type Verdict = 'approve' | 'reject';
const WORDS = {
  approve: { act: 'Approve', doing: 'Approving', done: 'Approved', ends: ['done', 'approved'] },
  reject: { act: 'Reject', doing: 'Rejecting', done: 'Rejected', ends: ['rejected'] },
} as const;

interface Props {
  readonly items: readonly Brief[];
  readonly verdict: Verdict;
  onClose(): void;
}

/** Decides on several items after showing what they are, and tells of each what came of it. */
export function BulkDialog({ items, verdict, onClose }: Props) {
  const [results, setResults] = useState<readonly Result[]>();
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const stopped = useRef(false);
  const { act, doing, done, ends } = WORDS[verdict];
  const dangerous = items.filter(({ effect, risks }) => effect === 'destroy' || risks > 0).length;

  const decide = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const why = reason.trim() ? { reason: reason.trim() } : {};
    const all: Result[] = [];
    try {
      for (let from = 0; from < items.length && !stopped.current; from += AT_ONCE) {
        const part = items.slice(from, from + AT_ONCE);
        const ids = part.map(({ id }) => id);
        const body =
          verdict === 'approve' ? { ids, versions: part.map(({ version }) => version) } : { ids, ...why };
        all.push(...(await post<{ results: Result[] }>(`/inbox/${verdict}`, body)).results);
        setResults([...all]);
      }
    } catch (error) {
      setProblem(toApiError(error));
    } finally {
      setBusy(false);
    }
  };

  /** Closing half-way ends it after the ones on their way; what came of those is still told. */
  const leave = (): void => {
    if (busy) stopped.current = true;
    else onClose();
  };
  const succeeded = results?.filter(({ state }) => ends.some((end) => end === state)).length ?? 0;
  return (
    <Dialog
      wide
      title={results ? `${done} ${succeeded} of ${items.length}` : `${act} ${items.length} items?`}
      onClose={leave}
      footer={
        results && !busy ? (
          <Button tone="primary" onClick={onClose}>
            Close
          </Button>
        ) : (
          <>
            <Button onClick={leave}>{busy ? 'Stop' : 'Cancel'}</Button>
            <Button
              tone={verdict === 'approve' ? 'primary' : 'danger'}
              type="submit"
              form="bulk-form"
              disabled={busy}
            >
              {busy ? `${doing}… ${results?.length ?? 0} of ${items.length}` : `${act} ${items.length}`}
            </Button>
          </>
        )
      }
    >
      <ErrorNotice error={problem} />
      {verdict === 'approve' && dangerous > 0 && !results ? (
        <Notice tone="warn">
          {dangerous} of these {dangerous === 1 ? 'has' : 'have'} a risk note or destroy something.
        </Notice>
      ) : null}
      <form id="bulk-form" className="stack" onSubmit={(event) => void decide(event)}>
        {verdict === 'reject' && !results ? <ReasonField value={reason} onChange={setReason} /> : null}
      </form>
      <ul className="bulk-list">
        {items.map((item) => {
          const result = results?.find(({ id }) => id === item.id);
          return (
            <li key={item.id}>
              <Foreign text={item.summary} />
              {result ? (
                <span className="muted">
                  {' '}
                  · <Foreign text={result.error ?? result.result?.message ?? result.state ?? ''} />{' '}
                  {result.hint ?? result.result?.hint}
                </span>
              ) : null}
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
