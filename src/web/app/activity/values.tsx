import { useState } from 'react';
import type { CallDetail } from '../../../kernel/views/shapes.ts';
import { FieldTree } from '../../ui/field-tree.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ResultView } from '../../ui/result-view.tsx';
import { isRecord } from '../../ui/session.ts';
import { JsonView } from '../../ui/untrusted-text.tsx';

/** What the call was given, as a person reads it or exactly. */
export function Arguments({ call }: { readonly call: CallDetail }) {
  const [exact, setExact] = useState(false);
  return (
    <section className="card side-card" aria-label="Arguments">
      <header className="side-head">
        <Icon name="braces" />
        <h2>Arguments</h2>
        <span className="grow" />
        <div className="segments no-print">
          {[false, true].map((isExact) => (
            <button
              key={String(isExact)}
              type="button"
              className="segment"
              aria-pressed={exact === isExact}
              onClick={() => setExact(isExact)}
            >
              {isExact ? 'JSON' : 'Tree'}
            </button>
          ))}
        </div>
      </header>
      {call.args === null ? (
        <p className="side-body muted">
          Arguments are no longer stored{call.proof ? '; the audit entry keeps their hash' : ''}.
        </p>
      ) : exact ? (
        <div className="side-body">
          <JsonView value={call.args} label="Arguments as JSON" />
        </div>
      ) : call.fields.length === 0 ? (
        <p className="side-body muted">No arguments.</p>
      ) : (
        <FieldTree rows={call.fields} />
      )}
    </section>
  );
}

/** The result of the call: its data, or its error. */
export function Result({ call }: { readonly call: CallDetail }) {
  const { result } = call;
  const value = isRecord(result) && result.data !== undefined ? result.data : result;
  if (result !== null) return <ResultView value={value} label="Result" />;
  return (
    <section className="card side-card" aria-label="Result of the call">
      <header className="side-head">
        <Icon name="braces" small />
        <h2>Result</h2>
      </header>
      <p className="side-body muted">{noResult(call)}</p>
    </section>
  );
}

function noResult({ effect, status, proof }: CallDetail): string {
  if (status === 'routed') return 'No result: the call required approval.';
  return effect === 'read'
    ? `Results of reads are not stored${proof ? '; the audit entry keeps their hash' : ''}.`
    : 'No result, or no longer stored.';
}
