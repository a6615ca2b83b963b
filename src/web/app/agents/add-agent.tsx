import { type FormEvent, useState } from 'react';
import type { ReplyAt } from '../../routes/match.ts';
import { type ApiError, post, toApiError } from '../../ui/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, CopyBox, Field } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { overHttp, Snippets } from '../../ui/snippets.tsx';

/** Gives an agent a name of its own, and shows its token once, with what to paste into each client. */
export function AddAgent({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [added, setAdded] = useState<ReplyAt<'POST', '/agents'>>();
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      setAdded(await post('/agents', { name: name.trim() }));
    } catch (error) {
      setProblem(toApiError(error));
    }
    setBusy(false);
  };
  return (
    <Dialog
      title={added ? `Connect ${name}` : 'Create an agent'}
      wide={added !== undefined}
      onClose={onClose}
      footer={
        added ? (
          <Button tone="primary" onClick={onClose}>
            I copied the token
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button tone="primary" type="submit" form="add-agent" disabled={busy}>
              Create
            </Button>
          </>
        )
      }
    >
      {added ? (
        <>
          <Notice tone="warn">
            Copy the token now; it is not shown again. Countersign stores only its hash.
          </Notice>
          <CopyBox text={added.token} label="the token" />
          <h3>Or paste it with the configuration of a client</h3>
          <Snippets snippets={[...added.snippets, overHttp(added.token)]} />
        </>
      ) : (
        <form id="add-agent" className="stack" onSubmit={(event) => void add(event)}>
          <p>
            A name of its own lets rules, history and standing approvals refer to this agent alone. All
            clients without a token share the name <code>local</code>.
          </p>
          <Field
            label="Name"
            hint="Short and without spaces, for example front-desk."
            error={problem?.message}
          >
            {(attributes) => (
              <input
                {...attributes}
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
        </form>
      )}
    </Dialog>
  );
}
