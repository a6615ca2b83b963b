import { useState } from 'react';
import type { Item } from '../../../kernel/views/shapes.ts';
import { ApiError, post } from '../../ui/api.ts';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { textAt } from '../../ui/session.ts';
import { useErrorToast, useToast } from '../../ui/toast.tsx';

interface Props {
  readonly approval: number;
  readonly undo: NonNullable<Item['undo']>;
  onDone(): void;
}

/** What takes a done call back; pressing it is a call of its own, under the same policy. */
export function UndoCard({ approval, undo, onDone }: Props) {
  const [busy, setBusy] = useState(false);
  const say = useToast();
  const describeError = useErrorToast();
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      const { undone, outcome } = await post(`/inbox/${approval}/undo`);
      if (undone) say('Undone.', { tone: 'good' });
      else describeError(new ApiError(0, { error: textAt(outcome, 'message') ?? 'It was not undone.' }));
    } catch (error) {
      describeError(error);
    }
    setBusy(false);
    onDone();
  };
  return (
    <section className="card side-card no-print" aria-label="Undo">
      <header className="side-head">
        <Icon name="undo" />
        <h2>Undo</h2>
      </header>
      <div className="side-body">
        {undo.undone ? (
          <p>This was undone.</p>
        ) : (
          <>
            <p>
              {undo.title}
              {undo.calls > 1 ? `, in ${undo.calls} calls` : ''}.
            </p>
            <div>
              <Button small tone="danger" icon="undo" disabled={busy} onClick={() => void run()}>
                Undo
              </Button>
            </div>
          </>
        )}
      </div>
    </section>
  );
}
