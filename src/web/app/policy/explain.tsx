import { type FormEvent, useState } from 'react';
import type { ExplainData, Rule } from '../../../kernel/views/policy-shapes.ts';
import { type ApiError, post, toApiError, useQuery } from '../../ui/api.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button, Field } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { isRecord, type JsonRecord } from '../../ui/session.ts';
import { ACTION_WORDS } from './actions.ts';

interface Asked {
  readonly tool: string;
  readonly args: JsonRecord;
}

/** A call as clients and logs write it: `{"name": …, "arguments": …}`, a name with JSON behind it, or a name alone. */
function readCall(text: string): Asked | string {
  const plain = text.trim();
  const [, name, rest = ''] = /^([\w.-]+)\s*(\{.*\})?$/su.exec(plain) ?? [];
  try {
    if (name !== undefined) {
      const args: unknown = rest === '' ? {} : JSON.parse(rest);
      return isRecord(args) ? { tool: name, args } : 'The arguments must be an object.';
    }
    const whole: unknown = JSON.parse(plain);
    const inner = isRecord(whole) && isRecord(whole.params) ? whole.params : whole;
    if (!isRecord(inner)) return 'Paste an object such as {"name": "get_note", "arguments": {…}}.';
    const tool = inner.name ?? inner.tool;
    const args = inner.arguments ?? inner.args ?? {};
    if (typeof tool !== 'string') return 'The object has no "name" of a tool.';
    return isRecord(args) ? { tool, args } : 'The arguments must be an object.';
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** Pasted calls, decided as the kernel would decide them now, or as it would with a draft rule. */
export function Explain({ rule }: { readonly rule?: Rule }) {
  const [principal, setPrincipal] = useState('agent:local');
  const [text, setText] = useState('');
  const [result, setResult] = useState<ExplainData>();
  const [problem, setProblem] = useState<ApiError | string>();
  const agents = useQuery('/agents/overview').data?.agents ?? [];
  const explain = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setResult(undefined);
    const call = readCall(text);
    if (typeof call === 'string') return setProblem(call);
    try {
      const body = { ...call, principal, ...(rule ? { rule: { ...rule, id: rule.id || 'draft' } } : {}) };
      setResult(await post('/policy/explain', body));
      setProblem(undefined);
    } catch (error) {
      setProblem(toApiError(error));
    }
  };
  const names = ['agent:local', ...agents.map((one) => one.principal).filter((one) => one !== 'agent:local')];
  return (
    <form className="stack" aria-label="Explain a call" onSubmit={(event) => void explain(event)}>
      <Field label="Made by">
        {(attributes) => (
          <select {...attributes} value={principal} onChange={({ target }) => setPrincipal(target.value)}>
            {[...names, 'system:scheduler'].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Call"
        hint='A tool with its arguments, such as get_note {"name": "plan"}, or the JSON of a call as a client sends it.'
        error={typeof problem === 'string' ? problem : undefined}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            className="mono"
            rows={3}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      <div>
        <Button type="submit">Explain</Button>
      </div>
      {typeof problem === 'object' ? <ErrorNotice error={problem} /> : null}
      <div role="status">{result ? <Result result={result} /> : null}</div>
    </form>
  );
}

const Result = ({ result }: { readonly result: ExplainData }) => (
  <div className="stack">
    <p>
      <StateBadge state={result.action} /> <strong>{result.tool}</strong>: {ACTION_WORDS[result.action]} by{' '}
      <code>{result.rule}</code>. {result.reason}
    </p>
    <ul className="explain-rules">
      {result.considered.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the rules is their identity
        <li key={index} className={one.applied ? undefined : 'muted'}>
          <span aria-hidden="true">{one.applied ? '✓' : '·'}</span> <code>{one.rule}</code> ({one.action}):{' '}
          {one.why}
        </li>
      ))}
    </ul>
  </div>
);
