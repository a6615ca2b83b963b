import { type FormEvent, useMemo, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { type ApiError, toApiError } from '../lib/api.ts';
import { draftOf, ruleOf } from './rule-draft.ts';
import { RuleFields } from './rule-fields.tsx';
import { RulePreview } from './rule-preview.tsx';
import type { Rule } from './types.ts';

interface Props {
  readonly rule: Rule | undefined;
  onClose(): void;
  onSave(rule: Rule): Promise<void>;
}

/** Writes a rule, and shows while it is written what it would have done to the last hundred calls. */
export function RuleDialog({ rule: given, onClose, onSave }: Props) {
  const [draft, setDraft] = useState(() => draftOf(given));
  const [problem, setProblem] = useState<ApiError>();
  const rule = useMemo(() => ruleOf(draft), [draft]);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await onSave(rule);
    } catch (error) {
      setProblem(toApiError(error));
    }
  };
  return (
    <Dialog
      wide
      title={given ? `Edit ${given.id}` : 'Add a rule'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="rule-form">
            Save and put in force
          </Button>
        </>
      }
    >
      <div className="rule-preview">
        <RulePreview rule={rule} />
      </div>
      <form id="rule-form" className="rule-form" onSubmit={(event) => void save(event)}>
        {problem ? (
          <div className="rule-wide">
            <ErrorNotice error={problem} />
          </div>
        ) : null}
        <RuleFields
          draft={draft}
          isNew={given === undefined}
          onChange={(part) => setDraft((old) => ({ ...old, ...part }))}
        />
      </form>
    </Dialog>
  );
}
