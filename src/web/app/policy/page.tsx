import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import type { Rule } from '../../../kernel/views/policy-shapes.ts';
import { useQuery } from '../../ui/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { changeOverrides } from '../../ui/overrides.ts';
import { Page, Tabs } from '../../ui/page-head.tsx';
import { PauseButton } from '../../ui/pause-button.tsx';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { Explain } from './explain.tsx';
import { Matrix } from './matrix.tsx';
import { Remembered } from './remembered.tsx';
import { Rules } from './rules.tsx';
import { Settings } from './settings.tsx';
import '../styles/activity.css';
import '../styles/agents.css';
import '../styles/policy.css';

const PARTS = ['rules', 'remembered', 'permissions', 'settings'] as const;
type Part = (typeof PARTS)[number];

/** Rules that the audit log does not know are not in force; a person starts from the configuration again. */
function Unlogged() {
  const { data, refresh } = useQuery('/policy', { topics: ['config'] });
  const describeError = useErrorToast();
  const say = useToast();
  if (data?.status.problem === undefined) return null;
  const discard = async (): Promise<void> => {
    try {
      await changeOverrides(() => ({ rules: [] }));
      say('The rules of the configuration file are active.', { tone: 'good' });
    } catch (fault) {
      describeError(fault);
    }
    await refresh();
  };
  return (
    <Notice tone="bad">
      <p>
        <strong>No change is allowed.</strong> The stored rules do not match the audit log:{' '}
        <code>countersign audit verify</code> has the details. Discard them, and the configuration file
        applies again.
      </p>
      <Button small onClick={() => void discard()}>
        Discard the stored rules
      </Button>
    </Notice>
  );
}

/** What agents may do: rules, remembered decisions, the result for each tool, mode and limits. */
export default function PolicyPage() {
  const { part: given } = useParams<{ part?: string }>();
  const part = PARTS.find((one) => one === given) ?? 'rules';
  const [, navigate] = useLocation();
  const [editing, setEditing] = useState<Rule | 'new'>();
  const [explaining, setExplaining] = useState(false);
  const standing = useQuery('/standing', { topics: ['config', 'calls'] }).data?.standing;
  const active = standing?.filter(({ state }) => state === 'active').length ?? 0;
  const show = (next: Part): void => navigate(next === 'rules' ? '/policy' : `/policy/${next}`);
  return (
    <Page
      title="Policy"
      wide
      actions={
        <>
          <PauseButton />
          <Button small className="button-minor" icon="info" onClick={() => setExplaining(true)}>
            Explain a call
          </Button>
          <Button
            small
            tone="primary"
            icon="plus"
            onClick={() => {
              setEditing('new');
              if (part !== 'rules') show('rules');
            }}
          >
            Add a rule
          </Button>
        </>
      }
    >
      <Unlogged />
      <Tabs<Part>
        label="Policy"
        current={part}
        onChange={show}
        tabs={[
          { key: 'rules', label: 'Rules' },
          { key: 'remembered', label: active > 0 ? `Remembered ${active}` : 'Remembered' },
          { key: 'permissions', label: 'Permissions' },
          { key: 'settings', label: 'Mode, template, limits' },
        ]}
      >
        {part === 'rules' ? <Rules editing={editing} onEdit={setEditing} /> : null}
        {part === 'remembered' ? <Remembered /> : null}
        {part === 'permissions' ? <Matrix /> : null}
        {part === 'settings' ? <Settings /> : null}
      </Tabs>
      {explaining ? (
        <Dialog title="Explain a call" wide onClose={() => setExplaining(false)}>
          <p className="muted">Shows what would happen to a call and why. Nothing is run or counted.</p>
          <Explain />
        </Dialog>
      ) : null}
    </Page>
  );
}
