import { type FormEvent, useState } from 'react';
import { lookup } from '../../../lib/lookup.ts';
import type { ToolResult } from '../../routes/shapes.ts';
import { type ApiError, callTool, toApiError } from '../../ui/api.ts';
import { Button, Field } from '../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { ResultView } from '../../ui/result-view.tsx';
import type { JsonRecord } from '../../ui/session.ts';
import { argumentsFrom, type FormField, fieldsOf } from './schema-form.ts';
import type { ServerTool } from './server.tsx';

/** Calls a tool with a form made from its schema. The call takes the same path as an agent's: policy decides. */
export function TryTool({ tool }: { readonly tool: ServerTool }) {
  const fields = fieldsOf(tool.input_schema);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [error, setError] = useState<ApiError>();
  const [result, setResult] = useState<ToolResult>();
  const [running, setRunning] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const made = argumentsFrom(fields, values);
    setProblems(made.problems);
    setError(undefined);
    setResult(undefined);
    if (Object.keys(made.problems).length > 0) return;
    setRunning(true);
    try {
      setResult(await callTool(tool.name, made.args as JsonRecord));
    } catch (fault) {
      setError(toApiError(fault));
    } finally {
      setRunning(false);
    }
  };
  return (
    <form className="server-form" aria-label={`Try ${tool.tool}`} onSubmit={(event) => void submit(event)}>
      {fields.map((field) => (
        <Field
          key={field.name}
          label={field.required ? `${field.name} (required)` : field.name}
          hint={field.description || undefined}
          error={lookup(problems, field.name)}
        >
          {(attributes) => (
            <Control
              attributes={attributes}
              field={field}
              value={lookup(values, field.name) ?? ''}
              onChange={(value) => setValues({ ...values, [field.name]: value })}
            />
          )}
        </Field>
      ))}
      <Button type="submit" tone={tool.effect === 'destroy' ? 'danger' : 'primary'} disabled={running}>
        {running ? 'Running…' : `Run ${tool.tool}`}
      </Button>
      <ErrorNotice error={error} />
      {result ? <Result result={result} /> : null}
    </form>
  );
}

function Result({ result }: { readonly result: ToolResult }) {
  const isOk = result.status === 'ok';
  const said = result.message ?? result.reason;
  return (
    <section className="stack" aria-label="Result" aria-live="polite">
      <Notice tone={isOk ? 'good' : 'warn'}>
        <p>
          {isOk ? 'The call succeeded.' : `The call was ${result.status}.`} {said}
        </p>
      </Notice>
      {result.data === undefined ? null : <ResultView value={result.data} />}
    </section>
  );
}

interface ControlProps {
  readonly attributes: { id: string };
  readonly field: FormField;
  readonly value: string;
  onChange(value: string): void;
}

function Control({ attributes, field, value, onChange }: ControlProps) {
  if (field.options)
    return (
      <select {...attributes} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">not set</option>
        {field.options.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    );
  if (field.kind === 'json')
    return (
      <textarea {...attributes} rows={4} value={value} onChange={({ target }) => onChange(target.value)} />
    );
  return (
    <input
      {...attributes}
      type={field.kind === 'number' ? 'number' : 'text'}
      step="any"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
