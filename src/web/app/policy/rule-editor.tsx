import { type FormEvent, useMemo, useState } from 'react';
import type { Rule, RuleIssue } from '../../../kernel/views/policy-shapes.ts';
import { lookup, put } from '../../../lib/lookup.ts';
import { type ApiError, toApiError } from '../../ui/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { isRecord } from '../../ui/session.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { Explain } from './explain.tsx';
import { ReplayCard, useReplay } from './replay.tsx';
import { type Draft, draftOf, ruleOf } from './rule-draft.ts';
import { RuleFields } from './rule-fields.tsx';
import { ruleSentence } from './words.ts';
import '../styles/deciding.css';

interface Props {
  readonly rule: Rule | undefined;
  onClose(): void;
  onSave(rule: Rule): Promise<void>;
}

/** Writes a rule, says it as a sentence, and shows while it is written what it would have done to past calls. */
export function RuleEditor({ rule: given, onClose, onSave }: Props) {
  const first = useMemo(() => draftOf(given), [given]);
  const [draft, setDraft] = useState(first);
  const [problem, setProblem] = useState<ApiError>();
  const rule = useMemo(() => ruleOf(draft), [draft]);
  const replay = useReplay(rule);
  const fault = problem ?? replay.error;
  const errors = fieldErrors(problem ? issuesOf(problem) : replay.issues);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await onSave(rule);
    } catch (error) {
      setProblem(toApiError(error));
    }
  };
  const rejected = replay.data?.lets_through_rejected ?? 0;
  return (
    <section className="rule-editor" aria-label="Rule editor">
      <header className="row">
        <h2>{given ? given.label || given.id : 'New rule'}</h2>
        <span className="grow" />
        {draft === first ? null : <Badge tone="warn">Unsaved change</Badge>}
      </header>
      <p className="rule-said">
        {ruleSentence(rule).map(([text, strong], index) =>
          strong ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence are their places
            <strong key={index}>
              <UntrustedText text={text} />
            </strong>
          ) : (
            text
          ),
        )}
      </p>
      <form id="rule-form" className="rule-form" onSubmit={(event) => void save(event)}>
        {fault && Object.keys(errors).length === 0 ? (
          <div className="rule-wide">
            <ErrorNotice error={fault} />
          </div>
        ) : null}
        <RuleFields
          draft={draft}
          errors={errors}
          isNew={given === undefined}
          onChange={(part: Partial<Draft>) => {
            setProblem(undefined);
            setDraft((old) => ({ ...old, ...part }));
          }}
        />
      </form>
      <ReplayCard replay={replay} />
      <details className="card">
        <summary>Try a call against this rule</summary>
        <Explain rule={rule} />
      </details>
      <footer className="rule-bar">
        <Button tone="primary" type="submit" form="rule-form">
          Save and activate
        </Button>
        <Button onClick={onClose}>Discard</Button>
        <span className="grow" />
        {rejected > 0 ? (
          <span className="tone-warn" role="alert">
            <Icon name="warn" /> Would have allowed {rejected === 1 ? '1 call' : `${rejected} calls`} you
            rejected
          </span>
        ) : null}
      </footer>
    </section>
  );
}

const issuesOf = ({ detail }: ApiError): readonly RuleIssue[] =>
  isRecord(detail) && Array.isArray(detail.issues) ? (detail.issues as unknown as readonly RuleIssue[]) : [];

/** What is wrong with each field, as the server says it: `rules.0.tools.1` and `tools` are the field `tools`. */
function fieldErrors(issues: readonly RuleIssue[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { field, message } of issues) {
    const [name = ''] = field.replace(/^rules\.\d+\./u, '').split('.');
    // The form writes both ends of a schedule from one part of it.
    const shown = name === 'schedule' ? 'timezone' : name;
    put(found, shown, lookup(found, shown) ? `${lookup(found, shown)}; ${message}` : message);
  }
  return found;
}
