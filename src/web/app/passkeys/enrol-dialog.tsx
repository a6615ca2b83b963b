import { type FormEvent, useState } from 'react';
import type { Passkey, ToSign } from '../../routes/shapes.ts';
import { type ApiError, post, toApiError } from '../../ui/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, CopyBox, Field } from '../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { create, sign } from '../../ui/passkey.ts';
import { readable } from './keys.ts';

interface Props {
  readonly rpId: string;
  readonly person: string;
  /** Nothing vouches for the first key; every later one is countersigned. */
  readonly first: boolean;
  onClose(): void;
}

export function EnrolDialog({ rpId, person, first, onClose }: Props) {
  const [name, setName] = useState('');
  const [whose, setWhose] = useState(person);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const [enrolled, setEnrolled] = useState<Passkey>();
  /** The new key has signed; one that is enrolled must follow, as often as it takes. */
  const [awaited, setAwaited] = useState<ToSign>();

  const attempt = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await (awaited ? countersign(awaited) : enrol());
    } catch (fault) {
      setProblem(toApiError(fault));
    }
    setBusy(false);
  };
  const enrol = async (): Promise<void> => {
    const made = await create(rpId, whose);
    // The new key signs its own enrolment.
    const opened = await post('/passkeys/enrol', { name, person: whose, ...made });
    const { credential: _, ...possession } = await sign(opened);
    const finished = await post('/passkeys/enrol/finish', possession);
    setEnrolled(finished.enrolled);
    setAwaited(finished.countersign);
  };
  const countersign = async (request: ToSign): Promise<void> => {
    const signed = await sign(request);
    setEnrolled((await post('/passkeys/enrol/countersign', signed)).enrolled);
  };
  if (enrolled)
    return (
      <Dialog
        title="Passkey enrolled"
        onClose={onClose}
        footer={
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <p>Write this fingerprint down where no agent can change it:</p>
        <CopyBox text={readable(enrolled.fingerprint)} label="the fingerprint" />
        {first ? (
          <p>
            Then add a second passkey in case you lose this one, and choose on this page which approvals must
            be signed.
          </p>
        ) : null}
      </Dialog>
    );
  return (
    <Dialog
      title="Add a passkey"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form="enrol-form" disabled={busy || !name.trim()}>
            {busy ? 'Waiting…' : awaited ? 'Countersign' : 'Create'}
          </Button>
        </>
      }
    >
      <ErrorNotice error={problem} />
      {busy ? <Notice>Follow your browser's instructions.</Notice> : null}
      {awaited ? (
        <p>The new passkey is ready. Now countersign it with a passkey that is already enrolled.</p>
      ) : first ? null : (
        <p>Then a passkey that is already enrolled countersigns the new one.</p>
      )}
      <form id="enrol-form" className="stack" onSubmit={(event) => void attempt(event)}>
        <Field label="Name of the passkey" hint="Such as “Laptop” or “Blue security key”.">
          {(attributes) => (
            <input
              {...attributes}
              value={name}
              maxLength={80}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Person" hint="Whose key it is. Rules count people, not keys.">
          {(attributes) => (
            <input
              {...attributes}
              value={whose}
              maxLength={80}
              onChange={(event) => setWhose(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
