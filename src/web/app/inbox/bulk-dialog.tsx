import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { Brief, DecisionResult } from '../../../kernel/views/shapes.ts';
import type { SignedResult } from '../../routes/shapes.ts';
import { type ApiError, api, post, toApiError } from '../../ui/api.ts';
import { Skeleton } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { useSession } from '../../ui/session.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { BulkItems } from './bulk-items.tsx';
import { TOGETHER, useDecisions } from './decisions.tsx';
import type { InboxView } from './filter.ts';
import { isGrave } from './marks.tsx';
import { ReasonField } from './reject-dialog.tsx';
import { SignBatch } from './sign-batch.tsx';

/** So many per request that the person sees it move. */
const AT_ONCE = 10;
const PAGE = 200;
/** More than anyone reads in one sitting. */
const MOST = 500;

export type Verdict = 'approve' | 'reject';
const HELD = 'held';
/** The server holds live calls that are approved together, so they are sent together. */
const isLive = ({ kind, environment, signers }: Brief): boolean =>
  kind === 'call' && environment === 'live' && signers === 0;

const WORDS = {
  approve: { act: 'Approve', doing: 'Approving', done: 'Approved', ends: ['done', 'approved', HELD] },
  reject: { act: 'Reject', doing: 'Rejecting', done: 'Rejected', ends: ['rejected'] },
} as const;

/** Everything that a filter matches, where not all of it is loaded. */
interface Matching {
  readonly view: InboxView;
  readonly total: number;
  readonly until: number | undefined;
}

interface Props {
  readonly items: readonly Brief[];
  readonly matching: Matching | undefined;
  readonly verdict: Verdict;
  onClose(): void;
}

/** Decides on several items after showing each in full, and reports the result of each. */
export function BulkDialog({ items, matching, ...rest }: Props) {
  const [loaded, setLoaded] = useState<readonly Brief[]>();
  const [problem, setProblem] = useState<ApiError>();
  useEffect(() => {
    if (!matching || matching.total > MOST) return;
    loadAll(matching).then(setLoaded, (fault: unknown) => setProblem(toApiError(fault)));
  }, [matching]);
  const all = matching ? loaded : items;
  if (all) return <BulkReview items={all} {...rest} />;
  return (
    <Dialog title="Approve all" onClose={rest.onClose}>
      <ErrorNotice error={problem} />
      {matching && matching.total > MOST ? (
        <Notice tone="warn">
          {matching.total.toLocaleString('en')} approvals are more than one review can show. Filter them to{' '}
          {MOST} or fewer, then approve.
        </Notice>
      ) : problem ? null : (
        <Skeleton />
      )}
    </Dialog>
  );
}

async function loadAll({ view, total, until }: Matching): Promise<readonly Brief[]> {
  const found: Brief[] = [];
  const upTo = until === undefined ? '' : `&until=${until}`;
  for (let from = 0; from < total; from += PAGE) {
    const page = await api(`/inbox?brief=1&${view.query}&limit=${PAGE}&offset=${from}${upTo}`);
    found.push(...page.items);
  }
  return found;
}

interface ReviewProps {
  readonly items: readonly Brief[];
  readonly verdict: Verdict;
  onClose(): void;
}

