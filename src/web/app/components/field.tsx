import { type ReactNode, useId } from 'react';

interface Props {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Gets the attributes that tie the control to its label, hint and error. */
  children(attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }): ReactNode;
}

export function Field({ label, hint, error, children }: Props) {
  const id = useId();
  const described = hint || error ? { 'aria-describedby': `${id}-note` } : {};
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...described, ...(error ? { 'aria-invalid': true } : {}) })}
      {hint || error ? (
        <p id={`${id}-note`} className={error ? 'field-error' : 'field-hint'}>
          {error ?? hint}
        </p>
      ) : null}
    </div>
  );
}
