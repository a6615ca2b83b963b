import { useEffect, useState } from 'react';
import type { SignedResult } from '../../routes/shapes.ts';
import { type ApiError, toApiError, useQuery } from '../../ui/api.ts';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { signDecisions } from '../../ui/passkey.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { ItemBody } from './body.tsx';
import { SignAs } from './sign-notice.tsx';

/** One signature covers so many decisions. */
const AT_ONCE = 25;

interface Props {
  readonly items: readonly { readonly id: number; readonly version: number }[];
  onSigned(results: readonly SignedResult[]): void;
}

/** What one signature decides, each item shown in full. */
export function SignBatch({ items, onSigned }: Props) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const [shown, setShown] = useState<readonly number[]>([]);
  const now = items.slice(0, AT_ONCE);
  const { data } = useQuery('/passkeys');
  const owners = new Set(data?.keys.map(({ person }) => person));
  const people = [...owners].sort((a, b) => Number(b === data?.person) - Number(a === data?.person));
  const act = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      onSigned(await signDecisions(now));
    } catch (fault) {
      setProblem(toApiError(fault));
    }
    setBusy(false);
  };
  return (
    <section className="stack" aria-label="To be signed">
      <Notice>
        {items.length === 1 ? 'One approval needs' : `${items.length} approvals need`} your passkey. Read each
        in full; one signature approves {now.length === 1 ? 'it' : `these ${now.length}`}.
      </Notice>
      <SignAs key={people.join()} people={people} />
      <ErrorNotice error={problem} />
      {now.map(({ id }) => (
        <WholeItem key={id} id={id} onShown={() => setShown((old) => [...old, id])} />
      ))}
      <Button
        tone="primary"
        // No one signs what is not on the screen yet.
        disabled={busy || !now.every(({ id }) => shown.includes(id))}
        onClick={() => void act()}
      >
        {busy ? 'Signing…' : `Sign and approve ${now.length}`}
      </Button>
    </section>
  );
}

function WholeItem({ id, onShown }: { readonly id: number; onShown(): void }) {
  const { data: item, error } = useQuery(`/inbox/${id}`);
  const isShown = item !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: said once, when it is there.
  useEffect(() => {
    if (isShown) onShown();
  }, [isShown]);
  if (!item) return <ErrorNotice error={error} />;
  return (
    <article className="card" aria-label={`Approval ${id} in full`}>
      <h3>
        <UntrustedText text={item.presentation.title} />
      </h3>
      <ItemBody item={item} />
    </article>
  );
}