function BulkReview({ items: all, verdict, onClose }: ReviewProps) {
  const [results, setResults] = useState<readonly DecisionResult[]>();
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const [excluded, setExcluded] = useState<ReadonlySet<number>>(new Set());
  const stopped = useRef(false);
  const { approveTogether, note } = useDecisions();
  const { hold_seconds } = useSession().session;
  const held = useRef<readonly Brief[]>([]);
  const { act, doing, done, ends } = WORDS[verdict];
  // Destructive calls and calls that move money are approved one at a time.
  const leftOut = verdict === 'approve' ? all.filter(isGrave) : [];
  const items = all.filter((item) => !leftOut.includes(item));
  const chosen = items.filter(({ id }) => !excluded.has(id));

  const decide = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy || results || chosen.length === 0) return;
    setBusy(true);
    const why = reason.trim() ? { reason: reason.trim() } : {};
    const made: DecisionResult[] = [];
    const waiting = verdict === 'approve' && hold_seconds > 0 ? chosen.filter(isLive) : [];
    const now = chosen.filter((item) => !waiting.includes(item));
    try {
      for (let from = 0; from < now.length && !stopped.current; from += AT_ONCE) {
        const part = now.slice(from, from + AT_ONCE);
        const ids = part.map(({ id }) => id);
        const body =
          verdict === 'approve' ? { ids, versions: part.map(({ version }) => version) } : { ids, ...why };
        const { results } = await post(`/inbox/${verdict}`, body);
        made.push(...results.map((one) => (one.held ? { ...one, state: HELD } : one)));
        setResults([...made]);
      }
      if (waiting.length > 0 && !stopped.current) {
        held.current = waiting;
        if (made.every(isDone)) return close();
        setResults([...made, ...waiting.map(({ id }) => ({ id, state: HELD }))]);
      }
    } catch (error) {
      setProblem(toApiError(error));
    } finally {
      setBusy(false);
      if (made.some(isDone)) note(TOGETHER);
    }
  };

  const isDone = ({ state }: DecisionResult): boolean => ends.some((end) => end === state);
  /** The hold begins where its Undo can be seen. */
  const close = (): void => {
    const items = held.current.map(({ id, version, summary }) => ({
      id,
      version,
      title: summary,
      done: summary,
    }));
    held.current = [];
    void approveTogether(items);
    onClose();
  };

  /** Closing half-way ends it after the ones on their way; their results are still reported. */
  const leave = (): void => {
    if (busy) stopped.current = true;
    else close();
  };
  const succeeded = results?.filter(isDone).length ?? 0;
  const unsigned = (results ?? []).filter(({ code }) => code === 'signature_required').map(({ id }) => id);
  const signable = items.filter(({ id }) => unsigned.includes(id));
  const signed = (made: readonly SignedResult[]): void =>
    setResults((old = []) => old.map((one) => made.find(({ id }) => id === one.id) ?? one));
  const count =
    chosen.length === all.length ? `${all.length} items` : `${chosen.length} of the ${all.length} selected`;
  return (
    <Dialog
      wide
      title={results ? `${done} ${succeeded} of ${chosen.length}` : `${act} ${count}`}
      formId="bulk-form"
      onClose={leave}
      footer={
        results && !busy ? (
          <Button tone="primary" onClick={close}>
            Close
          </Button>
        ) : (
          <>
            <span className="dialog-note">
              Each is decided and logged separately. Approvals that have changed are skipped.
            </span>
            <Button onClick={leave}>{busy ? 'Stop' : 'Cancel'}</Button>
            <Button
              tone={verdict === 'approve' ? 'primary' : 'danger'}
              type="submit"
              form="bulk-form"
              disabled={busy || chosen.length === 0}
            >
              {busy ? `${doing}… ${results?.length ?? 0} of ${chosen.length}` : `${act} ${chosen.length}`}
            </Button>
          </>
        )
      }
    >
      <ErrorNotice error={problem} />
      {leftOut.length > 0 && !results ? (
        <Notice tone="warn">
          <strong>
            {leftOut.length === 1 ? '1 approval is' : `${leftOut.length} approvals are`} left out:
          </strong>{' '}
          {leftOut.map(({ id, summary }, index) => (
            <span key={id}>
              {index > 0 ? ', ' : ''}“<UntrustedText text={summary} />”
            </span>
          ))}
          . Destructive calls and calls that move money are approved one at a time and stay in the inbox.
        </Notice>
      ) : null}
      <form id="bulk-form" className="stack" onSubmit={(event) => void decide(event)}>
        {verdict === 'reject' && !results ? <ReasonField value={reason} onChange={setReason} /> : null}
      </form>
      {signable.length > 0 && !busy ? <SignBatch items={signable} onSigned={signed} /> : null}
      <BulkItems
        items={items}
        results={results}
        excluded={excluded}
        locked={busy || results !== undefined}
        onToggle={(id) =>
          setExcluded((old) => {
            const next = new Set(old);
            if (!next.delete(id)) next.add(id);
            return next;
          })
        }
      />
    </Dialog>
  );
}
