import { useCallback, useEffect, useState } from 'react';
import type { ProofFile } from '../../../contract/ports.ts';
import type { CallDetail } from '../../../kernel/views/shapes.ts';
import { api } from '../../ui/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { type Checked, checkProof } from '../../ui/proof.ts';
import { Prose } from '../../ui/prose.tsx';
import { useErrorToast, useToast } from '../../ui/toast.tsx';
import { JsonView } from '../../ui/untrusted-text.tsx';

const MARKS = { true: 'checked', false: 'bad', unknown: 'info' } as const;
const NO_CRYPTO: Checked = {
  ok: false,
  steps: [
    {
      text: 'Browsers verify signatures only over HTTPS or on this machine. Use `countersign audit check`',
      ok: 'unknown',
    },
  ],
};

interface Props {
  readonly call: CallDetail;
  readonly proof: ProofFile;
  onChecked(checked: Checked): void;
}

/** The proof that the entries of this call are in the signed log, checked here rather than believed. */
export function ProofCard({ call, proof, onChecked }: Props) {
  const [checked, setChecked] = useState<Checked & { readonly ms: number }>();
  const [open, setOpen] = useState(false);
  const describeError = useErrorToast();
  const say = useToast();
  const { evidence_hash: evidenceHash, differences } = call;
  const verify = useCallback(async (): Promise<void> => {
    const { keys } = await api('/log-keys');
    const start = performance.now();
    const found = crypto.subtle ? await checkProof(proof, { keys, evidenceHash, differences }) : NO_CRYPTO;
    setChecked({ ...found, ms: performance.now() - start });
    onChecked(found);
  }, [proof, evidenceHash, differences, onChecked]);
  useEffect(() => {
    verify().catch(describeError);
  }, [verify, describeError]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(evidenceHash ?? '');
    say('Copied the evidence hash.');
  };
  return (
    <section className="card side-card" aria-label="Evidence">
      <header className="side-head">
        <Icon name={checked && !checked.ok ? 'bad' : 'checked'} />
        <h2>Proof</h2>
        <span className="grow" />
        {checked ? (
          <Badge tone={checked.ok ? 'good' : 'bad'}>
            <Icon name={checked.ok ? 'check' : 'cross'} />
            {checked.ok ? 'Verified here' : 'Not verified'}
          </Badge>
        ) : (
          <Badge>Verifying…</Badge>
        )}
      </header>
      <div role="status" className="side-body">
        <ul className="verify-steps">
          {checked?.steps.map(({ text, ok, detail }) => (
            <li key={text} title={detail} className={ok === false ? 'tone-bad' : 'verify-ok'}>
              <Icon name={MARKS[`${ok}`]} />{' '}
              <span>
                <Prose text={text} />
              </span>
            </li>
          ))}
        </ul>
        {evidenceHash ? (
          <p className="proof-hash">
            <code title={evidenceHash}>{shortHash(evidenceHash)}</code>
            <button
              type="button"
              className="icon-button no-print"
              aria-label="Copy the evidence hash"
              onClick={() => copy().catch(describeError)}
            >
              <Icon name="copy" />
            </button>
          </p>
        ) : null}
        <p className="meta">
          {proof.entries.length === 1 ? 'One entry' : `${proof.entries.length} entries`} in a log of{' '}
          {proof.size.toLocaleString('en')}.
          {checked ? ` Checked in this browser in ${Math.max(1, Math.round(checked.ms))} ms.` : ''}
        </p>
        <div className="row no-print">
          <Button small onClick={() => verify().catch(describeError)}>
            Verify
          </Button>
          <button
            type="button"
            className="link-button small"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? 'Hide the proof' : 'Show the proof'}
          </button>
        </div>
        {open ? <JsonView value={proof} label="Proof" /> : null}
      </div>
    </section>
  );
}

const shortHash = (hash: string): string =>
  `${hash.slice(0, 4)} ${hash.slice(4, 8)} ${hash.slice(8, 12)} ${hash.slice(12, 16)} … ${hash.slice(-4)}`;
