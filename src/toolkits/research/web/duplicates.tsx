import { useState } from 'react';
import { Button } from '../../../web/ui/field.tsx';
import { useAct } from '../../../web/ui/page-data.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';

interface Candidate {
  readonly code_a_id: number;
  readonly code_a_name: string;
  readonly code_b_id: number;
  readonly code_b_name: string;
  readonly similarity: number;
  readonly rationale: string;
  readonly code_a_segments: number;
  readonly code_b_segments: number;
}

/** Codes that may mean the same, and one press to make them one. */
export function Duplicates({ onMerged }: { onMerged(): Promise<void> }) {
  const act = useAct();
  const [threshold, setThreshold] = useState(70);
  const [found, setFound] = useState<readonly Candidate[]>();
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    const done = await act('detect_duplicate_codes', { threshold: threshold / 100 });
    setBusy(false);
    if (done.ok) setFound((done.data as unknown as { candidates: readonly Candidate[] }).candidates);
  };
  const merge = async (from: number, into: number) => {
    const args = { source_code_id: from, target_code_id: into };
    const done = await act('merge_codes', args, 'Merged. You can undo this in History.');
    if (!done.ok) return;
    await onMerged();
    await look();
  };
  return (
    <section className="card" aria-labelledby="duplicates">
      <h2 id="duplicates">Possible duplicate codes</h2>
      <div className="row">
        <label className="row nowrap small">
          <span className="alike">At least {threshold} % alike</span>
          <input
            type="range"
            min={30}
            max={95}
            step={5}
            value={threshold}
            onChange={(event) => setThreshold(Number(event.target.value))}
          />
        </label>
        <Button small disabled={busy} onClick={() => void look()}>
          {busy ? 'Looking…' : 'Find duplicates'}
        </Button>
      </div>
      {found?.length === 0 && (
        <p className="muted">No codes are that similar. Lower the threshold to see more.</p>
      )}
      <ul className="plain-list stack">
        {found?.map((pair) => (
          <li key={`${pair.code_a_id}-${pair.code_b_id}`} className="stack tight">
            <p>
              <strong>
                <UntrustedText text={pair.code_a_name} />
              </strong>{' '}
              ({pair.code_a_segments}) and{' '}
              <strong>
                <UntrustedText text={pair.code_b_name} />
              </strong>{' '}
              ({pair.code_b_segments}): {pair.similarity} % alike
            </p>
            <UntrustedText block text={pair.rationale} />
            <div className="row">
              <Button small onClick={() => void merge(pair.code_a_id, pair.code_b_id)}>
                <span>
                  Merge into <UntrustedText text={pair.code_b_name} />
                </span>
              </Button>
              <Button small onClick={() => void merge(pair.code_b_id, pair.code_a_id)}>
                <span>
                  Merge into <UntrustedText text={pair.code_a_name} />
                </span>
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
