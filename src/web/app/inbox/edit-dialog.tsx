import { useId, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { ApiError, post, toApiError } from '../lib/api.ts';
import { isRecord, type JsonRecord, textAt } from '../lib/json.ts';
import { EditField } from './edit-field.tsx';
import { formFields } from './schema-form.ts';
import type { Item } from './types.ts';

interface Props {
  readonly item: Item;
  onClose(): void;
  onDone(): void;
}

/** Changes the arguments, lets the tool's own checks look at them, then approves. */
export function EditDialog({ item, onClose, onDone }: Props) {
  const fields = formFields(item.input_schema, item.args);
  const [args, setArgs] = useState(item.args);
  const [json, setJson] = useState(() => JSON.stringify(item.args, null, 2));
  const [asJson, setAsJson] = useState(fields === undefined);
  const [fault, setFault] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const formId = useId();

  const edited = (): JsonRecord => {
    if (!asJson) return args;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      throw new ApiError(400, { error: `This is not JSON: ${error instanceof Error ? error.message : ''}` });
    }
    if (!isRecord(value)) throw new ApiError(400, { error: 'The arguments must be one JSON object.' });
    return value;
  };
  const save = async (approve: boolean): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const { version } = await post<{ version: number }>(`/inbox/${item.id}/edit`, { args: edited() });
      if (approve) await post(`/inbox/${item.id}/approve`, { version });
      onDone();
    } catch (error) {
      setFault(toApiError(error));
      setBusy(false);
    }
  };
  const switchView = (): void => {
    if (asJson) {
      try {
        setArgs(edited());
      } catch (error) {
        setFault(toApiError(error));
        return;
      }
    } else setJson(JSON.stringify(args, null, 2));
    setAsJson(!asJson);
  };

  const issues = issuesOf(fault);
  return (
    <Dialog
      wide
      title="Edit, then approve"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={busy} onClick={() => void save(false)}>
            Save and keep waiting
          </Button>
          <Button tone="primary" disabled={busy} type="submit" form={formId}>
            {busy ? 'Saving…' : 'Save and approve'}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save(true);
        }}
      >
        <ErrorNotice error={fault} />
        {asJson || !fields ? (
          <Field label="Arguments as JSON">
            {(attributes) => (
              <textarea
                {...attributes}
                className="mono"
                rows={16}
                spellCheck={false}
                value={json}
                onChange={(event) => setJson(event.target.value)}
              />
            )}
          </Field>
        ) : (
          fields.map((field) => (
            <EditField
              key={field.name}
              field={field}
              isPost={item.toolkit === 'x' && field.name === 'text'}
              value={args[field.name]}
              error={issues.find(({ path }) => path.split(/[.[]/)[0] === field.name)?.message}
              onChange={(value) => {
                const { [field.name]: _old, ...rest } = args;
                setArgs(value === undefined ? rest : { ...rest, [field.name]: value });
              }}
            />
          ))
        )}
        {fields ? (
          <div>
            <button type="button" className="link-button" onClick={switchView}>
              {asJson ? 'Edit in a form' : 'Edit as JSON'}
            </button>
          </div>
        ) : null}
      </form>
    </Dialog>
  );
}

function issuesOf(fault: ApiError | undefined): readonly { path: string; message: string }[] {
  const issues = isRecord(fault?.detail) ? fault.detail.issues : undefined;
  if (!Array.isArray(issues)) return [];
  return issues.map((issue) => ({
    path: textAt(issue, 'path') ?? '',
    message: textAt(issue, 'message') ?? '',
  }));
}
