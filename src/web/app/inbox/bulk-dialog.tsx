import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Foreign } from '../components/foreign.tsx';
import { Notice } from '../components/notice.tsx';
import { ApiError, post } from '../lib/api.ts';
import type { Brief } from './types.ts';

/** So many per request that the person sees it move. */
const AT_ONCE = 10;

interface Result {
  readonly id: number;
  readonly state?: string;
  readonly error?: string;
  readonly result?: { readonly message?: string } | null;
}

/** Approves several items after showing what they are, and tells of each what came of it. */
export function BulkDialog({ items, onClose }: { readonly items: readonly Brief[]; onClose(): void }) {
  const [results, setResults] = useState<readonly Result[]>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const dangerous = items.filter(({ effect, risks }) => effect === 'destroy' || risks > 0).length;

  const approve = async (): Promise<void> => {
    setBusy(true);
    const all: Result[] = [];
    try {
      for (let from = 0; from < items.length; from += AT_ONCE) {
        const part = items.slice(from, from + AT_ONCE);
        const body = { ids: part.map(({ id }) => id), versions: part.map(({ version }) => version) };
        all.push(...(await post<{ results: Result[] }>('/inbox/approve', body)).results);
        setResults([...all]);
      }
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };

  const failed =
    results?.filter(
      ({ state, error }) => error !== undefined || (state !== 'done' && state !== 'approved'),
    ) ?? [];
  return (
    <Dialog
      wide
      title={
        results
          ? `Approved ${results.length - failed.length} of ${items.length}`
          : `Approve ${items.length} items?`
      }
      onClose={onClose}
      footer={
        results && !busy ? (
          <Button tone="primary" onClick={onClose}>
            Close
          </Button>
        ) : (
          <>
            <Button onClick={onClose} disabled={busy}>
              Cancel
            </Button>
            <Button tone="primary" onClick={() => void approve()} disabled={busy}>
              {busy ? `Approving… ${results?.length ?? 0} of ${items.length}` : `Approve ${items.length}`}
            </Button>
          </>
        )
      }
    >
      {problem ? <Notice tone="bad">{problem}</Notice> : null}
      {dangerous > 0 && !results ? (
        <Notice tone="warn">
          {dangerous} of these {dangerous === 1 ? 'has' : 'have'} a risk note or destroy something.
        </Notice>
      ) : null}
      <ul className="bulk-list">
        {items.map((item) => {
          const result = results?.find(({ id }) => id === item.id);
          return (
            <li key={item.id}>
              <Foreign text={item.summary} />
              {result ? (
                <span className="muted"> · {result.error ?? result.result?.message ?? result.state}</span>
              ) : null}
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
