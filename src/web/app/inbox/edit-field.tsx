import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import type { Json } from '../lib/json.ts';
import type { FormField } from './schema-form.ts';
import { LengthMeter } from './views/post.tsx';

interface Props {
  readonly field: FormField;
  readonly value: Json | undefined;
  readonly error: string | undefined;
  readonly isPost: boolean;
  /** Undefined leaves the argument out. */
  onChange(value: Json | undefined): void;
}

/** One argument in the control that fits it. */
export function EditField({ field, value, error, isPost, onChange }: Props) {
  const label = `${field.name.replaceAll('_', ' ')}${field.required ? '' : ' (optional)'}`;
  if (field.kind === 'texts')
    return <TextsField label={label} field={field} value={value} error={error} onChange={onChange} />;
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
      {isPost ? <LengthMeter text={text} /> : null}
    </>
  );
}

function TextsField({
  label,
  field,
  value,
  error,
  onChange,
}: Omit<Props, 'isPost'> & { readonly label: string }) {
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
              rows={field.name === 'tweets' ? 3 : 1}
              aria-label={`${label} ${index + 1}`}
              value={text}
              onChange={(event) => change(texts.with(index, event.target.value))}
            />
            {field.name === 'tweets' ? <LengthMeter text={text} /> : null}
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
