import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { JsonView } from '../components/json-view.tsx';
import { Notice } from '../components/notice.tsx';
import { useFaultToast } from '../components/toast.tsx';
import { api } from '../lib/api.ts';
import { type Checked, checkProof, type Proof } from '../lib/proof.ts';

const MARKS = { true: '✓', false: '✗', unknown: '?' } as const;

/** The proof that this call's entries are in the signed log, checked here rather than believed. */
export function Verify({
  proof,
  evidenceHash,
}: {
  readonly proof: Proof;
  readonly evidenceHash: string | null;
}) {
  const [checked, setChecked] = useState<Checked>();
  const [open, setOpen] = useState(false);
  const sayFault = useFaultToast();
  const verify = async (): Promise<void> => {
    const { keys } = await api<{ keys: readonly string[] }>('/log-keys');
    setChecked(
      crypto.subtle
        ? await checkProof(proof, { keys, evidenceHash })
        : {
            ok: false,
            steps: [
              {
                text: 'Browsers check signatures only on https or on this machine; use `countersign audit check`',
                ok: 'unknown',
              },
            ],
          },
    );
  };
  return (
    <section className="card" aria-label="Evidence">
      <div className="row">
        <h2>Evidence</h2>
        <Button small tone="primary" onClick={() => verify().catch(sayFault)}>
          Verify
        </Button>
        <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide the proof' : 'Show the proof'}
        </button>
      </div>
      <p className="muted small">
        {proof.entries.length === 1 ? 'One entry' : `${proof.entries.length} entries`} in a log of{' '}
        {proof.size}
        {evidenceHash ? '; the hash of the last one is the evidence hash of the call.' : '.'}
      </p>
      <div role="status">
        {checked ? (
          <Notice tone={checked.ok ? 'good' : 'bad'}>
            <div className="stack">
              <strong>{checked.ok ? 'Verified in this page' : 'Not verified'}</strong>
              <ul className="verify-steps">
                {checked.steps.map(({ text, ok }) => (
                  <li key={text}>
                    <span aria-hidden="true">{MARKS[`${ok}`]}</span> {text}
                  </li>
                ))}
              </ul>
            </div>
          </Notice>
        ) : null}
      </div>
      {open ? <JsonView value={proof} label="Proof" /> : null}
    </section>
  );
}
