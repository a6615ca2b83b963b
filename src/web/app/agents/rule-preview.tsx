import { useEffect, useState } from 'react';
import { ErrorNotice, Notice } from '../components/notice.tsx';
import { type ApiError, post, toApiError } from '../lib/api.ts';
import type { Rule } from './types.ts';

const TYPING_MS = 350;

interface PreviewData {
  readonly stopped: readonly { callId: string; tool: string; before: string; after: string }[];
  readonly loosened: readonly { callId: string; tool: string; before: string; after: string }[];
  readonly unknown: readonly string[];
  readonly looked_at: number;
}

/** What the rule would have done to the last hundred calls, while it is written. */
export function RulePreview({ rule }: { readonly rule: Rule }) {
  const [data, setData] = useState<PreviewData>();
  const [problem, setProblem] = useState<ApiError>();
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      // An unnamed rule can be tried already.
      const body = { rule: { ...rule, id: rule.id || 'preview' } };
      post<PreviewData>('/policy/preview', body).then(
        (reply) => {
          if (!current) return;
          setData(reply);
          setProblem(undefined);
        },
        (error: unknown) => {
          if (current) setProblem(toApiError(error));
        },
      );
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [rule]);
  if (problem) return <ErrorNotice error={problem} />;
  if (!data) return null;
  const { stopped, loosened, unknown, looked_at: seen } = data;
  return (
    <div role="status">
      <Notice tone={loosened.length > 0 ? 'warn' : 'info'}>
        <div className="stack">
          <p>
            Of the last {seen} calls this rule would have stopped <strong>{stopped.length}</strong>
            {loosened.length > 0 ? (
              <>
                {' '}
                and let through <strong>{loosened.length}</strong> that wait or are refused today
              </>
            ) : null}
            {unknown.length > 0 ? `; of ${unknown.length} the arguments are no longer kept` : ''}.
          </p>
          {stopped.length + loosened.length > 0 ? (
            <ul className="rule-changes">
              {summed([...stopped, ...loosened]).map(([what, times]) => (
                <li key={what}>
                  <span className="mono">{what}</span>
                  {times > 1 ? ` ${times} times` : ''}
                </li>
              ))}
            </ul>
          ) : null}
        </div>
      </Notice>
    </div>
  );
}

/** Equal changes counted, the most frequent first. */
function summed(changes: PreviewData['stopped']): readonly [string, number][] {
  const times = new Map<string, number>();
  for (const { tool, before, after } of changes) {
    const what = `${tool}: ${before} → ${after}`;
    times.set(what, (times.get(what) ?? 0) + 1);
  }
  return [...times].sort(([, a], [, b]) => b - a).slice(0, 5);
}
