import { useId, useState } from 'react';
import type { JsonSchema } from '../../../contract/json.ts';
import type { Item } from '../../../kernel/views/shapes.ts';
import { ApiError, post, toApiError } from '../../ui/api.ts';
import type { ApprovalView } from '../../ui/approval-view.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Button, Field } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { isRecord, type Json, type JsonRecord, textAt } from '../../ui/session.ts';
import { EditField } from './edit-field.tsx';

/** A field of a tool's input that a plain control can edit. */
export interface FormField {
  readonly name: string;
  readonly kind: 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'texts';
  readonly required: boolean;
  readonly description: string;
  readonly choices: readonly string[];
}

const LONG_NAMES = /text|content|body|message|memo|description|reason/;

/** The fields of a form for this schema; undefined when something in it needs the JSON editor. */
function formFields(schema: JsonSchema, args: JsonRecord): readonly FormField[] | undefined {
  if (!isRecord(schema.properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: FormField[] = [];
  for (const [name, property] of Object.entries(schema.properties)) {
    const kind = isRecord(property) ? kindOf(name, property, args[name]) : undefined;
    if (!isRecord(property) || !kind) {
      // What is not given need not be editable.
      if (args[name] === undefined) continue;
      return undefined;
    }
    fields.push({
      name,
      kind,
      required: required.includes(name),
      description: typeof property.description === 'string' ? property.description : '',
      choices: Array.isArray(property.enum) ? property.enum.map(String) : [],
    });
  }
  return Object.keys(args).every((name) => fields.some((field) => field.name === name)) ? fields : undefined;
}

function kindOf(name: string, property: JsonRecord, value: Json | undefined): FormField['kind'] | undefined {
  if (Array.isArray(property.enum) && property.enum.every((one) => typeof one === 'string')) return 'choice';
  switch (property.type) {
    case 'string':
      return LONG_NAMES.test(name) || (typeof value === 'string' && value.length > 80) ? 'long' : 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return isRecord(property.items) && property.items.type === 'string' ? 'texts' : undefined;
    default:
      return undefined;
  }
}

interface Props {
  readonly item: Item;
  readonly view: ApprovalView;
  onClose(): void;
  /** It is stored as this version; with `approve` the person has decided on it as well. */
  onSaved(version: number, approve: boolean): void;
}

/** Changes the arguments, lets the tool's own checks look at them, then approves. */
export function EditDialog({ item, view, onClose, onSaved }: Props) {
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
      throw new ApiError(400, { error: `Invalid JSON: ${error instanceof Error ? error.message : ''}` });
    }
    if (!isRecord(value)) throw new ApiError(400, { error: 'Arguments must be a JSON object.' });
    return value;
  };
  const save = async (approve: boolean): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const { version } = await post(`/inbox/${item.id}/edit`, { args: edited() });
      onSaved(version, approve);
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
      deliberate
      title="Edit arguments"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={busy} onClick={() => void save(false)}>
            Save without approving
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
              Below={view.below?.(field.name)}
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
