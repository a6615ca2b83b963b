import type { ComponentType } from 'react';
import { Button, Field } from '../../ui/field.tsx';
import { nameOf } from '../../ui/result-view.tsx';
import type { Json } from '../../ui/session.ts';
import type { FormField } from './edit-dialog.tsx';

interface Props {
  readonly field: FormField;
  readonly value: Json | undefined;
  readonly error: string | undefined;
  /** What the toolkit shows under the control. */
  readonly Below: ComponentType<{ readonly value: Json | undefined }> | undefined;
  /** Undefined leaves the argument out. */
  onChange(value: Json | undefined): void;
}

/** One argument in the control that fits it. */
export function EditField({ field, value, error, Below, onChange }: Props) {
  const label = `${nameOf(field.name)}${field.required ? '' : ' (optional)'}`;
  if (field.kind === 'texts')
    return (
      <TextsField label={label} field={field} value={value} error={error} Below={Below} onChange={onChange} />
    );
  const text = value === undefined || value === null ? '' : String(value);
  const textChanged = (given: string): void => onChange(given === '' && !field.required ? undefined : given);
  return (
    <>
      <Field label={label} hint={field.description} error={error}>
        {(attributes) => {
          switch (field.kind) {
            case 'boolean':
              return (
                <input
                  {...attributes}
                  type="checkbox"
                  checked={value === true}
                  onChange={(event) => onChange(event.target.checked)}
                />
              );
            case 'choice':
              return (
                <select {...attributes} value={text} onChange={(event) => textChanged(event.target.value)}>
                  {field.required ? null : <option value="">not given</option>}
                  {field.choices.map((choice) => (
                    <option key={choice}>{choice}</option>
                  ))}
                </select>
              );
            case 'number':
              return (
                <input
                  {...attributes}
                  type="number"
                  step="any"
                  value={text}
                  onChange={(event) =>
                    onChange(event.target.value === '' ? undefined : Number(event.target.value))
                  }
                />
              );
            case 'long':
              return (
                <textarea
                  {...attributes}
                  rows={4}
                  value={text}
                  onChange={(event) => textChanged(event.target.value)}
                />
              );
            default:
              return (
                <input {...attributes} value={text} onChange={(event) => textChanged(event.target.value)} />
              );
          }
        }}
      </Field>
      {Below ? <Below value={text} /> : null}
    </>
  );
}

function TextsField({ label, field, value, error, Below, onChange }: Props & { readonly label: string }) {
  const texts = Array.isArray(value) ? value.map(String) : [];
  const change = (next: string[]): void => onChange(next.length === 0 && !field.required ? undefined : next);
  return (
    <fieldset className="fieldset">
      <legend>{label}</legend>
      {error ? <p className="field-error">{error}</p> : null}
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts are their places
        <div key={index} className="texts-row">
          <div className="texts-part">
            <textarea
              rows={Below ? 3 : 1}
              aria-label={`${label} ${index + 1}`}
              value={text}
              onChange={(event) => change(texts.with(index, event.target.value))}
            />
            {Below ? <Below value={text} /> : null}
          </div>
          <Button
            small
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() => change(texts.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button small onClick={() => change([...texts, ''])}>
          Add
        </Button>
      </div>
    </fieldset>
  );
}
