import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { ArgumentPredicate, StandingDraft } from '../../../contract/standing.ts';
import type { Item, StandingDraftData, StandingTestData } from '../../../kernel/views/shapes.ts';
import { type ApiError, post, toApiError, useQuery } from '../../ui/api.ts';
import { Skeleton, shortName } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Field } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { StandingSentence } from '../../ui/untrusted-text.tsx';
import { toApproved, useDecisions } from './decisions.tsx';
import { PredicateField } from './predicate-field.tsx';
import { StandingTestView } from './standing-test.tsx';

const DAY = 86_400_000;
const TERMS = [
  { days: 1, label: 'In 24 hours' },
  { days: 7, label: 'In one week' },
  { days: 30, label: 'In 30 days' },
] as const;
/** Typing stops for so long before the draft is tested again. */
const TEST_MS = 300;

interface Props {
  readonly item: Item;
  onClose(): void;
  onDone(): void;
}

/** A decision for calls that have not come yet: what it covers as a sentence, tested on past calls before it is saved. */
export function RememberDialog({ item, onClose, onDone }: Props) {
  const { data, error } = useQuery(`/standing/draft/${item.id}`);
  return (
    <Dialog
      wide
      deliberate
      title="Approve, and remember for next time"
      onClose={onClose}
      formId="remember-form"
    >
      <ErrorNotice error={error} />
      {data ? (
        <RememberForm item={item} start={data} onClose={onClose} onDone={onDone} />
      ) : error ? null : (
        <Skeleton lines={5} />
      )}
    </Dialog>
  );
}

interface FormProps extends Props {
  readonly start: StandingDraftData;
}

function RememberForm({ item, start, onClose, onDone }: FormProps) {
  const [draft, setDraft] = useState<StandingDraft>(start.draft);
  const [tested, setTested] = useState<StandingTestData>(start);
  const [days, setDays] = useState<number>(7);
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const { remembered } = useDecisions();
  const first = useRef(true);
  const form = useRef<HTMLFormElement>(null);
  // The dialog was opened before the draft was there.
  useEffect(() => form.current?.querySelector<HTMLElement>('select, input')?.focus(), []);

  // Every change is tested on past calls before anything is saved.
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const answer = await post('/standing/test', { draft });
        if (!current) return;
        setTested(answer);
        setProblem(undefined);
      } catch (fault) {
        if (current) setProblem(toApiError(fault));
      }
    }, TEST_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [draft]);

  const replace = (predicate: ArgumentPredicate): void =>
    setDraft((old) => ({
      ...old,
      predicates: old.predicates.map((one) => (one.arg === predicate.arg ? predicate : one)),
    }));
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { draft, approve: { id: item.id, version: item.version } };
      const { standing, approval, result } = await post('/standing', body);
      remembered(toApproved(item), standing.id, { id: item.id, state: approval?.state, result });
      onDone();
    } catch (fault) {
      setProblem(toApiError(fault));
      setBusy(false);
    }
  };
  return (
    <form
      ref={form}
      id="remember-form"
      className="stack remember-form"
      onSubmit={(event) => void save(event)}
    >
      <p className="sentence" aria-live="polite">
        <StandingSentence text={tested.sentence} />
      </p>
      <ErrorNotice error={problem} />
      <div className="remember">
        <fieldset className="plain-set">
          <legend>The same call means</legend>
          <p>
            Agent: {shortName(draft.agent)} <span className="meta">always part of it</span>
          </p>
          <p>
            Tool: {item.tool_title}{' '}
            <span className="meta">definition pinned; a change ends the approval</span>
          </p>
          {draft.predicates.map((predicate) => (
            <PredicateField
              key={predicate.arg}
              predicate={predicate}
              value={item.args[predicate.arg]}
              onChange={replace}
            />
          ))}
        </fieldset>
        <div className="stack remember-terms">
          <fieldset className="plain-set">
            <legend>Until</legend>
            {TERMS.map((term) => (
              <label key={term.days} className="choice">
                <input
                  type="radio"
                  name="until"
                  checked={days === term.days}
                  onChange={() => {
                    setDays(term.days);
                    const until = new Date(Date.now() + term.days * DAY - 60_000).toISOString();
                    setDraft((old) => ({ ...old, until }));
                  }}
                />
                {term.label}
              </label>
            ))}
          </fieldset>
          <Field label="At most, in all" hint="Uses; 1,000 at most.">
            {(attributes) => (
              <input
                {...attributes}
                type="number"
                min={1}
                max={1000}
                required
                value={draft.uses}
                onChange={(event) => {
                  const uses = Math.max(1, Math.min(1000, Math.round(Number(event.target.value) || 1)));
                  setDraft((old) => ({ ...old, uses }));
                }}
              />
            )}
          </Field>
          <p className="meta">
            Never remembered: destructive calls, calls that move money and calls that need a signature. They
            require approval each time.
          </p>
        </div>
      </div>
      <StandingTestView test={tested.test} agent={shortName(draft.agent)} />
      <div className="dialog-inner-foot">
        <span className="dialog-note">Answers an ask, never a deny. Runs this call immediately.</span>
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="primary" icon="check" type="submit" disabled={busy}>
          {busy ? 'Approving…' : 'Approve and remember'}
        </Button>
      </div>
    </form>
  );
}
